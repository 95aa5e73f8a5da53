import {
  changeCertificateRole,
  type CertificateRole,
  initialCertificateRole,
} from "../access/certificates/certificate-role.ts"
import type { TokenTerms } from "../access/logins/token-terms.ts"
import { certificateRole as parameters } from "../contracts/vault/certificate-login.ts"
import { conflict, type Fault, invalid, isEngineError, rejectFaults } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { roleNameFaults } from "../pki/roles/role.ts"
import { contractMembers, type DeclaredOf, type NameOf } from "./contract-members.ts"
import type { Changes, Created, DeclaredResource, Definition, Origin } from "./declared-resource.ts"
import { diffMembers, type Members, required, validator, withDefaults } from "./members.ts"
import { sameJson, sameText, type SameValue } from "./same-value.ts"
import {
  authMethodMember,
  authMethodMemberFaults,
  type DeclaredTokenTerms,
  sameFoldedName,
  tokenTermFaults,
  tokenTermNames,
  tokenTermTypes,
  withoutZeros,
} from "./token-terms.ts"
import { duration, filledText, type MemberType, text } from "./types.ts"

const renamed = { ...tokenTermNames, ocspThisUpdateMaxAgeMs: "ocspThisUpdateMaxAge" } as const

/** Line ends and spaces have no meaning in PEM. */
const samePem: SameValue = (a, b) => sameText(withoutSpaces(a), withoutSpaces(b))
const withoutSpaces = (pem: unknown): unknown => (typeof pem === "string" ? pem.replaceAll(/\s+/g, "") : pem)

const pem: MemberType<string> = { ...text, same: samePem }

const rules = contractMembers(parameters.members, {
  renamed,
  types: { ...tokenTermTypes, certificate: pem, ocspCaCertificates: pem, ocspThisUpdateMaxAgeMs: duration },
  defaults: initialCertificateRole,
})
const { certificate, ...optional } = withoutZeros(rules.members)

const members: Members = {
  authMethod: authMethodMember,
  name: required(text, "Name of the role, in lower case.", {
    same: sameFoldedName,
    providedBy: "name",
    forcesReplacement: true,
  }),
  certificate: required({ ...filledText, same: samePem }, certificate?.description ?? ""),
  ...optional,
}

interface RolePlace {
  readonly authMethod: string
  readonly name: string
}

/** Every rule in force, and the terms of tokens. */
export type ObservedCertificateAuthRole = {
  readonly [Field in Exclude<keyof CertificateRole, keyof TokenTerms> as NameOf<Field, typeof renamed>]: DeclaredOf<
    Field,
    CertificateRole[Field]
  >
} & DeclaredTokenTerms &
  RolePlace
/** Declared members of a role. Durations are strings such as `1h`. */
export type CertificateAuthRoleSpec = {
  readonly [Name in keyof ObservedCertificateAuthRole]?: ObservedCertificateAuthRole[Name] | undefined
} & RolePlace & { readonly certificate: string }

/** The id is `PATH/certs/NAME`. */
export const certificateAuthRoleResource: DeclaredResource<CertificateAuthRoleSpec, ObservedCertificateAuthRole> &
  Definition = {
  name: "certificateAuthRole",
  description:
    "A role of an auth method of type `cert`: certificates that may log in, and the terms of their tokens. Its id is `PATH/certs/NAME`, with the path of the method.",
  argsDescription:
    "Rules for logins with client certificates, and the terms of tokens. A member that the program never declared is not managed. A member removed from the program returns to its default. Durations are strings: `10m`, `24h`.",
  outputsDescription: "Outputs of a role: every rule in force.",
  members,
  outputs: {},
  adoption: "an existing role of this name",
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff,
  observe: async (engine, id) => found(engine, placeOf(id)),
  create,
  update,
  delete: remove,
}

const validate = validator<CertificateAuthRoleSpec>(members, ({ authMethod, name, ...known }) => [
  ...(authMethod === undefined ? [] : authMethodMemberFaults("authMethod", authMethod)),
  ...tokenTermFaults(
    [...(name === undefined ? [] : roleNameFaults(name)), ...ruleFaults(rules.toEngine(known))],
    (inside) => rules.nameOf(inside) ?? (inside in members ? inside : undefined),
  ),
])

function ruleFaults(input: Partial<CertificateRole>): readonly Fault[] {
  try {
    changeCertificateRole(undefined, "", input)
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults
    throw error
  }
}

/** An empty display name is that of the role, as the engine stores it. */
const named = (spec: CertificateAuthRoleSpec): CertificateAuthRoleSpec =>
  spec.displayName === "" ? { ...spec, displayName: spec.name.toLowerCase() } : spec

function diff(
  spec: CertificateAuthRoleSpec,
  observed: ObservedCertificateAuthRole,
  dropped: readonly string[] = [],
): Changes {
  return diffMembers(members, named(withDefaults(members, spec, dropped)), observed)
}

async function create(
  engine: Engine,
  spec: CertificateAuthRoleSpec,
  { adopt }: Origin,
): Promise<Created<ObservedCertificateAuthRole>> {
  rejectFaults(validate({ ...spec }))
  const place = placeIn(spec)
  const id = idOf(place)
  const input = rules.toEngine(spec)
  const present = await found(engine, place)
  if (present === undefined) {
    await rolesOf(engine, place).saveRole(place.name, input)
    return { id, observed: await read(engine, place), adopted: false }
  }
  // A role that equals the declared one may come from a lost answer.
  const wanted = observedCertificateAuthRole(place, changeCertificateRole(undefined, place.name, input))
  if (sameJson(present, wanted)) return { id, observed: present, adopted: false }
  if (!adopt) throw conflict(`role "${place.name}" of ${place.authMethod} already exists with different settings`)
  return { id, observed: await update(engine, id, spec, present), adopted: true }
}

async function update(
  engine: Engine,
  id: string,
  spec: CertificateAuthRoleSpec,
  observed: ObservedCertificateAuthRole,
  dropped: readonly string[] = [],
): Promise<ObservedCertificateAuthRole> {
  rejectFaults(validate({ ...spec }))
  const wanted = withDefaults(members, spec, dropped)
  const changed: readonly string[] = diff(spec, observed, dropped).changed
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, wanted[name as keyof CertificateAuthRoleSpec]]))
  const place = placeOf(id)
  await rolesOf(engine, place).saveRole(place.name, rules.toEngine(sent))
  return read(engine, place)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const place = placeOf(id)
  try {
    await rolesOf(engine, place).deleteRole(place.name)
  } catch (error) {
    // The auth method and its roles no longer exist.
    if (!isEngineError(error, "not-found")) throw error
  }
}

const rolesOf = (engine: Engine, { authMethod }: RolePlace) => engine.certificateLogins(authMethod)

/** Returns a role under declared names. */
const observedCertificateAuthRole = (place: RolePlace, role: CertificateRole): ObservedCertificateAuthRole =>
  ({ ...place, ...rules.fromEngine(role) }) as unknown as ObservedCertificateAuthRole

const placeIn = ({ authMethod, name }: RolePlace): RolePlace => ({
  authMethod: mountPathOf(authMethod),
  name: name.toLowerCase(),
})

const idOf = ({ authMethod, name }: RolePlace): string => `${authMethod}/certs/${name}`

function placeOf(id: string): RolePlace {
  const [, authMethod, name] = /^(.+)\/certs\/([^/]+)$/.exec(id) ?? []
  if (authMethod === undefined || name === undefined)
    throw invalid([{ field: ["id"], detail: `id of a role must be PATH/certs/NAME, not "${id}"` }])
  return placeIn({ authMethod, name })
}

const read = async (engine: Engine, place: RolePlace): Promise<ObservedCertificateAuthRole> =>
  observedCertificateAuthRole(place, await rolesOf(engine, place).getRole(place.name))

async function found(engine: Engine, place: RolePlace): Promise<ObservedCertificateAuthRole | undefined> {
  try {
    return await read(engine, place)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
