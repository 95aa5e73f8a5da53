// How much of a directory one account, one name or one address may use up. What there was is counted by what is stored of it, so
// that every server on a store counts alike and none forgets.
import { dayMs, hourMs, type Instant } from "../core/time.ts"
import type { MountId } from "../pki/mount.ts"
import type { RateLimits } from "../pki/settings/acme-settings.ts"
import type { AcmeAccountId } from "./account.ts"
import type { Identifier, ProvedIdentifier } from "./identifier.ts"
import { AcmeProblem } from "./problem.ts"

/** When the last but so many came about, counted from the newest; undefined where there were fewer since an instant. */
export interface Nth {
  readonly since: Instant
  /** From 1 on. */
  readonly nth: number
}

export interface AcmeRateStore {
  orderOfAccount(accountId: AcmeAccountId, asked: Nth): Promise<Instant | undefined>
  orderForName(mountId: MountId, name: Pick<Identifier, "type" | "value">, asked: Nth): Promise<Instant | undefined>
  /** By when the authorization was made that has failed. */
  failure(accountId: AcmeAccountId, identifier: ProvedIdentifier, asked: Nth): Promise<Instant | undefined>
  registration(mountId: MountId, address: string, asked: Nth): Promise<Instant | undefined>
  /** Remembered for as long as it counts. */
  register(registration: Registration): Promise<void>
  /** Those before an instant, which no limit looks at; the answer is how many, at most `limit`. */
  sweep(before: Instant, limit: number): Promise<number>
}

export interface Registration {
  readonly id: string
  readonly mountId: MountId
  readonly address: string
  readonly at: Instant
}

type Limit = keyof RateLimits

/** What each says where it is reached, and over which time it counts. */
const limits: Readonly<
  Record<Limit, { readonly windowMs: number; readonly says: (maximum: number, who: string) => string }>
> = {
  ordersPerAccount: {
    windowMs: 3 * hourMs,
    says: (maximum) => `This account has made ${maximum} orders within 3 hours, as many as orders_per_account allows.`,
  },
  ordersPerName: {
    windowMs: 7 * dayMs,
    says: (maximum, name) =>
      `There were ${maximum} orders for ${name} within 7 days, as many as orders_per_name allows.`,
  },
  accountsPerAddress: {
    windowMs: 3 * hourMs,
    says: (maximum) =>
      `${maximum} accounts were made from this address within 3 hours, as many as accounts_per_address allows.`,
  },
  failedValidations: {
    windowMs: hourMs,
    says: (maximum, name) =>
      `This account has failed ${maximum} times within an hour to prove ${name}, as often as failed_validations allows.`,
  },
}

/** After which registrations are forgotten. */
export const registrationsCountMs = limits.accountsPerAddress.windowMs

/** Throws `rateLimited` where as many have been as there may be, and says when the oldest of them counts no more. */
async function refuseBeyond(
  limit: Limit,
  { [limit]: maximum }: RateLimits,
  { now, who = "", find }: { now: Instant; who?: string; find: (asked: Nth) => Promise<Instant | undefined> },
): Promise<void> {
  if (maximum === 0) return
  const { windowMs, says } = limits[limit]
  const first = await find({ since: now - windowMs, nth: maximum })
  if (first === undefined) return
  throw new AcmeProblem("rateLimited", says(maximum, who), { retryAfterMs: first + windowMs - now })
}

export async function refuseOrdersBeyond(
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateStore },
  { mountId, accountId, identifiers, now }: OrderAsked,
): Promise<void> {
  await refuseBeyond("ordersPerAccount", settings, { now, find: (nth) => acmeRates.orderOfAccount(accountId, nth) })
  for (const { type, value } of identifiers)
    await refuseBeyond("ordersPerName", settings, {
      now,
      who: value,
      find: (nth) => acmeRates.orderForName(mountId, { type, value }, nth),
    })
}

interface OrderAsked {
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  readonly identifiers: readonly ProvedIdentifier[]
  readonly now: Instant
}

export const refuseFailuresBeyond = (
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateStore },
  { accountId, identifier, now }: { accountId: AcmeAccountId; identifier: ProvedIdentifier; now: Instant },
): Promise<void> =>
  refuseBeyond("failedValidations", settings, {
    now,
    who: identifier.value,
    find: (nth) => acmeRates.failure(accountId, identifier, nth),
  })

/** And counts this one, where there is such a limit and an address. */
export async function registerWithin(
  settings: RateLimits,
  { acmeRates }: { readonly acmeRates: AcmeRateStore },
  { id, mountId, address, now }: { id: AcmeAccountId; mountId: MountId; address: string | undefined; now: Instant },
): Promise<void> {
  if (address === undefined || settings.accountsPerAddress === 0) return
  await refuseBeyond("accountsPerAddress", settings, {
    now,
    find: (nth) => acmeRates.registration(mountId, address, nth),
  })
  await acmeRates.register({ id, mountId, address, at: now })
}
