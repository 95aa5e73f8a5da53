// Enrolment requests that wait for a decision (docs/enrolments.md). Vault has no such queue.
import {
  type EnrolmentListQuery,
  type EnrolmentView,
  type EnrolmentWithCsr,
  maxListedEnrolments,
} from "../../pki/enrolments/enrolment-api.ts"
import {
  enrolmentDeciders,
  enrolmentOperations,
  enrolmentProtocols,
  enrolmentStates,
} from "../../pki/enrolments/enrolment.ts"
import { contract, data, entries } from "./endpoint.ts"
import { decodeAnswer, type Document, encodeMembers } from "./format/parameters.ts"
import { bodyOf, fields, parameter } from "./record.ts"
import { enumOf, exactInstant, integer, nullable, text, texts } from "./types.ts"

const members = {
  id: parameter(text, "Id of the enrolment."),
  state: parameter(enumOf(...enrolmentStates), "State: pending, approved, denied or issued."),
  subject: parameter(text, "Subject of the CSR."),
  names: parameter(texts, "Common name and subject alternative names of the CSR."),
  requester: parameter(text, "Display name of the login that sent the request."),
  requesterAccessor: parameter(text, "Accessor of the auth method of that login."),
  protocol: parameter(enumOf(...enrolmentProtocols), "Protocol of the request."),
  operation: parameter(enumOf(...enrolmentOperations), "Operation of the protocol."),
  path: parameter(text, "Path below the mount that the request was sent to."),
  policy: parameter(text, "Path policy that signs the request: sign-verbatim, role:<name> or external-policy:<name>."),
  decider: parameter(
    enumOf(...enrolmentDeciders),
    "manual: approved or denied here. external-policy: the external policy service decides.",
  ),
  createdAt: parameter(exactInstant, "Time of the request."),
  expiresAt: parameter(exactInstant, "Time until which the enrolment is kept, whatever its state."),
  decidedAt: parameter(nullable(exactInstant), "Time of the decision."),
  decidedBy: parameter(text, "Name of the caller that decided. Empty: not decided."),
  comment: parameter(text, "Comment of the decision. The client gets that of a denial."),
  serialNumber: parameter(nullable(text), "Serial number of the issued certificate."),
  csrSha256: parameter(text, "SHA-256 of the CSR (DER), hexadecimal."),
}
const table = fields<EnrolmentView>(members)
const tableWithCsr = fields<EnrolmentWithCsr>({ ...members, csr: parameter(text, "CSR, as PEM.") })
const enrolment = {
  table,
  encode: (view: EnrolmentView): Document => encodeMembers(table, view, "native"),
  decode: (sent: unknown): EnrolmentView => decodeAnswer(table, sent),
}
const enrolmentWithCsr = {
  table: tableWithCsr,
  encode: (view: EnrolmentWithCsr): Document => encodeMembers(tableWithCsr, view, "native"),
  decode: (sent: unknown): EnrolmentWithCsr => decodeAnswer(tableWithCsr, sent),
}

const query = fields<Required<EnrolmentListQuery>>({
  after: parameter(text, "Id to begin behind."),
  limit: parameter(integer, "Longest list, at most 1000.", { example: 100 }),
  state: parameter(enumOf(...enrolmentStates), "Enrolments in this state only.", { example: "pending" }),
})
const decision = bodyOf(
  fields({
    comment: parameter(text, "Comment, at most 1024 characters.", { example: "Serial number checked on site" }),
  }),
)
const deciding = { operation: "write", rights: "create or update", body: decision, answers: data(enrolment) } as const

export const enrolments = contract({
  list: {
    operation: "list",
    path: "/enrolments",
    summary: "Lists enrolments that have not expired, oldest first, at most 1000 at once.",
    rights: "list",
    body: bodyOf(query),
    answers: entries<EnrolmentView>({
      key: ({ id }) => id,
      table,
      encode: enrolment.encode,
      decode: (_id, info) => enrolment.decode(info),
      maximum: maxListedEnrolments,
    }),
  },
  get: {
    operation: "read",
    path: "/enrolments/:enrolment_id",
    summary: "Returns an enrolment with its CSR.",
    rights: "read",
    answers: data(enrolmentWithCsr),
  },
  approve: {
    ...deciding,
    path: "/enrolments/:enrolment_id/approve",
    summary: "Approves a pending enrolment. The client gets its certificate when it repeats the request.",
  },
  deny: {
    ...deciding,
    path: "/enrolments/:enrolment_id/deny",
    summary: "Denies a pending enrolment.",
  },
})
