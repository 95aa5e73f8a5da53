// Base of all use cases of one ACME directory: checks that it is served, and the account and nonce of a request. Every signed request
// uses up its nonce in the transaction that carries it out.
import { anonymous } from "../core/caller.ts"
import type { RecordKeyUse } from "../core/audit.ts"
import type { MountSnapshot } from "../pki/mounts/mount-snapshot.ts"
import { type MountAccess, mountAccess } from "../pki/pki-context.ts"
import { currentSnapshot, readMount, transactOnMount } from "../pki/mounts/with-mount-snapshot.ts"
import { issuerTerms } from "../pki/issuance/certify-approved.ts"
import type { AcmeContext, AcmeRepositories } from "./acme-context.ts"
import { type RateLimits, rateLimitsFor } from "../pki/mounts/acme-settings.ts"
import type { AccountKeys, AccountSummary, AcmeAccount, AcmeAccountId } from "./accounts/account.ts"
import type { AccountSigner } from "./acme.ts"
import type { AcmeMetrics } from "./acme-metrics.ts"
import type { AcmeQueues } from "./work-queues.ts"
import {
  type Decider,
  deciderFor,
  type Directory,
  directoryPath,
  eabPolicyOf,
  isServed,
  openDirectory,
  type ServerRules,
} from "./directory.ts"
import { type NonceAuthority, readNonce, usedNonce } from "./nonces/nonce.ts"
import { type RequestedOrder, type OrderTerms, rejectUnissuable } from "./orders/order-policy.ts"
import { accountNotValid, AcmeProblem, malformed, unauthorized } from "./problem.ts"

export interface AcmeTools {
  readonly nonceSigner: NonceAuthority["signer"]
  readonly accountKeys: AccountKeys
  readonly rules: ServerRules
  readonly metrics: AcmeMetrics
  /** Undefined if only other servers run the queues. */
  readonly queues: () => AcmeQueues | undefined
}

export abstract class DirectoryService {
  protected readonly access: MountAccess<AcmeRepositories>
  protected readonly tools: AcmeTools
  protected readonly directory: Directory
  /** Path of the directory below the mount. */
  protected readonly path: string
  #entered: Promise<MountSnapshot> | undefined

  constructor(
    context: AcmeContext,
    tools: AcmeTools,
    mountPath: string,
    directory: Directory,
    recordKeyUse: RecordKeyUse,
  ) {
    this.access = mountAccess(context, mountPath, anonymous, recordKeyUse)
    this.tools = tools
    this.directory = directory
    this.path = directoryPath(directory)
  }

  /** Returns the snapshot of the mount. Throws if the mount does not serve ACME. */
  protected async served(): Promise<MountSnapshot> {
    const snapshot = await currentSnapshot(this.access)
    if (!isServed(snapshot)) throw notServed()
    return snapshot
  }

  /** Returns the first snapshot that this request used. Suitable for answers only: changes check the mount again in their transaction. */
  protected entered(): Promise<MountSnapshot> {
    return (this.#entered ??= this.#found())
  }

  /** Uses the mount list that routed the request, without reading it again: a changed mount has another snapshot. */
  async #found(): Promise<MountSnapshot> {
    const { mountDirectory, mountSnapshots, cacheVersions } = this.access.context
    const mount = mountDirectory.cached?.find(this.access.mountPath)
    const snapshot = mount && (await mountSnapshots.newest(cacheVersions, mount))
    if (snapshot === undefined) return this.served()
    if (!isServed(snapshot)) throw notServed()
    return snapshot
  }

  protected readonly baseOf = ({ settings }: MountSnapshot): string => `${settings.cluster.path}/${this.path}`

  /** Identifies this directory among those of all mounts. */
  protected readonly scopeOf = ({ mount }: MountSnapshot): string => `${mount.id} ${this.path}`

  protected limitsOf({ settings }: MountSnapshot): RateLimits {
    return rateLimitsFor(settings.acme, this.path)
  }

  protected nonceAuthority(snapshot: MountSnapshot): NonceAuthority {
    return { signer: this.tools.nonceSigner, scope: this.scopeOf(snapshot) }
  }

  protected async once<T>(
    nonce: string,
    work: (snapshot: MountSnapshot, repositories: AcmeRepositories) => Promise<T>,
  ): Promise<T> {
    const now = this.access.context.runtime.clock.now()
    const read = readNonce(nonce, this.nonceAuthority(await this.entered()), now)
    return await transactOnMount(this.access, async (snapshot, repositories) => {
      if (!isServed(snapshot)) throw notServed()
      if (!(await repositories.acmeNonces.redeem(read.digest, read.expiresAt))) throw usedNonce()
      return await work(snapshot, repositories)
    })
  }

  protected asAccount<T>(
    signer: AccountSigner,
    work: (snapshot: MountSnapshot, repositories: AcmeRepositories, account: AccountSummary) => Promise<T>,
  ): Promise<T> {
    return this.once(signer.nonce, async (snapshot, repositories) => {
      const account = await this.signedFor(snapshot, repositories, signer)
      return await work(snapshot, repositories, account)
    })
  }

  protected async accountIn(
    { mount }: MountSnapshot,
    { acmeAccounts }: AcmeRepositories,
    id: AcmeAccountId,
  ): Promise<AcmeAccount> {
    return this.#ofThisDirectory(await acmeAccounts.find(mount.id, id))
  }

  /** Throws if the account does not exist or belongs to another directory. */
  #ofThisDirectory<Account extends Pick<AcmeAccount, "directory">>(account: Account | undefined): Account {
    if (account === undefined || account.directory !== this.path)
      throw new AcmeProblem("accountDoesNotExist", "The account does not exist in this directory.")
    return account
  }

  protected async signedFor(
    snapshot: MountSnapshot,
    repositories: AcmeRepositories,
    signer: AccountSigner,
  ): Promise<AccountSummary> {
    const account = this.#ofThisDirectory(await repositories.acmeAccounts.summary(snapshot.mount.id, signer.accountId))
    if (account.status !== "valid") throw accountNotValid(account.status)
    if (account.thumbprint !== signer.thumbprint)
      throw unauthorized("The account's key has changed; sign with the current key.")
    if (account.bindingId === null && eabPolicyOf(snapshot.settings.acme, this.tools.rules) === "always-required")
      throw new AcmeProblem(
        "externalAccountRequired",
        "The account has no external account binding, which this directory requires.",
      )
    return account
  }

  /** Returns the key of an unused binding of this directory. */
  protected async bindingKey(id: string): Promise<Uint8Array | undefined> {
    return readMount(this.access, async ({ mount }, { acmeAccounts }) => {
      const binding = await acmeAccounts.binding(mount.id, id)
      const now = this.access.context.runtime.clock.now()
      const isOver = binding !== undefined && binding.expiresAt !== null && binding.expiresAt <= now
      return binding === undefined || binding.directory !== this.path || isOver ? undefined : binding.key
    })
  }

  protected issuing(snapshot: MountSnapshot, profile: string | null) {
    const open = openDirectory(snapshot, this.directory)
    const decider = deciderFor(snapshot, this.directory, open, profile)
    const terms = (by: RoleDecider): OrderTerms => ({
      role: by.role,
      settings: snapshot.settings.acme,
      ...issuerTerms(this.access, snapshot, by),
    })
    return { decider, terms }
  }

  protected rejectUnissuableOrder(
    snapshot: MountSnapshot,
    requested: RequestedOrder & { readonly profile: string | null },
  ): void {
    const { decider, terms } = this.issuing(snapshot, requested.profile)
    if (decider.kind === "role") rejectUnissuable(requested, terms(decider))
    else if (requested.notBefore !== null || requested.notAfter !== null)
      throw malformed('"notBefore" and "notAfter" are not supported; the external policy service decides the validity.')
  }
}

export type RoleDecider = Decider & { readonly kind: "role" }
export const notServed = () => new AcmeProblem("malformed", "ACME is not enabled here.", { status: 404 })
