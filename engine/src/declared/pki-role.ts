import { conflict, type Fault, invalid, isEngineError } from "../core/errors.ts"
import { formatDuration, parseDuration, parseInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mount.ts"
import { type RoleKeyType, resolveKeyBits, resolveSignatureBits } from "../pki/policy/key-strength.ts"
import {
  createRole,
  type PolicyIdentifier,
  type Role,
  roleDefaults,
  type RoleInput,
  roleNameFaults,
} from "../pki/roles/role.ts"
import type { Changes, Created, DeclaredResource, Origin, Values } from "./declared-resource.ts"
import {
  declaredFaults,
  declaredInstant,
  durationFaults,
  instantFaults,
  mountMemberFaults,
  sameMountPath,
} from "./pki-words.ts"
import { differing, sameDuration, sameInstant, sameJson, sameSet, type SameValue } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const texts = shapes.list(shapes.text().filled()).optional()
const flag = shapes.flag().optional()
const instant = shapes.text().nullable().optional()
const policy = shapes.members({ oid: shapes.text(), notice: shapes.text().optional(), cps: shapes.text().optional() })

const shape = shapes.members({
  mount: shapes.text(),
  name: shapes.text(),
  ttl: shapes.text().optional(),
  maxTtl: shapes.text().optional(),
  notBeforeDuration: shapes.text().optional(),
  notBefore: instant,
  notBeforeBound: shapes.text().optional(),
  notAfter: instant,
  notAfterBound: shapes.text().optional(),
  allowLocalhost: flag,
  allowedDomains: texts,
  allowedDomainsTemplate: flag,
  allowBareDomains: flag,
  allowSubdomains: flag,
  allowGlobDomains: flag,
  allowWildcardCertificates: flag,
  allowPartialWildcards: flag,
  allowAnyName: flag,
  enforceHostnames: flag,
  allowIpSans: flag,
  allowedIpSansCidr: texts,
  allowedUriSans: texts,
  allowedUriSansTemplate: flag,
  allowGlobsInIdentityTemplates: flag,
  allowedOtherSans: texts,
  allowedSerialNumbers: texts,
  allowedUserIds: texts,
  serverFlag: flag,
  clientFlag: flag,
  codeSigningFlag: flag,
  emailProtectionFlag: flag,
  keyUsages: texts,
  extKeyUsages: texts,
  extKeyUsageOids: texts,
  keyType: shapes.oneOf(["rsa", "ec", "ed25519", "any"]).optional(),
  keyBits: shapes.integer().optional(),
  signatureBits: shapes.integer().optional(),
  allowedRsaExponents: shapes.list(shapes.integer()).filled().optional(),
  usePss: flag,
  useCsrCommonName: flag,
  useCsrSans: flag,
  serialNumberSource: shapes.oneOf(["json", "json-csr"]).optional(),
  requireCn: flag,
  cnValidations: shapes
    .list(shapes.oneOf(["email", "hostname", "disabled"]))
    .filled()
    .optional(),
  organizationalUnits: texts,
  organizations: texts,
  countries: texts,
  localities: texts,
  provinces: texts,
  streetAddresses: texts,
  postalCodes: texts,
  policyIdentifiers: shapes.list(shapes.textOr(policy)).optional(),
  basicConstraintsValidForNonCa: flag,
  issuerRef: shapes.text().filled().optional(),
  generateLease: flag,
  noStore: flag,
  noStoreMetadata: flag,
})

/** Role. Durations are strings such as `720h`, instants ISO 8601. */
export type PkiRoleSpec = Readonly<shapes.Of<typeof shape>>

/** Every rule as it is in force. */
export type ObservedPkiRole = Readonly<{ [Name in keyof PkiRoleSpec]-?: Exclude<PkiRoleSpec[Name], undefined> }>

export const pkiRoleResource: DeclaredResource<PkiRoleSpec, ObservedPkiRole> = {
  memberNames: Object.keys(shape.members),
  validate: pkiRoleFaults,
  diff: changes,
  observe: (engine, id) => found(engine, placeOf(id)),
  create,
  update,
  delete: remove,
}

type Member = Exclude<keyof PkiRoleSpec, "mount" | "name">

const members = Object.keys(shape.members).filter((name): name is Member => name !== "mount" && name !== "name")
const durations: ReadonlySet<string> = new Set(["ttl", "maxTtl", "notBeforeDuration"])
const instants: ReadonlySet<string> = new Set(["notBefore", "notAfter"])
const bounds: ReadonlySet<string> = new Set(["notBeforeBound", "notAfterBound"])

/** Lists are named in the plural where they are declared. */
const fieldsOfMembers: Readonly<Partial<Record<Member, keyof Role>>> = {
  ttl: "ttlMs",
  maxTtl: "maxTtlMs",
  notBeforeDuration: "notBeforeDurationMs",
  keyUsages: "keyUsage",
  extKeyUsages: "extKeyUsage",
  organizationalUnits: "ou",
  organizations: "organization",
  countries: "country",
  localities: "locality",
  provinces: "province",
  streetAddresses: "streetAddress",
  postalCodes: "postalCode",
}
const fieldOf = (member: Member): keyof Role => fieldsOfMembers[member] ?? (member as keyof Role)
const membersOfFields = new Map<string, Member>(members.map((member) => [fieldOf(member), member]))

function roleInputOf(spec: Partial<PkiRoleSpec>): RoleInput {
  const given = members.filter((member) => spec[member] !== undefined)
  return Object.fromEntries(given.map((member) => [fieldOf(member), roleValue(member, spec[member])]))
}

function roleValue(member: Member, value: unknown): unknown {
  if (member === "policyIdentifiers") return (value as readonly (string | PolicyIdentifier)[]).map(wholePolicy)
  if (typeof value !== "string") return value
  if (durations.has(member)) return parseDuration(value)
  if (instants.has(member)) return parseInstant(value)
  return bounds.has(member) ? (parseInstant(value) ?? value) : value
}

const wholePolicy = (said: string | PolicyIdentifier): PolicyIdentifier =>
  typeof said === "string" ? { oid: said } : said

/** A role's place, and what stands there. */
export const observedPkiRole = ({ mount, name }: RolePlace, role: Role): ObservedPkiRole =>
  ({
    mount,
    name,
    ...Object.fromEntries(members.map((member) => [member, declaredValue(member, role[fieldOf(member)])])),
  }) as ObservedPkiRole

function declaredValue(member: Member, value: Role[keyof Role]): unknown {
  if (typeof value === "number" && durations.has(member)) return formatDuration(value)
  if (typeof value === "number" && (instants.has(member) || bounds.has(member))) return declaredInstant(value)
  return Array.isArray(value) ? [...value] : value
}

function pkiRoleFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const faults = [
    ...shapes.faultsOf(shape, spec, open),
    ...[...durations].flatMap((member) => durationFaults(member, spec[member])),
    ...[...instants].flatMap((member) => instantFaults(member, spec[member])),
  ]
  const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
  // A member of the wrong type is refused already, and no rule can read it.
  const known = Object.fromEntries(Object.entries(spec).filter(([name]) => !unsaid.has(name))) as Partial<PkiRoleSpec>
  // A size says nothing without its type.
  if (unsaid.has("keyType")) unsaid.add("keyBits")
  return [
    ...faults,
    ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
    ...(known.name === undefined ? [] : declaredFaults(roleNameFaults(known.name), (name) => name)),
    ...declaredFaults(ruleFaults(roleInputOf(known)), (field) => membersOfFields.get(field)).filter(
      ({ field }) => !unsaid.has(String(field?.[0])),
    ),
    ...(known.generateLease === true && known.noStore === true
      ? [{ field: ["generateLease"], detail: "generateLease has no effect with noStore; leave one of them out" }]
      : []),
  ]
}

function ruleFaults(input: RoleInput): readonly Fault[] {
  try {
    createRole(input)
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults
    throw error
  }
}

/** What only became known since it was checked. */
function refuse(spec: PkiRoleSpec): void {
  const faults = pkiRoleFaults(spec)
  if (faults.length > 0) throw invalid(faults)
}

const sameNames: SameValue = (a, b) => sameSet(lowerCased(a), lowerCased(b))
const lowerCased = (names: unknown): unknown =>
  Array.isArray(names) ? names.map((name) => String(name).toLowerCase()) : names

const sameNumbers: SameValue = (a, b) =>
  sameSet((a as readonly number[]).map(String), (b as readonly number[]).map(String))

const samePolicies: SameValue = (a, b) => sameSet(policyTexts(a), policyTexts(b))
const policyTexts = (policies: unknown): unknown =>
  (policies as readonly (string | PolicyIdentifier)[])
    .map(wholePolicy)
    .map(({ oid, notice = "", cps = "" }) => JSON.stringify([oid, notice, cps]))

/** The members of a subject are the exception among lists: their order is that in the certificate. */
const rules: Readonly<Partial<Record<keyof PkiRoleSpec, SameValue>>> = {
  mount: sameMountPath,
  ttl: sameDuration,
  maxTtl: sameDuration,
  notBeforeDuration: sameDuration,
  notBefore: sameInstant,
  notBeforeBound: sameInstant,
  notAfter: sameInstant,
  notAfterBound: sameInstant,
  allowedDomains: sameSet,
  allowedIpSansCidr: sameSet,
  allowedUriSans: sameSet,
  allowedOtherSans: sameSet,
  allowedSerialNumbers: sameSet,
  allowedUserIds: sameSet,
  keyUsages: sameNames,
  extKeyUsages: sameNames,
  extKeyUsageOids: sameSet,
  cnValidations: sameSet,
  allowedRsaExponents: sameNumbers,
  policyIdentifiers: samePolicies,
}

const defaults: Partial<PkiRoleSpec> = observedPkiRole({ mount: "", name: "" }, roleDefaults)

const withDefaults = (spec: PkiRoleSpec, dropped: readonly string[]): PkiRoleSpec => ({
  ...Object.fromEntries(Object.entries(defaults).filter(([name]) => dropped.includes(name))),
  ...spec,
})

/** With sizes as a role of this type keeps them: 0 is the usual one. */
function settled(spec: PkiRoleSpec, keyType: RoleKeyType): PkiRoleSpec {
  const { keyBits, signatureBits } = spec
  return {
    ...spec,
    ...(keyBits === undefined ? {} : { keyBits: resolveKeyBits(keyType, keyBits) }),
    ...(signatureBits === undefined ? {} : { signatureBits: resolveSignatureBits(keyType, signatureBits) }),
  }
}

function changes(spec: PkiRoleSpec, observed: ObservedPkiRole, dropped: readonly string[] = []): Changes {
  const wanted = withDefaults(spec, dropped)
  const changed = differing(
    settled(wanted, wanted.keyType ?? observed.keyType),
    settled(observed, observed.keyType),
    rules,
  )
  return { changed, mustReplace: changed.filter((name) => name === "mount" || name === "name") }
}

async function create(engine: Engine, spec: PkiRoleSpec, { adopt }: Origin): Promise<Created<ObservedPkiRole>> {
  refuse(spec)
  const place = { mount: mountPathOf(spec.mount), name: spec.name }
  const id = idOf(place)
  const input = roleInputOf(spec)
  const present = await found(engine, place)
  if (present === undefined) {
    const { role } = await engine.pki(place.mount).roles.save(place.name, input)
    return { id, observed: observedPkiRole(place, role), adopted: false }
  }
  // One that is the same in everything may be what a lost answer left behind.
  if (sameJson(present, observedPkiRole(place, createRole(input)))) return { id, observed: present, adopted: false }
  if (!adopt) throw conflict(`role "${place.name}" exists in ${place.mount}, and is not as declared`)
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
  const wanted = withDefaults(spec, dropped)
  const changed: readonly string[] = changes(spec, observed, dropped).changed
  if (changed.length === 0) return observed
  // Sizes are forgotten with the type they were for.
  const sizes = changed.includes("keyType") ? ["keyBits", "signatureBits"] : []
  const sent = Object.fromEntries([...changed, ...sizes].map((name) => [name, wanted[name as Member]]))
  const place = placeOf(id)
  const { role } = await engine.pki(place.mount).roles.update(place.name, roleInputOf(sent))
  return observedPkiRole(place, role)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const { mount, name } = placeOf(id)
  try {
    await engine.pki(mount).roles.delete(name)
  } catch (error) {
    // The mount is gone, and its roles with it.
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
