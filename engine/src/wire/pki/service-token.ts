// Service tokens, as in Vault: `auth` holds a created or renewed token, `data` a looked-up one. Durations are whole seconds; 0 is none
// (docs/compatibility.md, "Answers of the certificate API").
import { type Fault, invalid } from "../../core/errors.ts"
import { formatInstant, parseInstant, secondMs } from "../../core/time.ts"
import type { ServiceTokenInput } from "../../pki/access/service-token.ts"
import type {
  CreatedServiceToken,
  PathCapabilities,
  ServiceTokenView,
  TokenAnswer,
} from "../../pki/access/service-tokens.ts"
import {
  type Decoded,
  decodeAnswer,
  decodeSomeAnswer,
  type Document,
  durationSeconds,
  encodeMembers,
  flag,
  integer,
  isDocument,
  type Kind,
  nullable,
  optionalPairs,
  pairs,
  parameters,
  text,
  texts,
  unreadable,
  type ValuesOf,
  word,
} from "./parameters.ts"
import { optionalDuration } from "./token-terms.ts"

const tokenType = word("service")

export const serviceTokenParameters = parameters({
  policies: texts,
  ttlMs: durationSeconds,
  explicitMaxTtlMs: durationSeconds,
  periodMs: durationSeconds,
  renewable: flag,
  numUses: integer,
  displayName: text,
  meta: pairs,
  noParent: flag,
  noDefaultPolicy: flag,
  // Existing clients send a text, which is empty where its user has said nothing.
  type: { ...tokenType, decode: (value: unknown) => tokenType.decode(value === "" ? "service" : value) },
  id: text,
  entityAlias: text,
  // Deprecated name of `ttl` in Vault.
  lease: durationSeconds,
})

/** Throws `invalid` with every fault of the document. */
export function decodeServiceTokenInput({
  value,
  faults,
}: Omit<Decoded<ValuesOf<typeof serviceTokenParameters>>, "ignored">): ServiceTokenInput {
  const {
    type: _type,
    id = "",
    entityAlias = "",
    lease = 0,
    ttlMs = lease,
    explicitMaxTtlMs = 0,
    periodMs = 0,
    ...rest
  } = value
  const all: Fault[] = [...faults]
  if (id !== "") all.push({ field: ["id"], detail: `"id" cannot be chosen: the server draws the token` })
  if (entityAlias !== "") all.push({ field: ["entityAlias"], detail: `"entity_alias" is not supported` })
  if (all.length > 0) throw invalid(all)
  return {
    ...rest,
    ...(ttlMs === 0 ? {} : { ttlMs }),
    ...(explicitMaxTtlMs === 0 ? {} : { explicitMaxTtlMs }),
    ...(periodMs === 0 ? {} : { periodMs }),
  }
}

/** Which token is meant, and what to do with it. */
export const tokenParameters = parameters({ token: text, accessor: text, incrementMs: durationSeconds })
export const accessorParameters = parameters({ after: text, limit: integer })
export const capabilityParameters = parameters({ token: text, accessor: text, paths: texts, path: texts })

/** 0 where there is none. */
const optionalCount: Kind<number | null> = {
  decode: (value) => {
    const read = integer.decode(value)
    return read === 0 ? null : read
  },
  encode: (value) => value ?? 0,
  expected: integer.expected,
  type: "int",
}
const instant: Kind<number> = {
  decode: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
  encode: formatInstant,
  expected: "an instant",
  type: "string",
}
const viewParameters = parameters(
  {
    accessor: text,
    entityId: text,
    displayName: text,
    policies: texts,
    meta: optionalPairs,
    orphan: flag,
    path: text,
    createdAt: instant,
    expiresAt: nullable(instant),
    ttlMs: optionalDuration,
    explicitMaxTtlMs: optionalDuration,
    periodMs: optionalDuration,
    renewable: flag,
    lastRenewedAt: nullable(instant),
    usesLeft: optionalCount,
  },
  {
    createdAt: "issue_time",
    expiresAt: "expire_time",
    ttlMs: "creation_ttl",
    lastRenewedAt: "last_renewal",
    usesLeft: "num_uses",
  },
)

const boundParameters = parameters({ boundCidrs: texts, role: text })

/** `secret` is the token itself, where whoever asks has shown it. */
export const encodeServiceToken = (token: ServiceTokenView, secret = ""): Document => ({
  ...encodeMembers(viewParameters, token, "native"),
  id: secret,
  // As in the public service: only where there is something to say.
  ...(token.boundCidrs.length === 0 ? {} : { bound_cidrs: token.boundCidrs }),
  ...(token.role === null ? {} : { role: token.role }),
  creation_time: Math.floor(token.createdAt / secondMs),
  last_renewal_time: Math.floor((token.lastRenewedAt ?? 0) / secondMs),
  ttl: (token.remainingMs ?? 0) / secondMs,
  type: "service",
})

export function decodeServiceToken(document: unknown): ServiceTokenView {
  const view = decodeAnswer(viewParameters, document)
  const { boundCidrs = [], role = null } = decodeSomeAnswer(boundParameters, document)
  const { ttl } = document as Document
  if (typeof ttl !== "number") throw unreadable('"ttl" must be a number')
  return { ...view, boundCidrs, role, remainingMs: view.expiresAt === null && ttl === 0 ? null : ttl * secondMs }
}

/** What whoever logs in is told, and whoever makes or renews a token. */
export const encodeAuth = (token: ServiceTokenView, secret: string): Document => ({
  client_token: secret,
  accessor: token.accessor,
  policies: token.policies,
  token_policies: token.policies,
  metadata: encodeMembers(viewParameters, { meta: token.meta }, "native")["meta"],
  lease_duration: (token.remainingMs ?? 0) / secondMs,
  renewable: token.renewable,
  entity_id: token.entityId,
  token_type: "service",
  orphan: token.orphan,
  mfa_requirement: null,
  num_uses: token.usesLeft ?? 0,
})

interface TokenEnvelope {
  readonly data: unknown
  readonly warnings: readonly string[]
}

/** Reads the native dialect, which has the token in `data` as well. */
export const decodeTokenAnswer = ({ data, warnings }: TokenEnvelope): TokenAnswer => ({
  token: decodeServiceToken(data),
  warnings,
})

export function decodeCreatedServiceToken(envelope: TokenEnvelope): CreatedServiceToken {
  const secret = isDocument(envelope.data) ? envelope.data["id"] : undefined
  if (typeof secret !== "string" || secret === "") throw unreadable('"id" is missing')
  return { ...decodeTokenAnswer(envelope), secret }
}

/** By path, and those of the first one under `capabilities`, where clients look that asked for one. */
export const encodeCapabilities = (paths: readonly PathCapabilities[]): Document => ({
  ...Object.fromEntries(paths.map(({ path, capabilities }) => [path, capabilities])),
  capabilities: paths[0]?.capabilities ?? [],
})

const granted = word("create", "read", "update", "patch", "delete", "list", "sudo", "deny", "root")

export function decodeCapabilities(document: unknown, paths: readonly string[]): readonly PathCapabilities[] {
  if (!isDocument(document)) throw unreadable("there is no data")
  return paths.map((path) => {
    const list: unknown = document[path === paths[0] ? "capabilities" : path]
    if (!Array.isArray(list)) throw unreadable(`the capabilities on "${path}" are missing`)
    const capabilities = list.map((one: unknown) => {
      const read = granted.decode(one)
      if (typeof read !== "string") throw unreadable(`the capabilities on "${path}" are not known`)
      return read
    })
    return { path, capabilities }
  })
}
