import { pkiRoleResource, type PkiRoleSpec } from "@chancery/engine/declared"
import { z } from "zod"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { manifestMembers } from "./manifest-members.ts"
import { driftPolicy, driftStatus } from "./policies.ts"
import { immutable, type Rule, ruled } from "./rules.ts"
import { mountPath, roleName } from "./descriptions.ts"

const { mount: _mount, name: _name, ...ruleMembers } = pkiRoleResource.members
/** Absent rules are not managed. */
const rules = manifestMembers(ruleMembers)

const members = z
  .object({
    connectionRef: connectionRef.describe("Connection to the engine of the role. Immutable."),
    mount: mountPath,
    name: roleName.optional().describe("Name of the role in the engine. Default: the name of the object. Immutable."),
    adoptionPolicy: z
      .enum(["Never", "IfExists", "MustExist"])
      .default("Never")
      .describe(
        "Behavior if the engine has a different role of this name. Never: the object stalls with NameTaken. IfExists: the role is taken over. MustExist: the role is taken over, and never created. Default: Never.",
      ),
    driftPolicy: driftPolicy("role"),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe(
        "Behavior at deletion of the object. Delete: the role is deleted. Retain: the role stays in the engine. Default: Delete.",
      ),
    ...rules,
  })
  .describe("Settings of the role. Settings that are omitted are not managed.")

export type CertificateRoleSpec = z.output<typeof members> & Omit<PkiRoleSpec, "mount" | "name">

const leaseNeedsStore: Rule<CertificateRoleSpec> = {
  rule: "!(has(self.generateLease) && self.generateLease && has(self.noStore) && self.noStore)",
  message: "generateLease has no effect with noStore; leave one of them out",
  fieldPath: ".generateLease",
  holds: ({ generateLease, noStore }) => !(generateLease === true && noStore === true),
}

const status = {
  id: z.string().max(512).optional().describe("Id of the role in the engine: MOUNT/roles/NAME."),
  name: z.string().max(253).optional().describe("Name of the role in the engine."),
  drift: driftStatus,
}

export const certificateRole: Kind<CertificateRoleSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "CertificateRole",
  plural: "certificateroles",
  singular: "certificaterole",
  shortNames: ["ecrole"],
  scope: "Namespaced",
  description:
    "CertificateRole is a role of a certificate authority. It determines the content of certificates that are issued under it.",
  spec: ruled(
    members as unknown as z.ZodType<CertificateRoleSpec>,
    ...immutable<CertificateRoleSpec>("connectionRef", "mount", "name"),
    leaseNeedsStore,
  ),
  status,
  synced: true,
  columns: [
    { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "Mount of the certificate authority." },
    {
      name: "Role",
      type: "string",
      jsonPath: ".status.name",
      description: "Name of the role in the engine.",
      priority: 1,
    },
  ],
  selectable: [".spec.connectionRef.name", ".spec.mount"],
}

/** Members of the spec that are rules of the role, by their names in the engine. */
export const ruleNames = Object.keys(rules) as readonly Exclude<keyof PkiRoleSpec, "mount" | "name">[]
