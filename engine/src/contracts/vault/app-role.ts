// AppRole roles, with which programs log in, and their secret ids. Answers use the newer of two names; durations are whole seconds, and 0
// if there is none.
import { z } from "zod"
import { invalid } from "../../core/errors.ts"
import { formatInstant, type Instant, parseInstant } from "../../core/time.ts"
import { maxListedKeys } from "../../pki/mounts/key-page.ts"
import { type AppRoleInput, type AppRolePart, appRoleParts, initialAppRole } from "../../access/approle/app-role.ts"
import type {
  AppRoleCredentials,
  AppRoleView,
  CreatedSecretId,
  SecretIdRef,
} from "../../access/approle/app-role-api.ts"
import type { SecretId, SecretIdInput } from "../../access/approle/secret-id.ts"
import { decodeAnswer, decodeSomeAnswer, type Document, encodeMembers } from "./format/parameters.ts"
import { accepted, type Answer, contract, data, dataOf, keyPage, keysUpTo, nothing, warnings } from "./endpoint.ts"
import { type Body, fields, parameter, type ParameterReader, record, type Table } from "./record.ts"
import { issuedToken } from "./service-token.ts"
import { optionalDuration, tokenTermsMembers, unsupportedTerms } from "./token-terms.ts"
import {
  exactInstant,
  flag,
  integer,
  mistyped,
  type ParameterType,
  seconds,
  stringMap,
  stringMapText,
  text,
  texts,
  unsupported,
  zeroAsNull,
} from "./types.ts"

const roleId = parameter(text, "Role id of logins.", { example: "3f2a9c0d-5b7e-41f8-9d5e-0d9b6f3c2a11" })
const secretIdBoundCidrs = parameter(texts, "Ranges of addresses that logins can come from. Empty: any.", {
  example: ["10.0.0.0/8"],
})
const { terms: initialTerms, ...initialOwn } = initialAppRole
const members = record(
  {
    bindSecretId: parameter(flag, "Require a secret id at login."),
    secretIdBoundCidrs: { ...secretIdBoundCidrs, alias: "bound_cidr_list" },
    secretIdNumUses: parameter(integer, "Logins that a secret id is good for. 0: any number.", { example: 10 }),
    secretIdTtlMs: parameter(seconds, "Lifetime of secret ids. 0: no end.", { example: "24h" }),
    localSecretIds: parameter(flag, "Returned as it was set; has no effect."),
    ...tokenTermsMembers,
    policies: { ...tokenTermsMembers.policies, alias: "policies" },
    periodMs: { ...tokenTermsMembers.periodMs, alias: "period" },
  },
  { defaults: { ...initialOwn, ...initialTerms }, writeOnly: { roleId }, unsupported: unsupportedTerms },
)
type Flat = Omit<AppRoleInput, "terms"> & AppRoleInput["terms"]

const flat = ({ terms, ...own }: AppRoleInput): Flat => ({ ...own, ...terms })
function nested({ faults = [], ...value }: Flat): AppRoleInput {
  const isOwn = ([name]: readonly [string, unknown]) => name === "roleId" || Object.hasOwn(initialOwn, name)
  const own = Object.entries(value).filter(isOwn)
  const terms = Object.entries(value).filter((entry) => !isOwn(entry))
  return { ...Object.fromEntries(own), terms: Object.fromEntries(terms), faults }
}

const bodyOver = (table: Table, read: (request: ParameterReader) => Flat): Body<AppRoleInput> => ({
  table,
  decode: (request) => nested(read(request)),
  encode: (input) => members.input.encode(flat(input)),
})
const roleBody = bodyOver(members.input.table, members.input.decode)

const role: Answer<AppRoleView, (name: string) => AppRoleView> = dataOf(
  members.table,
  ({ terms, ...own }: AppRoleView) => ({ data: encodeMembers(members.table, { ...own, ...terms }, "native") }),
  (envelope) => (name) => {
    const { faults: _, terms, ...own } = nested(decodeAnswer(members.table, envelope.data))
    return { name, ...own, terms } as AppRoleView
  },
)

export const appRoles = contract({
  list: {
    operation: "list",
    path: "/role",
    summary: "Lists the names of roles.",
    rights: "list",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, (key) => key),
  },
  get: { operation: "read", path: "/role/:name", summary: "Returns a role.", rights: "read", answers: role },
  save: {
    operation: "write",
    path: "/role/:name",
    summary: "Creates a role, or changes it: parameters left out keep their values.",
    rights: "create or update",
    body: roleBody,
    answers: warnings,
  },
  delete: {
    operation: "delete",
    path: "/role/:name",
    summary: "Deletes a role with its secret ids. A role that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
})

/** Returns the endpoints of a role member with a path of its own, so that policies can allow it separately. */
const endpointsOfPart = (part: AppRolePart) => {
  const wireName = part.replaceAll("-", "_")
  const names = [wireName, `token_${wireName}`, ...(part === "secret-id-bound-cidrs" ? ["bound_cidr_list"] : [])]
  const found = members.input.table.members.filter((member) => names.includes(member.wireName))
  const table = { members: found, byWireName: new Map(found.map((member) => [member.wireName, member])) }
  const body = bodyOver(table, (request) =>
    members.input.decode({ decode: request.decode, read: () => request.read(table as never) }),
  )
  const answers: Answer<AppRoleInput> = dataOf(
    table,
    (input: AppRoleInput) => ({ data: members.input.encode(flat(input)) }),
    (envelope): AppRoleInput => {
      const { faults: _, terms = {}, ...own } = nested(decodeSomeAnswer(members.table, envelope.data))
      return Object.keys(terms).length === 0 ? own : { ...own, terms }
    },
  )
  const path = `/role/:name/${part}` as const
  const noun = found[0]?.wireName ?? wireName
  return contract({
    get: { operation: "read", path, summary: `Returns ${noun} of a role.`, rights: "read", answers },
    change: {
      operation: "write",
      path,
      summary: `Changes ${noun} of a role.`,
      rights: "create or update",
      body,
      answers: nothing,
    },
    reset: {
      operation: "delete",
      path,
      summary: `Sets ${noun} of a role to its default.`,
      rights: "delete",
      answers: nothing,
    },
  })
}
export const appRolePartContracts = Object.fromEntries(
  appRoleParts.map((part) => [part, endpointsOfPart(part)]),
) as Readonly<Record<AppRolePart, ReturnType<typeof endpointsOfPart>>>

const roleIdTable = fields({ roleId })
const roleIdBody: Body<string> = {
  table: roleIdTable,
  decode: (request) => request.decode(roleIdTable).roleId ?? "",
  encode: (id) => ({ role_id: id }),
}
export const roleIds = contract({
  get: {
    operation: "read",
    path: "/role/:name/role-id",
    summary: "Returns the role id of a role.",
    rights: "read",
    answers: dataOf(
      roleIdTable,
      (id: string) => ({ data: { role_id: id } }),
      (envelope) => decodeAnswer(roleIdTable, envelope.data).roleId,
    ),
  },
  change: {
    operation: "write",
    path: "/role/:name/role-id",
    summary: "Sets the role id of a role.",
    rights: "create or update",
    body: roleIdBody,
    answers: nothing,
  },
})

const secretId = parameter(text, "The secret id.", { example: "9d5e0d9b-6f3c-4a11-8a8d-2a0c4d4e9f10" })
const secretIdMembers = {
  metadata: parameter(
    stringMapText,
    "Metadata of its tokens: an object of strings, or a string with that object in JSON.",
    {
      example: '{"team":"platform"}',
    },
  ),
  cidrList: parameter(texts, "Ranges of addresses that logins with it can come from. Empty: those of the role.", {
    example: ["10.1.0.0/16"],
  }),
  tokenBoundCidrs: parameter(texts, "Ranges of addresses that its tokens can be used from. Empty: those of the role.", {
    example: ["10.1.0.0/16"],
  }),
  numUses: parameter(integer, "Logins that it is good for, at most those of the role. 0: any number.", { example: 1 }),
  ttlMs: parameter(seconds, "Lifetime, at most that of the role. 0: no end.", { example: "1h" }),
}
/** Parameters of a secret id that the server generates. */
const drawn = record(secretIdMembers, {
  unsupported: {
    secretId: parameter(
      unsupported(text, "; use custom-secret-id to set a secret id"),
      "Not supported here: use custom-secret-id.",
    ),
  },
})
const chosen = record({ secretId, ...secretIdMembers })
const chosenBody: Body<SecretIdInput> = {
  ...chosen.change,
  decode: (request) => ({ secretId: "", ...chosen.change.decode(request) }),
}

const optionalCount = zeroAsNull(integer)
const secretIdAccessor = parameter(text, "Name of the secret id that is no secret.", {
  wireName: "secret_id_accessor",
  example: "0e9c2f6e-3f0a-4c52-9d5e-0d9b6f3c2a11",
})
const limits = {
  ttlMs: parameter(optionalDuration, "Lifetime. 0: no end.", { wireName: "secret_id_ttl", example: 3_600 }),
  usesLeft: parameter(optionalCount, "Logins that are left. 0: any number.", {
    wireName: "secret_id_num_uses",
    example: 1,
  }),
}
const createdTable = fields({ secretId, accessor: secretIdAccessor, ...limits })
const created = dataOf(
  createdTable,
  (answer: CreatedSecretId) => ({ data: encodeMembers(createdTable, answer, "native"), warnings: answer.warnings }),
  (envelope): CreatedSecretId => ({ ...decodeAnswer(createdTable, envelope.data), warnings: envelope.warnings }),
)

/** Zero time of Go, which Vault clients read as no time. */
const noTime = "0001-01-01T00:00:00Z"
const instantOrNoTime: ParameterType<Instant | null> = {
  schema: z.codec(z.string(), z.custom<Instant | null>(), {
    decode: (value, context) => (value === noTime ? null : (parseInstant(value) ?? mistyped(context, value))),
    encode: (value) => (value === null ? noTime : formatInstant(value)),
  }),
  expected: "an RFC 3339 timestamp",
  type: "string",
}
const secretIdRecord = record<SecretId>({
  accessor: secretIdAccessor,
  ...limits,
  createdAt: parameter(exactInstant, "Time of creation.", {
    wireName: "creation_time",
    example: "2030-01-31T12:00:00.000Z",
  }),
  updatedAt: parameter(exactInstant, "Time of the last change; a use is a change if uses are counted.", {
    wireName: "last_updated_time",
    example: "2030-01-31T12:00:00.000Z",
  }),
  expiresAt: parameter(instantOrNoTime, "End, or 0001-01-01T00:00:00Z.", {
    wireName: "expiration_time",
    example: "2030-01-31T13:00:00.000Z",
  }),
  metadata: parameter(stringMap, "Metadata.", { example: { team: "platform" } }),
  cidrList: secretIdMembers.cidrList,
  tokenBoundCidrs: secretIdMembers.tokenBoundCidrs,
})

const refTable = fields({ secretId, accessor: secretIdAccessor })
const refBody = (
  refOf: (given: { readonly secretId?: string; readonly accessor?: string }) => SecretIdRef,
): Body<SecretIdRef> => ({
  table: refTable,
  decode: (request) => refOf(request.decode(refTable)),
  encode: (ref): Document => encodeMembers(refTable, ref, "native"),
})

const endpointsForRef = <const Segment extends string>(segment: Segment, body: Body<SecretIdRef>) => {
  const destroy = { summary: "Destroys a secret id.", path: `/role/:name/${segment}/destroy` as const, body } as const
  return contract({
    get: {
      operation: "write",
      path: `/role/:name/${segment}/lookup` as const,
      summary: "Returns a secret id.",
      rights: "update",
      readOnly: true,
      body,
      answers: data(secretIdRecord),
    },
    destroy: { ...destroy, operation: "write", rights: "update", answers: nothing },
    delete: { ...destroy, operation: "delete", rights: "delete", answers: nothing },
  })
}
export const secretIdsBySecret = endpointsForRef(
  "secret-id",
  refBody(({ secretId: given = "" }) => {
    if (given === "") throw invalid([{ field: ["secretId"], detail: "missing secret_id" }])
    return { secretId: given }
  }),
)
export const secretIdsByAccessor = endpointsForRef(
  "secret-id-accessor",
  refBody(({ accessor = "" }) => {
    if (accessor === "") throw invalid([{ field: ["secretIdAccessor"], detail: "missing secret_id_accessor" }])
    return { accessor }
  }),
)
export const secretIds = contract({
  list: {
    operation: "list",
    path: "/role/:name/secret-id",
    summary: "Lists the accessors of the secret ids of a role.",
    rights: "list",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, (key) => key),
  },
  create: {
    operation: "write",
    path: "/role/:name/secret-id",
    summary: "Creates a secret id.",
    rights: "create or update",
    body: drawn.change,
    answers: created,
  },
  createChosen: {
    operation: "write",
    path: "/role/:name/custom-secret-id",
    summary: "Creates a secret id of the client's choice.",
    rights: "create or update",
    body: chosenBody,
    answers: created,
  },
  tidy: {
    operation: "write",
    path: "/tidy/secret-id",
    summary: "Removes the secret ids that have ended.",
    rights: "update",
    answers: accepted,
  },
})

const credentialTable = fields({ roleId, secretId })
const credentials: Body<AppRoleCredentials> = {
  table: credentialTable,
  decode: (request) => ({ roleId: "", ...request.decode(credentialTable) }),
  encode: (given) => encodeMembers(credentialTable, given, "native"),
}
export const appRoleLogins = contract({
  logIn: {
    operation: "write",
    path: "/login",
    summary: "Logs in with a role id and a secret id.",
    rights: "none",
    open: true,
    body: credentials,
    answers: issuedToken,
  },
})
