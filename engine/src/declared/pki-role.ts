import { role as parameters } from "../contracts/vault/role.ts"
import { conflict, type Fault, invalid, isEngineError } from "../core/errors.ts"
import { formatInstant, type Instant, parseInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { type RoleKeyType, resolveKeyBits, resolveSignatureBits } from "../pki/policy/key-strength.ts"
import {
  createRole,
  type PolicyIdentifier,
  type Role,
  roleDefaults,
  type RoleInput,
  roleNameFaults,
} from "../pki/roles/role.ts"
import { z } from "zod"
import { contractMembers, type DeclaredOf, type NameOf } from "./contract-members.ts"
import type { Changes, Created, DeclaredResource, Definition, Origin } from "./declared-resource.ts"
import { diffMembers, type Members, required, validator, withDefaults } from "./members.ts"
import { declaredFaults, mountMember, mountMemberFaults } from "./pki-values.ts"
import { sameInstant, sameJson, sameSet, type SameValue } from "./same-value.ts"
import {
  choices,
  filledText,
  integerBetween,
  listOf,
  type MemberType,
  objectOf,
  oneOf,
  orderedTexts,
  text,
  texts,
  textOr,
} from "./types.ts"

/** Lists have plural names in declarations. */
const renamed = {
  ttlMs: "ttl",
  maxTtlMs: "maxTtl",
  notBeforeDurationMs: "notBeforeDuration",
  keyUsage: "keyUsages",
  extKeyUsage: "extKeyUsages",
  ou: "organizationalUnits",
  organization: "organizations",
  country: "countries",
  locality: "localities",
  province: "provinces",
  streetAddress: "streetAddresses",
  postalCode: "postalCodes",
} as const

const policySchema = objectOf({
  oid: text.schema.describe("Object identifier of the policy, such as `1.3.6.1.4.1.44947.1.1.1`."),
  notice: text.schema
    .optional()
    .describe("User notice in the certificate policies of the certificate (RFC 5280), at most 200 characters."),
  cps: text.schema.optional().describe("URI of the certification practice statement."),
}).meta({
  title: "PolicyIdentifier",
  description: "A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4).",
})

const policyInManifests = z.object({
  oid: z.string().min(3).max(128).describe("Object identifier of the policy."),
  notice: z
    .string()
    .max(1_024)
    .optional()
    .describe("User notice in the certificate policies of the certificate (RFC 5280)."),
  cps: z.string().max(1_024).optional().describe("URI of the certification practice statement."),
})

const sameNames: SameValue = (a, b) => sameSet(lowerCased(a), lowerCased(b))
const lowerCased = (names: unknown): unknown =>
  Array.isArray(names) ? names.map((name) => String(name).toLowerCase()) : names
const samePolicies: SameValue = (a, b) => sameSet(policyTexts(a), policyTexts(b))
const policyTexts = (policies: unknown): unknown =>
  (policies as readonly (string | PolicyIdentifier)[])
    .map(wholePolicy)
    .map(({ oid, notice = "", cps = "" }) => JSON.stringify([oid, notice, cps]))

/** A keyword or an instant. */
const bound: MemberType<string> = {
  ...text,
  same: sameInstant,
  manifest: z.string().min(1).max(64),
  toEngine: (value) => parseInstant(value) ?? value,
  fromEngine: (value: string | Instant) => (typeof value === "number" ? formatInstant(value) : value),
}

/**
 * Types with more bounds than those of the contract. Other parameters have the type of the contract, so that a new boolean needs no line.
 * The attributes of a subject are ordered.
 */
const types = {
  notBeforeBound: bound,
  notAfterBound: bound,
  allowedDomains: texts(253),
  allowedIpSansCidr: texts(64),
  allowedUriSans: texts(512),
  allowedOtherSans: texts(512),
  allowedSerialNumbers: texts(64),
  allowedUserIds: texts(256),
  keyUsage: texts(64, { same: sameNames }),
  extKeyUsage: texts(64, { same: sameNames }),
  extKeyUsageOids: texts(128),
  keyType: oneOf("rsa", "ec", "ed25519", "any"),
  keyBits: integerBetween(0, 16_384),
  signatureBits: integerBetween(0, 512),
  allowedRsaExponents: listOf(integerBetween(3, 2_147_483_647).schema, {
    minimum: 1,
    maximum: 100,
    manifestItem: z.int().min(3).max(2_147_483_647),
    listType: undefined,
  }),
  serialNumberSource: oneOf("json", "json-csr"),
  cnValidations: choices("email", "hostname", "disabled"),
  ou: orderedTexts(64),
  organization: orderedTexts(64),
  country: orderedTexts(2),
  locality: orderedTexts(128),
  province: orderedTexts(128),
  streetAddress: orderedTexts(128),
  postalCode: orderedTexts(40),
  policyIdentifiers: listOf(textOr(policySchema), {
    maximum: 20,
    same: samePolicies,
    manifestItem: policyInManifests,
    listType: { keys: ["oid"] },
    toEngine: (policies) => policies.map(wholePolicy),
  }),
  issuerRef: { ...filledText, manifest: z.string().min(1).max(128) },
}

const rules = contractMembers(parameters.members, { renamed, types, defaults: roleDefaults })
const members: Members = {
  mount: mountMember,
  name: required(text, "Name of the role.", { providedBy: "name", forcesReplacement: true }),
  ...rules.members,
}

/** Every rule in force. */
export type ObservedPkiRole = {
  readonly [Field in keyof Role as NameOf<Field, typeof renamed>]: DeclaredOf<Field, Role[Field]>
} & RolePlace
/** Declared members of a role. Durations are strings such as `720h`, instants ISO 8601. */
export type PkiRoleSpec = { readonly [Name in keyof ObservedPkiRole]?: ObservedPkiRole[Name] | undefined } & RolePlace

const validate = validator<PkiRoleSpec>(members, ({ mount, name, ...known }, unchecked) => [
  ...(mount === undefined ? [] : mountMemberFaults("mount", mount)),
  ...(name === undefined ? [] : declaredFaults(roleNameFaults(name), (field) => field)),
  ...declaredFaults(ruleFaults(rules.toEngine(known)), rules.nameOf).filter(
    // A key size cannot be checked without the key type.
    ({ field }) => field?.[0] !== "keyBits" || !unchecked.has("keyType"),
  ),
  ...(known.generateLease === true && known.noStore === true
    ? [{ field: ["generateLease"], detail: "generateLease has no effect with noStore; leave one of them out" }]
    : []),
])

export const pkiRoleResource: DeclaredResource<PkiRoleSpec, ObservedPkiRole> & Definition = {
  name: "pkiRole",
  description: "A role of a mount. Its id is `MOUNT/roles/NAME`.",
  argsDescription:
    "Rules by which a mount issues certificates. A member that the program never declared is not managed and may be changed elsewhere. A member removed from the program returns to its default. Durations are strings: `30m`, `720h`, `90d`.",
  outputsDescription: "Outputs of a role: every rule in force.",
  members,
  outputs: {},
  adoption: "an existing role of this name",
  memberNames: Object.keys(members),
  validate,
  diff,
  observe: (engine, id) => found(engine, placeOf(id)),
  create,
  update,
  delete: remove,
}

/** Returns a role with its mount and name under declared member names. */
export const observedPkiRole = ({ mount, name }: RolePlace, role: Role): ObservedPkiRole =>
  ({ mount, name, ...rules.fromEngine(role) }) as unknown as ObservedPkiRole

function ruleFaults(input: RoleInput): readonly Fault[] {
  try {
    createRole(input)
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults
    throw error
  }
}

/** Checks members whose values were unknown at the first check. */
function refuse(spec: PkiRoleSpec): void {
  const faults = validate({ ...spec })
  if (faults.length > 0) throw invalid(faults)
}

const wholePolicy = (policy: string | z.output<typeof policySchema>): PolicyIdentifier =>
  typeof policy === "string" ? { oid: policy } : (policy as PolicyIdentifier)

/** Resolves sizes as the engine does for this key type: 0 becomes the default size. */
function settled(spec: PkiRoleSpec, keyType: RoleKeyType): PkiRoleSpec {
  const { keyBits, signatureBits } = spec
  return {
    ...spec,
    ...(keyBits === undefined ? {} : { keyBits: resolveKeyBits(keyType, keyBits) }),
    ...(signatureBits === undefined ? {} : { signatureBits: resolveSignatureBits(keyType, signatureBits) }),
  }
}

function diff(spec: PkiRoleSpec, observed: ObservedPkiRole, dropped: readonly string[] = []): Changes {
  const wanted = withDefaults(members, spec, dropped)
  const keyType = wanted.keyType ?? observed.keyType
  return diffMembers(members, settled(wanted, keyType), settled(observed, observed.keyType))
}

async function create(engine: Engine, spec: PkiRoleSpec, { adopt }: Origin): Promise<Created<ObservedPkiRole>> {
  refuse(spec)
  const place = { mount: mountPathOf(spec.mount), name: spec.name }
  const id = idOf(place)
  const input = rules.toEngine(spec)
  const present = await found(engine, place)
  if (present === undefined) {
    const { role } = await engine.pki(place.mount).roles.save(place.name, input)
    return { id, observed: observedPkiRole(place, role), adopted: false }
  }
  // A role that equals the declared one may come from a lost answer.
  if (sameJson(present, observedPkiRole(place, createRole(input)))) return { id, observed: present, adopted: false }
  if (!adopt) throw conflict(`role "${place.name}" of ${place.mount} already exists with different settings`)
  return { id, observed: await update(engine, id, spec, present), adopted: true }
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiRoleSpec,
  observed: ObservedPkiRole,
  dropped: readonly string[] = [],
): Promise<ObservedPkiRole> {
  refuse(spec)
  const wanted = withDefaults(members, spec, dropped)
  const changed: readonly string[] = diff(spec, observed, dropped).changed
  if (changed.length === 0) return observed
  // Sizes depend on the key type, so they are sent with it.
  const sizes = changed.includes("keyType") ? ["keyBits", "signatureBits"] : []
  const sent = Object.fromEntries([...changed, ...sizes].map((name) => [name, wanted[name as keyof PkiRoleSpec]]))
  const place = placeOf(id)
  const { role } = await engine.pki(place.mount).roles.update(place.name, rules.toEngine(sent))
  return observedPkiRole(place, role)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const { mount, name } = placeOf(id)
  try {
    await engine.pki(mount).roles.delete(name)
  } catch (error) {
    // The mount and its roles no longer exist.
    if (!isEngineError(error, "not-found")) throw error
  }
}

interface RolePlace {
  readonly mount: string
  readonly name: string
}

const idOf = ({ mount, name }: RolePlace): string => `${mount}/roles/${name}`

function placeOf(id: string): RolePlace {
  const [, mount, name] = /^(.+)\/roles\/([^/]+)$/.exec(id) ?? []
  if (mount === undefined || name === undefined)
    throw invalid([{ field: ["id"], detail: `id of a role must be MOUNT/roles/NAME, not "${id}"` }])
  return { mount, name }
}

async function found(engine: Engine, place: RolePlace): Promise<ObservedPkiRole | undefined> {
  try {
    return observedPkiRole(place, await engine.pki(place.mount).roles.get(place.name))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
