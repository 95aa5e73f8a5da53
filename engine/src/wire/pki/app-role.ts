// Roles that programs log in as, and their secret ids, as existing clients know them: durations in whole seconds, and 0 where there
// is none. What older clients call otherwise is read too, and what they are told has the newer names.
import { parseNestedJson } from "../../core/json-bounds.ts"
import { formatInstant, parseInstant } from "../../core/time.ts"
import type { AppRoleInput, AppRolePart } from "../../pki/logins/app-role.ts"
import type { AppRoleView, CreatedSecretId } from "../../pki/logins/app-roles.ts"
import type { SecretId } from "../../pki/logins/secret-id.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import {
  type Decoded,
  decodeAnswer,
  decodeSomeAnswer,
  type Document,
  durationSeconds,
  encodeMembers,
  exactInstant,
  flag,
  integer,
  type Kind,
  pairs,
  parameters,
  text,
  texts,
  unsupported,
  type ValuesOf,
} from "./parameters.ts"
import {
  encodeTokenTerms,
  optionalDuration,
  tokenTermsKinds,
  tokenTermsNames,
  unsupportedTerms,
} from "./token-terms.ts"

const ownKinds = {
  bindSecretId: flag,
  secretIdBoundCidrs: texts,
  secretIdNumUses: integer,
  secretIdTtlMs: durationSeconds,
  localSecretIds: flag,
}
const formerKinds = { formerBounds: texts, formerPolicies: tokenTermsKinds.policies, formerPeriodMs: optionalDuration }
const formerNames = { formerBounds: "bound_cidr_list", formerPolicies: "policies", formerPeriodMs: "period" } as const

export const appRoleParameters = parameters(
  { ...ownKinds, roleId: text, ...tokenTermsKinds, ...unsupportedTerms, ...formerKinds },
  { ...tokenTermsNames, ...formerNames },
)

/** Returns the parameters of one part of a role: its member, by the newer and the older name. */
export const appRolePartParameters = (part: AppRolePart): typeof appRoleParameters => {
  const name = part.replaceAll("-", "_")
  const names = [name, `token_${name}`, ...(part === "secret-id-bound-cidrs" ? ["bound_cidr_list"] : [])]
  const members = appRoleParameters.members.filter(({ wireName }) => names.includes(wireName))
  return { members, byWireName: new Map(members.map((member) => [member.wireName, member])) }
}

const ownParameters = parameters(ownKinds)
const appRoleAnswer = parameters({ ...ownKinds, ...tokenTermsKinds }, tokenTermsNames)

type Given = Omit<Decoded<ValuesOf<typeof appRoleParameters>>, "ignored" | "removed">

/** With the faults of the document, which the rules report together with theirs. The newer name goes before the older. */
export function decodeAppRoleInput({ value, faults }: Given): AppRoleInput {
  const { bindSecretId, secretIdNumUses, secretIdTtlMs, localSecretIds, roleId, ...rest } = value
  const { formerBounds, formerPolicies, formerPeriodMs, secretIdBoundCidrs = formerBounds, ...others } = rest
  const { aliasMetadata: _metadata, tokenStrictlyBindIp: _strict, ...terms } = others
  return {
    ...given({ bindSecretId, secretIdBoundCidrs, secretIdNumUses, secretIdTtlMs, localSecretIds, roleId }),
    terms: { ...given({ policies: formerPolicies, periodMs: formerPeriodMs }), ...terms },
    faults,
  }
}

type Present<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }

const given = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>

/** Of a request, or one part in an answer. */
export const encodeAppRoleInput = ({ faults: _, terms, ...own }: AppRoleInput): Document =>
  encodeMembers(appRoleParameters, { ...own, ...terms }, "native")

export function decodeAppRolePart(data: unknown): AppRoleInput {
  const { faults: _, ...part } = decodeAppRoleInput({ value: decodeSomeAnswer(appRoleParameters, data), faults: [] })
  const { terms = {}, ...own } = part
  return Object.keys(terms).length === 0 ? own : part
}

export const encodeAppRole = ({ terms, ...own }: AppRoleView): Document => ({
  ...encodeMembers(ownParameters, own, "native"),
  ...encodeTokenTerms(terms),
})

export function decodeAppRole(name: string, data: unknown): AppRoleView {
  const { bindSecretId, secretIdBoundCidrs, secretIdNumUses, secretIdTtlMs, localSecretIds, ...terms } = decodeAnswer(
    appRoleAnswer,
    data,
  )
  return { name, bindSecretId, secretIdBoundCidrs, secretIdNumUses, secretIdTtlMs, localSecretIds, terms }
}

export const roleIdParameters = parameters({ roleId: text })

/** The text of a JSON object of texts, as the public API has it; or such an object, or `name=value` with commas between. */
const metadata: Kind<Readonly<Record<string, string>>> = {
  decode: (value) => pairs.decode(typeof value === "string" ? (parseNestedJson(value) ?? value) : value),
  encode: (value) => JSON.stringify(value),
  expected: "the text of a JSON object of texts",
  type: "keypair",
}

const secretIdKinds = { metadata, cidrList: texts, tokenBoundCidrs: texts, numUses: integer, ttlMs: durationSeconds }

/** The server draws the secret id. */
export const newSecretIdParameters = parameters({
  secretId: unsupported(text, " here: custom-secret-id takes a secret id of the client's"),
  ...secretIdKinds,
})
export const secretIdParameters = parameters({ secretId: text, ...secretIdKinds })

/** 0 is any number. */
const optionalCount: Kind<number | null> = {
  decode: (value) => {
    const read = integer.decode(value)
    return read === 0 ? null : read
  },
  encode: (value) => value ?? 0,
  expected: integer.expected,
  type: "int",
}

const createdAnswer = parameters(
  { secretId: text, accessor: text, ttlMs: optionalDuration, usesLeft: optionalCount },
  { accessor: "secret_id_accessor", ttlMs: "secret_id_ttl", usesLeft: "secret_id_num_uses" },
)

export const encodeCreatedSecretId = (created: CreatedSecretId): Document =>
  encodeMembers(createdAnswer, created, "native")

export const decodeCreatedSecretId = ({ data, warnings }: DecodedEnvelope): CreatedSecretId => ({
  ...decodeAnswer(createdAnswer, data),
  warnings,
})

/** What clients take for no time at all. */
const noTime = "0001-01-01T00:00:00Z"
const end: Kind<number | null> = {
  decode: (value) => (value === noTime ? null : typeof value === "string" ? parseInstant(value) : undefined),
  encode: (value) => (value === null ? noTime : formatInstant(value)),
  expected: "an instant",
  type: "string",
}

const secretIdAnswer = parameters(
  {
    accessor: text,
    usesLeft: optionalCount,
    ttlMs: optionalDuration,
    createdAt: exactInstant,
    updatedAt: exactInstant,
    expiresAt: end,
    metadata: pairs,
    cidrList: texts,
    tokenBoundCidrs: texts,
  },
  {
    accessor: "secret_id_accessor",
    usesLeft: "secret_id_num_uses",
    ttlMs: "secret_id_ttl",
    createdAt: "creation_time",
    updatedAt: "last_updated_time",
    expiresAt: "expiration_time",
  },
)

export const encodeSecretId = (secretId: SecretId): Document => encodeMembers(secretIdAnswer, secretId, "native")
export const decodeSecretId = (data: unknown): SecretId => decodeAnswer(secretIdAnswer, data)

export const secretIdRefParameters = parameters({ secretId: text, accessor: text }, { accessor: "secret_id_accessor" })

export const credentialParameters = parameters({ roleId: text, secretId: text })
