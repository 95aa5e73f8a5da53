// Members of the settings of EST, which programs and manifests declare alike.
import { z } from "zod"
import { estSettings } from "../contracts/vault/est.ts"
import type { Fault } from "../core/errors.ts"
import {
  defaultEstSettings,
  estAuditFields,
  type EstAuthenticators,
  type EstSettings,
  estSettingsFaults,
  parsePathPolicy,
} from "../pki/est/est-settings.ts"
import { roleDefaults } from "../pki/roles/role.ts"
import { contractMembers } from "./contract-members.ts"
import { declaredFaults } from "./pki-values.ts"
import { sameJson } from "./same-value.ts"
import {
  boundedText,
  boundedTextMap,
  filledText,
  listOf,
  type MemberType,
  objectOf,
  oneOf,
  text,
  texts,
} from "./types.ts"

const kinds = {
  userpass: "Auth method of type `userpass`, for user names and passwords.",
  cert: "Auth method of type `cert`, for TLS client certificates.",
} as const
const accessorRule = "Accessor of the auth method."
const roleRule = "Role of the auth method that the certificate must match. Default: any role."

const inPrograms = objectOf({
  userpass: objectOf({ accessor: filledText.schema.describe(accessorRule) })
    .meta({ title: "EstUserpass", description: kinds.userpass })
    .optional()
    .describe(kinds.userpass),
  cert: objectOf({
    accessor: filledText.schema.describe(accessorRule),
    certRole: text.schema.optional().describe(roleRule),
  })
    .meta({ title: "EstCert", description: kinds.cert })
    .optional()
    .describe(kinds.cert),
}).meta({
  title: "EstAuthenticators",
  description: "Auth methods that verify the clients of EST, by kind of credentials.",
})

/** Auth methods that verify clients, as declared. An absent kind of credentials is disabled. */
export type DeclaredEstAuthenticators = z.infer<typeof inPrograms>

const plain = (rule: string): string => rule.replaceAll("`", "")
const accessor = z.string().min(1).max(256).describe(accessorRule)
const inManifests = z.object({
  userpass: z.object({ accessor }).optional().describe(plain(kinds.userpass)),
  cert: z
    .object({ accessor, certRole: z.string().max(256).optional().describe(roleRule) })
    .optional()
    .describe(plain(kinds.cert)),
})

const toEngine = ({ userpass, cert }: DeclaredEstAuthenticators): EstAuthenticators => ({
  userpass: { accessor: userpass?.accessor ?? "" },
  cert: { accessor: cert?.accessor ?? "", role: cert?.certRole ?? "" },
})

const fromEngine = ({ userpass, cert }: EstAuthenticators): DeclaredEstAuthenticators => ({
  ...(userpass.accessor === "" ? {} : { userpass: { accessor: userpass.accessor } }),
  ...(cert.accessor === ""
    ? {}
    : { cert: { accessor: cert.accessor, ...(cert.role === "" ? {} : { certRole: cert.role }) } }),
})

const authenticators = {
  schema: inPrograms,
  manifest: inManifests,
  label: "object with `userpass` (`accessor`) and `cert` (`accessor`, `certRole`)",
  same: (a, b) => sameJson(toEngine(a ?? {}), toEngine(b ?? {})),
  toEngine,
  fromEngine: (value) => fromEngine(value as EstAuthenticators),
} satisfies MemberType<DeclaredEstAuthenticators>

const auditField = oneOf(...estAuditFields).schema
const maxPolicyText = 256

export const estMembers = contractMembers(estSettings.members, {
  renamed: {},
  types: {
    defaultPathPolicy: boundedText(maxPolicyText),
    labelToPathPolicy: boundedTextMap(100, maxPolicyText),
    authenticators,
    // The audit log can do without any field.
    auditFields: { ...listOf(auditField), manifest: z.array(auditField).max(estAuditFields.length) },
    manualApproval: texts(maxPolicyText, { maximum: 100 }),
  },
  defaults: defaultEstSettings,
})

/** Returns faults of declared settings, with declared names. Roles and auth methods that they name are assumed to exist. */
export function declaredEstFaults(spec: object): readonly Fault[] {
  const settings = { ...defaultEstSettings, ...estMembers.toEngine(spec) } as EstSettings
  const policies = [settings.defaultPathPolicy, ...Object.values(settings.labelToPathPolicy)].map(parsePathPolicy)
  const roles = policies.flatMap((policy) => (policy?.kind === "role" ? [policy.role] : []))
  const { authenticators: unchecked } = defaultEstSettings
  return declaredFaults(
    estSettingsFaults(
      { ...settings, authenticators: unchecked },
      {
        mountPath: "",
        roles: new Map(roles.map((name) => [name, roleDefaults])),
        delegatedAuthAccessors: [],
        typeOf: () => undefined,
      },
    ),
    estMembers.nameOf,
  )
}
