// What all use cases of one ACME directory stand on: whether it is served, who signs, and what is signed. Every request that is
// signed uses up its nonce in the transaction in which it takes effect.
import { anonymous } from "../core/caller.ts"
import type { RecordKeyUse } from "../core/audit.ts"
import { isEngineError } from "../core/errors.ts"
import type { Signer } from "../core/signing.ts"
import type { Instant } from "../core/time.ts"
import type { Authority } from "../pki/authority.ts"
import type { PkiContext, PkiStores } from "../pki/authority-service.ts"
import type { CertificateRecord } from "../pki/certificates/certificate.ts"
import { IssuingService } from "../pki/certificates/issuing-service.ts"
import { issuanceOf } from "../pki/issue/issuance.ts"
import { namesOf } from "../pki/issue/leaf.ts"
import { ExternalPolicyService } from "../pki/external-policy/external-policy-service.ts"
import { leafContent } from "../pki/policy/content.ts"
import { acmeMaxTtlMs } from "../pki/settings/acme-settings.ts"
import { writePem } from "../x509/pem.ts"
import type { AcmeAccount, AcmeAccountId } from "./account.ts"
import type { AccountSigner } from "./acme.ts"
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
import type { ReadCsr } from "./given.ts"
import { type NonceGround, readNonce, usedNonce } from "./nonce.ts"
import type { AcmeOrder } from "./order.ts"
import {
  approveCsr,
  type Asked,
  namesProblem,
  type OrderTerms,
  refuseOtherCsr,
  refuseUnissuable,
} from "./order-policy.ts"
import { AcmeProblem, malformed, unauthorized } from "./problem.ts"

export interface AcmeTools {
  /** Of nonces. */
  readonly signer: Signer
  readonly rules: ServerRules
  /** Tells those who look at challenges that there is something to look at. */
  readonly kick: () => void
}

export abstract class DirectoryService extends IssuingService {
  protected readonly tools: AcmeTools
  protected readonly directory: Directory
  /** Of the directory, below the mount. */
  protected readonly path: string

  constructor(
    context: PkiContext,
    tools: AcmeTools,
    mountPath: string,
    directory: Directory,
    recordKeyUse: RecordKeyUse,
  ) {
    super(context, mountPath, anonymous, recordKeyUse)
    this.tools = tools
    this.directory = directory
    this.path = directoryPath(directory)
  }

  /** The mount, while ACME is served there. */
  protected async served(): Promise<Authority> {
    const authority = await this.current()
    if (!isServed(authority)) throw notServed()
    return authority
  }

  protected readonly baseOf = ({ settings }: Authority): string => `${settings.cluster.path}/${this.path}`

  protected readonly nonceGround = ({ mount }: Authority): NonceGround => ({
    signer: this.tools.signer,
    scope: `${mount.id} ${this.path}`,
  })

  protected async once<T>(nonce: string, work: (authority: Authority, stores: PkiStores) => Promise<T>): Promise<T> {
    const now = this.context.runtime.clock.now()
    const read = readNonce(nonce, this.nonceGround(await this.served()), now)
    return this.transact(async (authority, stores) => {
      if (!isServed(authority)) throw notServed()
      if (!(await stores.acmeNonces.redeem(read.digest, read.expiresAt))) throw usedNonce()
      return work(authority, stores)
    })
  }

  protected asAccount<T>(
    signer: AccountSigner,
    work: (authority: Authority, stores: PkiStores, account: AcmeAccount) => Promise<T>,
  ): Promise<T> {
    return this.once(signer.nonce, async (authority, stores) =>
      work(authority, stores, await this.signedFor(authority, stores, signer)),
    )
  }

  protected async accountIn(
    { mount }: Authority,
    { acmeAccounts }: PkiStores,
    id: AcmeAccountId,
  ): Promise<AcmeAccount> {
    const account = await acmeAccounts.find(mount.id, id)
    // Accounts belong to one directory (specification 4.1, rule 5).
    if (account === undefined || account.directory !== this.path)
      throw new AcmeProblem("accountDoesNotExist", "There is no such account in this directory.")
    return account
  }

  protected async signedFor(authority: Authority, stores: PkiStores, signer: AccountSigner): Promise<AcmeAccount> {
    const account = await this.accountIn(authority, stores, signer.accountId)
    if (account.status !== "valid") throw unauthorized(`The account is ${account.status}.`)
    if (account.thumbprint !== signer.thumbprint) throw unauthorized("The account has another key by now.")
    if (account.bindingId === null && eabPolicyOf(authority.settings.acme, this.tools.rules) === "always-required")
      throw new AcmeProblem("externalAccountRequired", "Accounts without an external account binding are not served.")
    return account
  }

  /** Of one that waits to be used here. */
  protected async bindingKey(id: string): Promise<Uint8Array | undefined> {
    return this.read(async ({ mount }, { acmeAccounts }) => {
      const binding = await acmeAccounts.binding(mount.id, id)
      const now = this.context.runtime.clock.now()
      const isOver = binding !== undefined && binding.expiresAt !== null && binding.expiresAt <= now
      return binding === undefined || binding.directory !== this.path || isOver ? undefined : binding.key
    })
  }

  /** The answer is how long it is kept. */
  protected signByRole(order: AcmeOrder, { parsed, key }: ReadCsr): Promise<Instant> {
    return this.changed(async (authority) => {
      if (!isServed(authority)) throw notServed()
      const { decider, terms } = this.issuing(authority, order.profile)
      if (decider.kind !== "role") throw unauthorized("The directory follows another policy by now; finalize it again.")
      const signer = await this.signerOfIssuer(authority, decider.issuer)
      const approved = approveCsr(order, { request: parsed, key: key.algorithm }, terms(decider))
      const outcome = await this.certified(authority, signer, leafContent(approved, key), decider.role, {
        ...namesOf(approved),
        role: decider.name === null ? undefined : { ...decider.role, generateLease: false, name: decider.name },
        metadata: "",
        leasePath: "acme",
        warnings: [],
      })
      const { certificate } = issuanceOf(outcome)
      if (certificate === undefined)
        throw unauthorized("The role stores no certificates, so ACME has none to hand out.")
      return {
        store: async (_current, stores) => {
          await complete(stores, order, parsed.der, certificate)
          await stores.certificates.insert(certificate)
        },
        value: certificate.notAfter,
      }
    })
  }

  /** What the service decides is signed only if it names what was proved, and is kept whatever it says of that. */
  protected async signByPolicy(
    order: AcmeOrder,
    { parsed }: ReadCsr,
    { policy, issuerRef }: PolicyDecider,
  ): Promise<Instant> {
    const service = new ExternalPolicyService(this.context, this.mountPath, this.caller, this.recordKeyUse)
    const { clock } = this.context.runtime
    refuseOtherCsr(order.identifiers, parsed)
    const { acme } = (await this.served()).settings
    const request = {
      csr: `${writePem("CERTIFICATE REQUEST", parsed.der)}\n`,
      parameters: new Map([["identifiers", JSON.stringify(order.identifiers)]]),
      ...(policy === undefined ? {} : { policy }),
      ...(issuerRef === undefined ? {} : { issuerRef }),
    }
    try {
      const { notAfter } = await ExternalPolicyService.signProved(service, request, {
        refuseOthers(names) {
          const problem = namesProblem(order.identifiers, names)
          if (problem !== undefined) throw unauthorized(`What the external policy service decided ${problem}.`)
        },
        async settle(stores, record) {
          if (record.notAfter > clock.now() + acmeMaxTtlMs(acme))
            throw unauthorized("What the external policy service decided is valid for longer than max_ttl.")
          await complete(stores, order, parsed.der, record)
        },
      })
      return notAfter
    } catch (error) {
      if (isEngineError(error, "unprocessable")) throw unauthorized(error.message)
      throw error
    }
  }

  protected issuing(authority: Authority, profile: string | null) {
    const open = openDirectory(authority, this.directory)
    const decider = deciderFor(authority, this.directory, open, profile)
    const terms = (by: RoleDecider): OrderTerms => {
      const { overMaximum: _said, ...validity } = this.validityTerms(authority, by, { clampTtl: true })
      return { role: by.role, settings: authority.settings.acme, ...validity }
    }
    return { decider, terms }
  }

  protected refuseUnissuable(authority: Authority, asked: Asked & { readonly profile: string | null }): void {
    const { decider, terms } = this.issuing(authority, asked.profile)
    if (decider.kind === "role") refuseUnissuable(asked, terms(decider))
    else if (asked.notBefore !== null || asked.notAfter !== null)
      throw malformed("The external policy service decides for how long a certificate is valid.")
  }
}

type RoleDecider = Decider & { readonly kind: "role" }
type PolicyDecider = Decider & { readonly kind: "external-policy" }

async function complete(
  { acmeOrders }: PkiStores,
  { id }: AcmeOrder,
  csr: Uint8Array,
  { serialNumber, notAfter: keptUntil }: CertificateRecord,
): Promise<void> {
  if (!(await acmeOrders.complete(id, { csr, serialNumber, keptUntil })))
    throw new AcmeProblem("orderNotReady", "The order has been finalized by another request.")
}

const notServed = () => new AcmeProblem("malformed", "ACME is not enabled here.", { status: 404 })
