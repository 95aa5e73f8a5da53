import { repeatableRead } from "../../core/storage.ts"
import { authorizePath } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { invalid, unprocessable } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import type { PkiContext } from "../../pki/pki-context.ts"
import { refreshCrlsJob } from "../../pki/crl/refresh-crls.ts"
import { endLease, endLeasesJob, leasesPerWrite } from "./expire-leases.ts"
import type {
  LeaseAddress,
  LeaseView,
  RenewEndpoint,
  RevokeEndpoint,
  RevokePrefixEndpoint,
  ServedLeases,
} from "./lease.ts"

/** Maximum number of names in one list. */
const maxNames = 100_000
const idsPerRead = 1_000
/** Leases that one synchronous request revokes. The job revokes the rest. */
const maxEndedAtOnce = 10_000
const givenUpPerWrite = 1_000
/** Together, a million leases below one path. */
const maxGivenUpWrites = 1_000
const maxId = 1_024
const tokensPerWrite = 1_000

export class LeaseService implements ServedLeases {
  readonly #context: PkiContext
  readonly #caller: Caller

  constructor(context: PkiContext, caller: Caller) {
    this.#context = context
    this.#caller = caller
  }

  async lookup(id: string, address?: LeaseAddress<RenewEndpoint>): Promise<LeaseView> {
    this.#authorize(id, address ?? { endpoint: "sys/leases/lookup", inPath: false })
    rejectNoId(id)
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    const lease = await storage.read(({ certificateLeases }) => certificateLeases.find(id, now))
    if (lease === undefined) throw unprocessable(address === undefined ? "invalid lease" : "lease not found")
    const { issuedAt, expiresAt } = lease
    return { id, issuedAt, expiresAt, remainingMs: Math.floor((expiresAt - now) / secondMs) * secondMs }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const path = prefixOf(prefix)
    const below = path === "" ? "" : `/${path}`
    authorizePath(this.#caller, { path: `sys/leases/lookup${below}`, capability: "list", sudo: true })
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    const start = path === "" ? "" : `${path}/`
    const names: string[] = []
    let after = start
    while (names.length < maxNames) {
      const from = after
      const ids = await storage.read(({ certificateLeases }) =>
        certificateLeases.ids({ prefix: path, after: from, limit: idsPerRead }, now),
      )
      const page = namesIn(ids, start)
      names.push(...page.names)
      if (page.next === undefined) break
      after = page.next
    }
    return names.slice(0, maxNames)
  }

  async revoke(id: string, address?: LeaseAddress<RevokeEndpoint>): Promise<void> {
    this.#authorize(id, address ?? { endpoint: "sys/leases/revoke", inPath: false })
    rejectNoId(id)
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    // Repeatable read is enough: the row of the lease is deleted and the version of its mount's revocations written
    // (`record-revocation.ts`).
    const isRevoked = await storage.transact(async (repositories) => {
      const lease = await repositories.certificateLeases.find(id, now)
      return lease !== undefined && (await endLease(this.#context, repositories, lease, now))
    }, repeatableRead)
    if (isRevoked) this.#refreshLists()
  }

  async revokePrefix(
    prefix: string,
    {
      sync = false,
      endpoint = "sys/leases/revoke-prefix",
    }: { readonly sync?: boolean; readonly endpoint?: RevokePrefixEndpoint } = {},
  ): Promise<readonly string[]> {
    const path = prefixOf(prefix)
    authorizePath(this.#caller, { path: `${endpoint}/${path}`, capability: "update", sudo: true })
    if (path === "") throw invalid([{ field: ["prefix"], detail: "prefix can't be blank" }])
    if (path === "auth" || path.startsWith("auth/")) return this.#endTokens(path)
    if (sync && (await this.#endAll(path))) return []
    const { storage, wakeJob } = this.#context
    for (let writes = 0; writes < maxGivenUpWrites; writes += 1) {
      const count = await storage.transact(({ certificateLeases }) =>
        certificateLeases.giveUp({ prefix: path, limit: givenUpPerWrite }),
      )
      if (count < givenUpPerWrite) break
    }
    wakeJob(endLeasesJob.name)
    return ["The leases are being revoked. Progress is in the server's log."]
  }

  /** Deletes the tokens that were created below a path. No mount is below `auth/`, so there are no leases of certificates. */
  async #endTokens(path: string): Promise<readonly string[]> {
    let after: string | undefined = ""
    while (after !== undefined) {
      const page = { after, limit: tokensPerWrite }
      after = await this.#context.storage.transact(async ({ serviceTokens, identity }) => {
        const next = await serviceTokens.removeMadeAt(path, page)
        await identity.bumpCacheVersion()
        return next
      })
    }
    return []
  }

  /** Returns false if there are more leases than one request can revoke. */
  async #endAll(path: string): Promise<boolean> {
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    for (let ended = 0; ended < maxEndedAtOnce; ended += leasesPerWrite) {
      const count = await storage.transact(async (repositories) => {
        const leases = await repositories.certificateLeases.within({ prefix: path, limit: leasesPerWrite }, now)
        for (const lease of leases) await endLease(this.#context, repositories, lease, now)
        return leases.length
      })
      if (count > 0) this.#refreshLists()
      if (count < leasesPerWrite) return true
    }
    return false
  }

  #refreshLists(): void {
    const { crlPublisher, wakeJob } = this.#context
    if (crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
  }

  #authorize(id: string, { endpoint, inPath }: LeaseAddress<string>): void {
    authorizePath(this.#caller, { path: inPath ? `${endpoint}/${id}` : endpoint, capability: "update" })
  }
}

const prefixOf = (text: string): string => text.replace(/^\/+/, "").replace(/\/+$/, "")

/** Throws with the error texts that Vault clients match. */
function rejectNoId(id: string): void {
  if (id === "") throw invalid([{ field: ["leaseId"], detail: "lease_id must be specified" }])
  if (id.length > maxId)
    throw invalid([{ field: ["leaseId"], detail: `lease_id must not be longer than ${maxId} characters` }])
}

/** Highest code point, which sorts after all ids of a folder. */
const last = "\u{10FFFF}"

/** Returns the names up to and including the first folder, whose other ids are skipped. `next` is undefined after the last id. */
function namesIn(
  ids: readonly string[],
  start: string,
): { readonly names: readonly string[]; readonly next: string | undefined } {
  const names: string[] = []
  for (const id of ids) {
    const rest = id.slice(start.length)
    const slash = rest.indexOf("/")
    if (slash < 0) {
      names.push(rest)
      continue
    }
    const folder = rest.slice(0, slash + 1)
    return { names: [...names, folder], next: `${start}${folder}${last}` }
  }
  return { names, next: ids.length < idsPerRead ? undefined : ids.at(-1) }
}
