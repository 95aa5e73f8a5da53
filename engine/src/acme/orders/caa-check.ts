// Checks CAA records (RFC 8659) when a name is proved, and again before a certificate is signed if the first check is too old. "Before
// issuing a certificate, a compliant CA MUST check" (section 3).
import { secondMs } from "../../core/time.ts"
import { type Timers, within } from "../../core/timers.ts"
import type { MountSnapshot } from "../../pki/mounts/mount-snapshot.ts"
import type { AcmeAccountId } from "../accounts/account.ts"
import type { ProvedIdentifier } from "./identifier.ts"
import { AcmeProblem, type Subproblem } from "../problem.ts"
import {
  type AcmeNetwork,
  attemptTimeoutMs,
  type CaaTerms,
  caaProblem,
  type NetworkTerms,
} from "../validation/validation.ts"

/** Longer than the CAA checks of all names of an order. */
export const caaLeaseMs = 60 * secondMs

export interface CaaQuery {
  readonly identifier: ProvedIdentifier
  readonly caa: CaaTerms
}

export const networkTermsOf = ({ settings: { acme } }: MountSnapshot): NetworkTerms => ({
  permittedRanges: acme.challengePermittedIpRanges,
  excludedRanges: acme.challengeExcludedIpRanges,
  resolver: acme.dnsResolver,
})

export const requiresCaaCheck = ({ settings: { acme } }: MountSnapshot): boolean => acme.caaIdentities.length > 0

/**
 * Returns the terms of the CAA check of a name. Returns undefined for an address, which has no CAA records, and if the mount has no
 * `caa_identities`.
 */
export const caaQueryFor = (
  snapshot: MountSnapshot,
  { type }: ProvedIdentifier,
  { directory, accountId }: { readonly directory: string; readonly accountId: AcmeAccountId },
): Omit<CaaTerms, "method"> | undefined => {
  const { acme, cluster } = snapshot.settings
  return type === "dns" && requiresCaaCheck(snapshot)
    ? { identities: acme.caaIdentities, accountUrl: `${cluster.path}/${directory}/account/${accountId}` }
    : undefined
}

/** Throws `caa` if the records of a name forbid to issue, or `dns` if they cannot be read in time. */
export async function assertCaaPermits(
  questions: readonly CaaQuery[],
  { network, terms, timers }: { readonly network: AcmeNetwork; readonly terms: NetworkTerms; readonly timers: Timers },
): Promise<void> {
  const answers = await within(
    timers,
    attemptTimeoutMs,
    Promise.all(
      questions.map(async ({ identifier, caa }): Promise<Subproblem[]> => {
        const problem = await caaProblem(identifier, caa, network, terms)
        return problem === undefined
          ? []
          : [{ ...problem, identifier: { type: identifier.type, value: identifier.value } }]
      }),
    ),
  )
  if (answers === undefined) {
    const seconds = attemptTimeoutMs / secondMs
    throw new AcmeProblem(
      "dns",
      `The CAA records of the order's identifiers could not be read within ${seconds} seconds.`,
    )
  }
  const subproblems = answers.flat()
  const [first] = subproblems
  if (first === undefined) return
  const { type } = subproblems.find((one) => one.type === "caa") ?? first
  const detail =
    subproblems.length === 1
      ? first.detail
      : `${subproblems.length} of the identifiers are rejected; see "subproblems".`
  throw new AcmeProblem(type, detail, { subproblems })
}
