import { pkiRoleResource, type PkiRoleSpec } from "@chancery/engine/declared"
import { z } from "zod"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { manifestMembers } from "./manifest-members.ts"
import { immutable, type Rule, ruled } from "./rules.ts"
import { mountPath, roleName } from "./descriptions.ts"

const { mount: _mount, name: _name, ...ruleMembers } = pkiRoleResource.members
/** Absent rules are not managed. */
const rules = manifestMembers(ruleMembers)

const members = z
  .object({
    connectionRef: connectionRef.describe("The connection to the engine that the role is in."),
    mount: mountPath,
    name: roleName.optional().describe("The role's name in the engine; that of the object unless given."),
    adoptionPolicy: z
      .enum(["Never", "IfExists", "MustExist"])
      .default("Never")
      .describe("Whether a role of this name that is there already, and says something else, is taken over."),
    driftPolicy: z
      .enum(["Enforce", "Report"])
      .default("Enforce")
      .describe("Whether what differs in the engine is put right, or only told of in status.drift."),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe("What becomes of the role when the object is deleted."),
    ...rules,
  })
  .describe("What certificates of the role may say.")

export type CertificateRoleSpec = z.output<typeof members> & Omit<PkiRoleSpec, "mount" | "name">

const leaseNeedsStore: Rule<CertificateRoleSpec> = {
  rule: "!(has(self.generateLease) && self.generateLease && has(self.noStore) && self.noStore)",
  message: "generateLease has no effect with noStore; leave one of them out",
  fieldPath: ".generateLease",
  holds: ({ generateLease, noStore }) => !(generateLease === true && noStore === true),
}

const status = {
  id: z.string().max(512).optional().describe("The role's place in the engine: MOUNT/roles/NAME."),
  name: z.string().max(253).optional().describe("The role's name in the engine."),
  drift: z
    .array(
      z.object({
        field: z.string().max(64).describe("What differs."),
        desired: z.string().max(4_096).optional().describe("What the spec says, as JSON."),
        observed: z.string().max(4_096).optional().describe("What the engine has, as JSON."),
      }),
    )
    .max(100)
    .optional()
    .describe("What differs in the engine, where that is only told of.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["field"] }),
}

export const certificateRole: Kind<CertificateRoleSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "CertificateRole",
  plural: "certificateroles",
  singular: "certificaterole",
  shortNames: ["ecrole"],
  scope: "Namespaced",
  description: "CertificateRole is a role of a certificate authority: what certificates issued under it may say.",
  spec: ruled(
    members as unknown as z.ZodType<CertificateRoleSpec>,
    ...immutable<CertificateRoleSpec>("connectionRef", "mount", "name"),
    leaseNeedsStore,
  ),
  status,
  synced: true,
  columns: [
    { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "The authority's mount." },
    {
      name: "Role",
      type: "string",
      jsonPath: ".status.name",
      description: "The role's name in the engine.",
      priority: 1,
    },
  ],
  selectable: [".spec.connectionRef.name", ".spec.mount"],
}

/** Members of the spec that are rules of the role, by their names in the engine. */
export const ruleNames = Object.keys(rules) as readonly Exclude<keyof PkiRoleSpec, "mount" | "name">[]
