// Service tokens as in Vault: answers that create or renew a token contain it in `auth`, lookups in `data`. Durations are whole seconds,
// and 0 if there is none (docs/compatibility.md, "Answers of the certificate API").
import { invalid } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import type { ServiceTokenInput } from "../../access/service-tokens/service-token.ts"
import type {
  CreatedServiceToken,
  PathCapabilities,
  ServiceTokenView,
  TokenAnswer,
  TokenRef,
} from "../../access/service-tokens/service-token-service.ts"
import { decodeAnswer, type Document, encodeMembers, isDocument, unreadable } from "./format/parameters.ts"
import { type Answer, contract, dataOf, keyPage, keys, nothing } from "./endpoint.ts"
import { type Body, fields, parameter, record } from "./record.ts"
import { optionalDuration } from "./token-terms.ts"
import {
  enumOf,
  exactInstant,
  flag,
  integer,
  nullable,
  rejected,
  seconds,
  someOf,
  stringMap,
  stringMapOrNull,
  substitute,
  text,
  texts,
  unsupported,
  zeroAsNull,
} from "./types.ts"

const policies = parameter(texts, "Policies. Left out: those of the token that creates it.", { example: ["web"] })

const input = record(
  {
    policies,
    ttlMs: parameter(seconds, "Lifetime. 0: the default of the server.", { example: "1h", alias: "lease" }),
    explicitMaxTtlMs: parameter(seconds, "Maximum lifetime, which no renewal exceeds. 0: none.", { example: "24h" }),
    periodMs: parameter(seconds, "Each renewal lasts this long, any number of times. 0: none.", { example: "1h" }),
    renewable: parameter(flag, "Allow renewals.", { default: true }),
    numUses: parameter(integer, "Requests that the token is good for. 0: any number.", { default: 0, example: 10 }),
    displayName: parameter(text, "Name in the audit log.", { example: "build" }),
    meta: parameter(stringMap, "Metadata.", { example: { team: "platform" } }),
    noParent: parameter(flag, "Create an orphan, which does not end with the token that creates it.", {
      default: false,
    }),
    noDefaultPolicy: parameter(flag, "Leave out the policy default.", { default: false }),
  },
  {
    unsupported: {
      type: parameter(substitute(enumOf("service"), "", "service"), "Type: all tokens are service tokens.", {
        example: "service",
      }),
      id: parameter(rejected(text, "is not supported: the server generates the token"), "Not supported."),
      entityAlias: parameter(unsupported(text), "Not supported: there are no entities."),
    },
  },
)
const lifetimes: readonly string[] = ["ttlMs", "explicitMaxTtlMs", "periodMs"]
const creation: Body<ServiceTokenInput> = {
  ...input.change,
  decode: (request) =>
    Object.fromEntries(
      Object.entries(input.change.decode(request)).filter(([name, value]) => value !== 0 || !lifetimes.includes(name)),
    ),
}

const optionalInstant = nullable(exactInstant)
const viewTable = fields({
  accessor: parameter(text, "Name of the token that is no secret.", { example: "svt-1a2b3c4d5e6f7a8b" }),
  entityId: parameter(text, "User, team or organization of the token; empty for a service token.", {
    example: "user-1a2b3c4d5e6f7a8b",
  }),
  displayName: parameter(text, "Name in the audit log.", { example: "build" }),
  policies: { ...policies, rule: "Policies." },
  meta: parameter(stringMapOrNull, "Metadata.", { example: { team: "platform" } }),
  orphan: parameter(flag, "Ends with no other token.", { example: false }),
  path: parameter(text, "Path that created the token.", { example: "auth/token/create" }),
  createdAt: parameter(exactInstant, "Time of creation.", {
    wireName: "issue_time",
    example: "2030-01-31T12:00:00.000Z",
  }),
  expiresAt: parameter(optionalInstant, "End of the token, or null.", {
    wireName: "expire_time",
    example: "2030-01-31T13:00:00.000Z",
  }),
  ttlMs: parameter(optionalDuration, "Lifetime at creation. 0: none.", { wireName: "creation_ttl", example: 3_600 }),
  explicitMaxTtlMs: parameter(optionalDuration, "Maximum lifetime. 0: none.", { example: 86_400 }),
  periodMs: parameter(optionalDuration, "Each renewal lasts this long. 0: none.", { example: 3_600 }),
  renewable: parameter(flag, "Can be renewed.", { example: true }),
  lastRenewedAt: parameter(optionalInstant, "Time of the last renewal, or null.", {
    wireName: "last_renewal",
    example: null,
  }),
  usesLeft: parameter(zeroAsNull(integer), "Requests that are left. 0: any number.", {
    wireName: "num_uses",
    example: 0,
  }),
  id: parameter(text, "The token itself if the caller has shown it; otherwise empty.", { example: "" }),
  boundCidrs: parameter(texts, "Ranges of addresses that the token can be used from; left out if there are none.", {
    optional: true,
    example: ["10.0.0.0/8"],
  }),
  role: parameter(text, "Role that created the token; left out if there is none.", { optional: true, example: "web" }),
  creationTime: parameter(integer, "Time of creation, in seconds since 1970.", { example: 1_896_091_200 }),
  lastRenewalTime: parameter(integer, "Time of the last renewal, in seconds since 1970, or 0.", { example: 0 }),
  remainingMs: parameter(zeroAsNull(seconds), "Lifetime that is left. 0: no end.", { wireName: "ttl", example: 3_600 }),
})

/** Encodes a token. `secret` is the token itself if the caller has sent it. */
const encodeToken = (token: ServiceTokenView, secret: string): Document => {
  const { boundCidrs, role, ...members } = token
  return {
    ...encodeMembers(
      viewTable,
      {
        ...members,
        id: secret,
        // Present only if set, as in Vault.
        ...(boundCidrs.length > 0 && { boundCidrs }),
        ...(role !== null && { role }),
        creationTime: Math.floor(token.createdAt / secondMs),
        lastRenewalTime: Math.floor((token.lastRenewedAt ?? 0) / secondMs),
      },
      "native",
    ),
    type: "service",
  }
}

function decodeToken(document: unknown): CreatedServiceToken["token"] & { readonly id: string } {
  const { creationTime: _, lastRenewalTime: __, ...view } = decodeAnswer(viewTable, document)
  const absent: Pick<ServiceTokenView, "boundCidrs" | "role"> = { boundCidrs: [], role: null }
  const remainingMs = view.remainingMs ?? (view.expiresAt === null ? null : 0)
  return Object.assign(absent, view, { remainingMs })
}

function decodeView(document: unknown): ServiceTokenView {
  const { id: _, ...view } = decodeToken(document)
  return view
}

const encodeAuth = (token: ServiceTokenView, secret: string): Document => ({
  client_token: secret,
  accessor: token.accessor,
  policies: token.policies,
  token_policies: token.policies,
  metadata: encodeMembers(viewTable, { meta: token.meta }, "native")["meta"],
  lease_duration: (token.remainingMs ?? 0) / secondMs,
  renewable: token.renewable,
  entity_id: token.entityId,
  token_type: "service",
  orphan: token.orphan,
  mfa_requirement: null,
  num_uses: token.usesLeft ?? 0,
})

/** Returns an answer with the token in `auth`, and in the native dialect its record in `data`. */
const issued = <Received>(
  decode: (answer: TokenAnswer, secret: string) => Received,
): Answer<CreatedServiceToken, Received> => ({
  kind: "data",
  encode: ({ token, secret, warnings }, dialect) => ({
    data: dialect === "native" ? encodeToken(token, secret) : null,
    auth: encodeAuth(token, secret),
    warnings,
  }),
  decode({ data, warnings }) {
    const { id, ...token } = decodeToken(data)
    return decode({ token, warnings }, id)
  },
  record: { table: viewTable, constants: { type: "service" } },
})
export const issuedToken = issued((answer, secret): CreatedServiceToken => {
  if (secret === "") throw unreadable('"id" is missing')
  return { ...answer, secret }
})
const renewedToken = issued((answer) => answer)

interface ShownToken {
  readonly token: ServiceTokenView
  readonly secret: string
}
const shownToken: Answer<ShownToken, ServiceTokenView> = {
  ...dataOf(
    viewTable,
    ({ token, secret }: ShownToken) => ({ data: encodeToken(token, secret) }),
    ({ data }) => decodeView(data),
  ),
  record: { table: viewTable, constants: { type: "service" } },
}

const granted = someOf("create", "read", "update", "patch", "delete", "list", "sudo", "deny", "root")

/** Capabilities by path. Those of the first path are repeated as `capabilities`. */
const capabilities: Answer<readonly PathCapabilities[], (paths: readonly string[]) => readonly PathCapabilities[]> = {
  kind: "data",
  repeated: true,
  encode: (paths) => ({
    data: {
      ...Object.fromEntries(paths.map((one) => [one.path, one.capabilities])),
      capabilities: paths[0]?.capabilities ?? [],
    },
  }),
  decode:
    ({ data }) =>
    (paths) => {
      if (!isDocument(data)) throw unreadable('"data" must be an object')
      return paths.map((path) => {
        const list = granted.schema.safeParse(data[path === paths[0] ? "capabilities" : path])
        if (!list.success) throw unreadable(`the capabilities on "${path}" are missing or not known`)
        return { path, capabilities: list.data }
      })
    },
}

/** Reference to a token in a request. */
interface Naming {
  readonly token?: string
  readonly accessor?: string
}
const namingMembers = {
  token: parameter(text, "The token.", { example: "svt-…" }),
  accessor: parameter(text, "Accessor of the token.", { example: "svt-1a2b3c4d5e6f7a8b" }),
}
const tokenTable = fields({
  ...namingMembers,
  incrementMs: parameter(seconds, "Lifetime from now on. 0: that of its creation.", { example: "1h" }),
})
const capabilityTable = fields({
  ...namingMembers,
  paths: parameter(texts, "Paths.", { example: ["pki/issue/web"] }),
  path: parameter(texts, "Older name of paths.", { example: ["pki/issue/web"] }),
})
const noParameters: typeof tokenTable = { members: [], byWireName: new Map() }
const namingOf = (ref: TokenRef): Naming =>
  ref === "self" ? {} : "secret" in ref ? { token: ref.secret } : { accessor: ref.accessor }

interface Renewal {
  readonly ref: TokenRef
  readonly incrementMs?: number
}
interface CapabilityQuery {
  readonly ref: TokenRef
  readonly paths: readonly string[]
}

/** Returns endpoints for the token that `refOf` returns. With the suffix `-self`, it is the caller's token and no parameter names it. */
const endpointsFor = <const Suffix extends string>(
  suffix: Suffix,
  noun: string,
  refOf: (naming: Naming) => TokenRef,
) => {
  const referenceTable = suffix === "-self" ? noParameters : tokenTable
  const reference: Body<TokenRef> = {
    table: referenceTable,
    decode: (request) => refOf(request.decode(referenceTable)),
    encode: (ref) => ({ ...namingOf(ref) }),
  }
  const renewal: Body<Renewal> = {
    table: tokenTable,
    decode(request) {
      const { incrementMs = 0, ...naming } = request.decode(tokenTable)
      return { ref: refOf(naming), ...(incrementMs !== 0 && { incrementMs }) }
    },
    encode: ({ ref, ...more }) => encodeMembers(tokenTable, { ...namingOf(ref), ...more }, "native"),
  }
  const query: Body<CapabilityQuery> = {
    table: capabilityTable,
    decode(request) {
      const { path = [], paths = path, ...naming } = request.decode(capabilityTable)
      return { ref: refOf(naming), paths }
    },
    encode: ({ ref, paths }) => ({ ...namingOf(ref), paths }),
  }
  return contract({
    lookup: {
      operation: "write",
      path: `/auth/token/lookup${suffix}` as const,
      summary: `Returns ${noun}.`,
      rights: "update",
      readOnly: true,
      body: reference,
      answers: shownToken,
    },
    renew: {
      operation: "write",
      path: `/auth/token/renew${suffix}` as const,
      summary: `Renews ${noun}.`,
      rights: "update",
      // Tokens of certificate logins are renewed with the certificate.
      device: true,
      body: renewal,
      answers: renewedToken,
    },
    revoke: {
      operation: "write",
      path: `/auth/token/revoke${suffix}` as const,
      summary: `Revokes ${noun}, and the tokens that end with it.`,
      rights: "update",
      body: reference,
      answers: nothing,
    },
    capabilities: {
      operation: "write",
      path: `/sys/capabilities${suffix}` as const,
      summary: `Returns what ${noun} may do on paths.`,
      rights: "update",
      readOnly: true,
      body: query,
      answers: capabilities,
    },
  })
}

function secretIn({ token = "" }: Naming): string {
  if (token === "") throw invalid([{ field: ["token"], detail: "token can't be blank" }])
  return token
}
export const tokensBySecret = endpointsFor("", "a token", (naming) => ({ secret: secretIn(naming) }))
export const tokensByAccessor = endpointsFor("-accessor", "the token of an accessor", ({ accessor = "" }) => {
  if (accessor === "") throw invalid([{ field: ["accessor"], detail: "accessor can't be blank" }])
  return { accessor }
})
export const ownToken = endpointsFor("-self", "the token of the request", () => "self")

const revokedOrphan: Body<string> = {
  table: tokenTable,
  decode: (request) => secretIn(request.decode(tokenTable)),
  encode: (token) => ({ token }),
}

export const serviceTokens = contract({
  create: {
    operation: "write",
    path: "/auth/token/create",
    summary: "Creates a token.",
    rights: "update",
    body: creation,
    answers: issuedToken,
  },
  createOrphan: {
    operation: "write",
    path: "/auth/token/create-orphan",
    summary: "Creates a token that ends with no other.",
    rights: "update",
    body: creation,
    answers: issuedToken,
  },
  createByRole: {
    operation: "write",
    path: "/auth/token/create/:role_name",
    summary: "Creates a token by a token role.",
    rights: "update",
    body: creation,
    answers: issuedToken,
  },
  lookupSelf: {
    operation: "read",
    path: "/auth/token/lookup-self",
    summary: "Returns the token of the request.",
    rights: "read",
    answers: shownToken,
  },
  revokeOrphan: {
    operation: "write",
    path: "/auth/token/revoke-orphan",
    summary: "Revokes a token; those that would end with it become orphans.",
    rights: "update and sudo",
    body: revokedOrphan,
    answers: nothing,
  },
  list: {
    operation: "list",
    path: "/auth/token/accessors",
    summary: "Lists the accessors of tokens.",
    rights: "list and sudo",
    body: keyPage,
    answers: keys,
  },
})
