// Signs the certificates of `processing` orders. The server has claimed the order. One transaction stores the certificate and completes
// the order, so if two servers sign, only one certificate is stored.
import { isEngineError } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/time.ts"
import type { MountSnapshot } from "../../pki/mounts/mount-snapshot.ts"
import type { CertificateRecord } from "../../pki/issuance/certificate.ts"
import { signProved } from "../../pki/external-policy/external-policy-service.ts"
import { issuanceOf } from "../../pki/issuance/issuance.ts"
import { signerOf } from "../../pki/issuers/issuer-signer.ts"
import type { ParsedIssuer } from "../../pki/issuers/parsed-issuer.ts"
import { namesOf } from "../../pki/issuance/leaf.ts"
import { leafContent } from "../../pki/policy/content.ts"
import { readMount, withMountSnapshot } from "../../pki/mounts/with-mount-snapshot.ts"
import { certifyApproved } from "../../pki/issuance/certify-approved.ts"
import type { AcmeRepositories } from "../acme-context.ts"
import { acmeMaxTtlMs } from "../../pki/mounts/acme-settings.ts"
import { writePem } from "../../x509/pem.ts"
import type { ClaimedOrder } from "../acme.ts"
import { badCsrKey, type Decider, isServed, type ReadCsr, readCsr } from "../directory.ts"
import { DirectoryService, notServed } from "../directory-service.ts"
import { isCaaOld } from "./order.ts"
import { type Approval, approveCsr, namesProblem } from "./order-policy.ts"
import { requiresCaaCheck, networkTermsOf, type CaaQuery, caaQueryFor } from "./caa-check.ts"
import { unauthorized } from "../problem.ts"
import { registerCertificate } from "./rate-limits.ts"
import type { NetworkTerms } from "../validation/validation.ts"

/** Another attempt has completed or failed the order. */
export class LeaseLostError extends Error {}

export class OrderSigning extends DirectoryService {
  /** Returns the CAA checks that are too old and must be repeated before signing. */
  async owners(
    order: ClaimedOrder,
  ): Promise<{ readonly questions: readonly CaaQuery[]; readonly terms: NetworkTerms }> {
    const snapshot = await this.served()
    const terms = networkTermsOf(snapshot)
    if (!requiresCaaCheck(snapshot)) return { questions: [], terms }
    const now = this.access.context.runtime.clock.now()
    const questions = await readMount(this.access, async (_current, { acmeAuthorizations }) => {
      const old = (await acmeAuthorizations.ofOrder(order.id)).filter((one) =>
        isCaaOld(one, now, snapshot.settings.caaHistory),
      )
      const queries: CaaQuery[] = []
      for (const { id, identifier } of old) {
        const question = caaQueryFor(snapshot, identifier, order)
        const proved = (await acmeAuthorizations.challenges(id)).find(({ status }) => status === "valid")
        if (question !== undefined && proved !== undefined)
          queries.push({ identifier, caa: { ...question, method: proved.type } })
      }
      return queries
    })
    return { questions, terms }
  }

  /** Signs and returns the expiry of the certificate, until which the order is stored. Throws `AcmeProblem` if the order must fail. */
  async sign(order: ClaimedOrder, request: ReadCsr = readCsr(order.csr), approval?: Approval): Promise<Instant> {
    const { decider } = this.issuing(await this.served(), order.profile)
    if (decider.kind === "role") return this.#signByRole(order, request, approval)
    return this.#signByPolicy(order, request, decider)
  }

  async #signByRole(order: ClaimedOrder, { parsed, key }: ReadCsr, approval: Approval | undefined): Promise<Instant> {
    const { notAfter, issuer } = await withMountSnapshot(this.access, async (snapshot) => {
      if (!isServed(snapshot)) throw notServed()
      const { decider, terms } = this.issuing(snapshot, order.profile)
      if (decider.kind !== "role")
        throw unauthorized("The policy of the directory has changed since the order was created; create a new order.")
      const signer = await signerOf(this.access.context.signingKeys, snapshot, decider.issuer, "issuing-certificates")
      const approved =
        approval?.under === snapshot ? approval.approved : approveCsr(order, { parsed, key }, terms(decider))
      const outcome = await certifyApproved(this.access, snapshot, signer, leafContent(approved, key), decider.role, {
        ...namesOf(approved),
        role: decider.name === null ? undefined : { ...decider.role, generateLease: false, name: decider.name },
        metadata: "",
        leasePath: "acme",
        warnings: [],
      })
      const { certificate } = issuanceOf(outcome)
      if (certificate === undefined)
        throw unauthorized("The role does not store certificates (no_store), so ACME cannot return them.")
      return {
        presented: { key, refuse: badCsrKey },
        store: async (current, repositories) => {
          await this.#complete(current, repositories, order, certificate)
          await repositories.certificates.insert(certificate)
        },
        value: { notAfter: certificate.notAfter, issuer: decider.issuer },
      }
    })
    if (order.notAfter === null && notAfter === issuer.parsed.notAfter) this.#reportShortened(order, issuer)
    return notAfter
  }

  /**
   * Signs by decision of the policy service only if its names are the proved ones. The certificate is stored even if the service asks not
   * to.
   */
  async #signByPolicy(
    order: ClaimedOrder,
    { parsed }: ReadCsr,
    { policy, issuerRef }: Decider & { readonly kind: "external-policy" },
  ): Promise<Instant> {
    const { clock } = this.access.context.runtime
    const snapshot = await this.served()
    const { acme } = snapshot.settings
    const finish = (repositories: AcmeRepositories, record: CertificateRecord) =>
      this.#complete(snapshot, repositories, order, record)
    const request = {
      csr: `${writePem("CERTIFICATE REQUEST", parsed.der)}\n`,
      parameters: new Map([["identifiers", JSON.stringify(order.identifiers)]]),
      ...(policy === undefined ? {} : { policy }),
      ...(issuerRef === undefined ? {} : { issuerRef }),
    }
    try {
      const { notAfter } = await signProved(this.access, request, {
        rejectOthers(names) {
          const problem = namesProblem(order.identifiers, names)
          if (problem !== undefined) throw unauthorized(`The certificate from the external policy service ${problem}.`)
        },
        async settle(repositories, record) {
          if (record.notAfter - Math.min(record.notBefore, clock.now()) > acmeMaxTtlMs(acme))
            throw unauthorized("The certificate from the external policy service is valid for longer than max_ttl.")
          await finish(repositories, record)
        },
      })
      return notAfter
    } catch (error) {
      if (isEngineError(error, "unprocessable")) throw unauthorized(error.message)
      // The key was blocked during the attempt.
      if (isEngineError(error, "invalid") && error.faults.some(({ field }) => field?.[0] === "csr"))
        throw badCsrKey(error.message)
      throw error
    }
  }

  /** Reports a certificate that expires with its issuer, before the expiry that role and settings give. */
  #reportShortened({ id: order }: ClaimedOrder, { id: issuer, parsed }: ParsedIssuer): void {
    this.tools.metrics.shortenedCertificates.add(1)
    const fields = { mount: this.access.mountPath, issuer, notAfter: formatInstant(parsed.notAfter), order }
    this.access.context.runtime.log.warn("acme-certificate-shortened", fields)
  }

  /** Completes the order, and counts its certificate for the rate limits of its names. */
  async #complete(
    snapshot: MountSnapshot,
    repositories: AcmeRepositories,
    order: ClaimedOrder,
    { serialNumber, notAfter: keptUntil }: CertificateRecord,
  ): Promise<void> {
    if (!(await repositories.acmeOrders.complete(order, { serialNumber, keptUntil }))) throw new LeaseLostError()
    const { id: orderId, mountId, identifiers } = order
    const now = this.access.context.runtime.clock.now()
    await registerCertificate(this.limitsOf(snapshot), repositories, { mountId, orderId, identifiers, now })
  }
}
