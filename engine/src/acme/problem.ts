// Problem documents of the ACME server (RFC 8555, section 6.7; RFC 7807). Each type has one status.
import type { Id } from "../core/ids.ts"

/** Types in the namespace `urn:ietf:params:acme:error:`. `alreadyReplaced` is from RFC 9773, `invalidProfile` from the profiles draft. */
export const problemStatuses = {
  accountDoesNotExist: 400,
  alreadyReplaced: 409,
  alreadyRevoked: 400,
  badCSR: 400,
  badNonce: 400,
  badPublicKey: 400,
  badRevocationReason: 400,
  badSignatureAlgorithm: 400,
  caa: 403,
  compound: 400,
  connection: 400,
  dns: 400,
  externalAccountRequired: 403,
  incorrectResponse: 403,
  invalidContact: 400,
  invalidProfile: 400,
  malformed: 400,
  orderNotReady: 403,
  rateLimited: 429,
  rejectedIdentifier: 400,
  serverInternal: 500,
  tls: 400,
  unauthorized: 403,
  unsupportedContact: 400,
  unsupportedIdentifier: 400,
  userActionRequired: 403,
} as const
export type ProblemType = keyof typeof problemStatuses

/** Problem document as stored with a challenge or an order, and as sent. */
export interface Problem {
  readonly type: ProblemType
  /** A sentence for people. It contains nothing that a third-party server answered. */
  readonly detail: string
  readonly subproblems?: readonly Subproblem[]
}

export interface Subproblem extends Problem {
  readonly identifier: { readonly type: string; readonly value: string }
}

export interface ProblemOptions {
  readonly subproblems?: readonly Subproblem[]
  /** Overrides the status of the type: 404 for missing resources, 409 for the key of another account. */
  readonly status?: number
  readonly retryAfterMs?: number
  /** Account that conflicts with the request. */
  readonly accountId?: Id<"acct">
  /** Supported algorithms, with `badSignatureAlgorithm`. */
  readonly algorithms?: readonly string[]
}

export class AcmeProblem extends Error {
  readonly problem: Problem
  readonly status: number
  readonly options: ProblemOptions

  constructor(type: ProblemType, detail: string, options: ProblemOptions = {}) {
    super(detail)
    this.name = "AcmeProblem"
    const { subproblems = [] } = options
    this.problem = subproblems.length === 0 ? { type, detail } : { type, detail, subproblems }
    this.status = options.status ?? problemStatuses[type]
    this.options = options
  }
}

export const malformed = (detail: string): AcmeProblem => new AcmeProblem("malformed", detail)
export const unauthorized = (detail: string): AcmeProblem => new AcmeProblem("unauthorized", detail)
/** RFC 8555, section 7.3.6: a request of an account that is deactivated, or disabled, is answered with 401. */
export const accountNotValid = (status: string): AcmeProblem =>
  new AcmeProblem("unauthorized", `The account is ${status}.`, { status: 401 })
/** Missing resources and those of other accounts have the same answer. */
export const nothingThere = (what: string): AcmeProblem =>
  new AcmeProblem("malformed", `The ${what} does not exist.`, { status: 404 })
