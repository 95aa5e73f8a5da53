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

/** Names of one list. */
const namesMaximum = 100_000
const idsPerRead = 1_000
/** What ends within one request; the rest soon after. */
const endedAtOnceMaximum = 10_000
const givenUpPerWrite = 1_000
/** A million leases below one path. */
const givenUpWritesMaximum = 1_000
const idMaximum = 1_024
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
    while (names.length < namesMaximum) {
      const from = after
      const ids = await storage.read(({ certificateLeases }) =>
        certificateLeases.ids({ prefix: path, after: from, limit: idsPerRead }, now),
      )
      const page = namesIn(ids, start)
      names.push(...page.names)
      if (page.next === undefined) break
      after = page.next
    }
    return names.slice(0, namesMaximum)
  }

  async revoke(id: string, address?: LeaseAddress<RevokeEndpoint>): Promise<void> {
    this.#authorize(id, address ?? { endpoint: "sys/leases/revoke", inPath: false })
    rejectNoId(id)
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    // The row of the lease is removed and the version of its mount's revocations written (`revoke-service.ts`).
    const isRevoked = await storage.transact(async (stores) => {
      const lease = await stores.certificateLeases.find(id, now)
      return lease !== undefined && (await endLease(this.#context, stores, lease, now))
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
    for (let writes = 0; writes < givenUpWritesMaximum; writes += 1) {
      const count = await storage.transact(({ certificateLeases }) =>
        certificateLeases.giveUp({ prefix: path, limit: givenUpPerWrite }),
      )
      if (count < givenUpPerWrite) break
    }
    wakeJob(endLeasesJob.name)
    return ["The leases are being revoked. Progress is in the server's log."]
  }

  /** No mount is below `auth/`, so that there is no lease of a certificate. */
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

  /** False where there are more than one request has time for. */
  async #endAll(path: string): Promise<boolean> {
    const { storage, runtime } = this.#context
    const now = runtime.clock.now()
    for (let ended = 0; ended < endedAtOnceMaximum; ended += leasesPerWrite) {
      const count = await storage.transact(async (stores) => {
        const leases = await stores.certificateLeases.within({ prefix: path, limit: leasesPerWrite }, now)
        for (const lease of leases) await endLease(this.#context, stores, lease, now)
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

/** The words that existing clients look for. */
function rejectNoId(id: string): void {
  if (id === "") throw invalid([{ field: ["leaseId"], detail: "lease_id must be specified" }])
  if (id.length > idMaximum)
    throw invalid([{ field: ["leaseId"], detail: `lease_id must not be longer than ${idMaximum} characters` }])
}

/** The highest code point, after which nothing of a folder comes. */
const last = "\u{10FFFF}"

/** The first of each folder stands for all of it. `next` is undefined behind the last id. */
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
