// Rate limits of one account, name or address in a directory. Counts come from the database, so all servers agree and a restart loses
// nothing. Orders and failures count for their account only. For a name, only issued certificates count, because other accounts can cause
// orders and failures (https://letsencrypt.org/docs/rate-limits/).
import { dayMs, hourMs, type Instant, minuteMs } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { RateLimits } from "../../pki/mounts/acme-settings.ts"
import type { AcmeAccountId } from "../accounts/account.ts"
import { type Identifier, provedBy, type ProvedIdentifier } from "./identifier.ts"
import type { AcmeOrderId, AuthorizationId } from "./order.ts"
import { AcmeProblem } from "../problem.ts"

/** Query for the time of the nth newest event. The result is undefined if there are fewer since `since`. */
export interface Nth {
  readonly since: Instant
  /** Events after this instant, stored while a server's clock was ahead, do not count. */
  readonly until: Instant
  /** Position counted from the newest event, from 1. */
  readonly nth: number
}

export interface AcmeRateRepository {
  orderOfAccount(accountId: AcmeAccountId, query: Nth): Promise<Instant | undefined>
  /** Queries failed authorizations by creation time. */
  failure(accountId: AcmeAccountId, identifier: ProvedIdentifier, query: Nth): Promise<Instant | undefined>
  registration(mountId: MountId, source: string, query: Nth): Promise<Instant | undefined>
  /** Stores an event until it no longer counts. */
  register(registration: Registration): Promise<void>
  /** Removes events before an instant, which no limit counts. Returns their number, at most `limit`. */
  sweep(before: Instant, limit: number): Promise<number>
}

/** Event that counts: a new account, an authorization without an order, or a certificate for a name. */
export interface Registration {
  readonly id: string
  readonly mountId: MountId
  /** Client address of an account, account id of an authorization, or name of a certificate. */
  readonly source: string
  readonly at: Instant
}

/** Setting, time window and message of a limit. */
interface Limit {
  readonly setting: keyof RateLimits
  readonly windowMs: number
  readonly message: (maximum: number, subject: string) => string
}

const limits = {
  ordersPerAccount: {
    setting: "ordersPerAccount",
    windowMs: 3 * hourMs,
    message: (maximum) => `This account created ${maximum} orders within 3 hours, the maximum of orders_per_account.`,
  },
  authorizationsPerAccount: {
    setting: "ordersPerAccount",
    windowMs: 3 * hourMs,
    message: (maximum) =>
      `This account created ${maximum} authorizations without an order within 3 hours, the maximum of orders_per_account.`,
  },
  ordersPerName: {
    setting: "ordersPerName",
    windowMs: 7 * dayMs,
    message: (maximum, name) =>
      `${maximum} certificates were issued for ${name} within 7 days, the maximum of orders_per_name.`,
  },
  accountsPerAddress: {
    setting: "accountsPerAddress",
    windowMs: 3 * hourMs,
    message: (maximum) =>
      `${maximum} accounts were created from this address within 3 hours, the maximum of accounts_per_address.`,
  },
  failedValidations: {
    setting: "failedValidations",
    windowMs: hourMs,
    message: (maximum, name) =>
      `This account failed ${maximum} validations of ${name} within an hour, the maximum of failed_validations.`,
  },
} as const satisfies Readonly<Record<string, Limit>>

/** Time after which no limit counts a registration. */
export const registrationsCountMs = Math.max(
  limits.accountsPerAddress.windowMs,
  limits.authorizationsPerAccount.windowMs,
  limits.ordersPerName.windowMs,
)

/** All servers of a database count together, so their clocks may differ. */
const toleranceMs = minuteMs

/** Throws `rateLimited` if the limit is reached, with the time until the oldest event no longer counts. */
async function rejectBeyond(
  limit: keyof typeof limits,
  settings: RateLimits,
  { now, subject = "", find }: { now: Instant; subject?: string; find: (query: Nth) => Promise<Instant | undefined> },
): Promise<void> {
  const { setting, windowMs, message }: Limit = limits[limit]
  const maximum = settings[setting]
  if (maximum === 0) return
  const first = await find({ since: now - windowMs, until: now + toleranceMs, nth: maximum })
  if (first === undefined) return
  throw new AcmeProblem("rateLimited", message(maximum, subject), { retryAfterMs: first + windowMs - now })
}

export async function rejectOrdersBeyond(
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateRepository },
  { mountId, accountId, identifiers, now }: OrderAsked,
): Promise<void> {
  await rejectBeyond("ordersPerAccount", settings, { now, find: (nth) => acmeRates.orderOfAccount(accountId, nth) })
  for (const name of distinctNames(identifiers))
    await rejectBeyond("ordersPerName", settings, {
      now,
      subject: name.value,
      find: (nth) => acmeRates.registration(mountId, sourceOf(name), nth),
    })
}

/** Counts a certificate for each of its names, in the transaction that stores it. */
export async function registerCertificate(
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateRepository },
  { mountId, orderId, identifiers, now }: Issued,
): Promise<void> {
  if (settings.ordersPerName === 0) return
  for (const name of distinctNames(identifiers.map(provedBy))) {
    const source = sourceOf(name)
    await acmeRates.register({ id: `${orderId} ${source}`, mountId, source, at: now })
  }
}

interface Issued {
  readonly mountId: MountId
  readonly orderId: AcmeOrderId
  readonly identifiers: readonly Identifier[]
  readonly now: Instant
}

/** A name and its wildcard count as one. */
const distinctNames = (identifiers: readonly ProvedIdentifier[]): readonly ProvedIdentifier[] => [
  ...new Map(identifiers.map((identifier) => [sourceOf(identifier), identifier])).values(),
]

const sourceOf = ({ type, value }: ProvedIdentifier): string => `${type} ${value}`

interface OrderAsked {
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  readonly identifiers: readonly ProvedIdentifier[]
  readonly now: Instant
}

export const rejectFailuresBeyond = (
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateRepository },
  { accountId, identifier, now }: { accountId: AcmeAccountId; identifier: ProvedIdentifier; now: Instant },
): Promise<void> =>
  rejectBeyond("failedValidations", settings, {
    now,
    subject: identifier.value,
    find: (nth) => acmeRates.failure(accountId, identifier, nth),
  })

/** Throws `rateLimited`, or counts the account, if its address is known and limited. */
export async function registerWithin(
  settings: RateLimits,
  repositories: { readonly acmeRates: AcmeRateRepository },
  {
    address,
    ...made
  }: Omit<RateLimitRequest, "source"> & { readonly id: AcmeAccountId; readonly address: string | undefined },
): Promise<void> {
  if (address !== undefined)
    await registerOf("accountsPerAddress", settings, repositories, { ...made, source: address })
}

/** Does the same for an authorization without an order. Authorizations of orders are limited by the limit of orders. */
export const registerAuthorizationWithin = (
  settings: RateLimits,
  repositories: { readonly acmeRates: AcmeRateRepository },
  {
    accountId,
    ...made
  }: Omit<RateLimitRequest, "source"> & { readonly id: AuthorizationId; readonly accountId: AcmeAccountId },
): Promise<void> => registerOf("authorizationsPerAccount", settings, repositories, { ...made, source: accountId })

interface RateLimitRequest extends Omit<Registration, "at"> {
  readonly now: Instant
}

async function registerOf(
  limit: "accountsPerAddress" | "authorizationsPerAccount",
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateRepository },
  { id, mountId, source, now }: RateLimitRequest,
): Promise<void> {
  if (settings[limits[limit].setting] === 0) return
  await rejectBeyond(limit, settings, { now, find: (nth) => acmeRates.registration(mountId, source, nth) })
  await acmeRates.register({ id, mountId, source, at: now })
}
