// What every way to ask for a certificate ends in, once a policy has approved what it is to say.
import { newUuid } from "../../core/ids.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import type { SignatureChoice } from "../../x509/signature-algorithm.ts"
import { type MountSnapshot, issuerOf } from "../authority.ts"
import { AuthorityService } from "../authority-service.ts"
import { type ApprovedContent, certify } from "../issue/certify.ts"
import type { Outcome } from "../issue/issuance.ts"
import { certificationPaths } from "../issuers/certification-paths.ts"
import type { HeldIssuer } from "../issuers/held-issuer.ts"
import { type IssuerSigner, signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mount.ts"

export abstract class IssuingService extends AuthorityService {
  protected signer(snapshot: MountSnapshot, reference: string): Promise<IssuerSigner> {
    return this.signerOfIssuer(snapshot, issuerOf(snapshot, reference))
  }

  protected signerOfIssuer(snapshot: MountSnapshot, issuer: HeldIssuer): Promise<IssuerSigner> {
    return signerOf(this.context.signingKeys, snapshot, issuer, "issuing-certificates")
  }

  /** What the issuer, its chain and the mount say of every certificate. */
  protected issuerTerms({ mount, issuers }: MountSnapshot, { issuer }: { readonly issuer: HeldIssuer }) {
    const { leafNotAfterBehavior } = issuer.settings
    return {
      mountTtls: leaseTtls(mount.config),
      issuer: { notBefore: issuer.parsed.notBefore, notAfter: issuer.parsed.notAfter, leafNotAfterBehavior },
      paths: certificationPaths(issuer, issuers),
      now: this.context.runtime.clock.now(),
    }
  }

  protected async certified(
    { mount }: MountSnapshot,
    signer: IssuerSigner,
    content: ApprovedContent,
    choice: SignatureChoice,
    facts: Pick<Outcome, "commonName" | "names" | "role" | "metadata" | "warnings"> & { readonly leasePath: string },
  ): Promise<Outcome> {
    const { random, clock } = this.context.runtime
    const serialNumber = newSerialNumber(random)
    const certificate = await certify(content, serialNumber, this.recording(signer, serialNumber), choice)
    const { notBefore, notAfter } = content
    const { leasePath, ...rest } = facts
    const leaseId = `${mount.path}/${leasePath}/${newUuid(random)}`
    const validity = { notBefore, notAfter }
    const tokenId = this.caller.kind === "anonymous" ? null : (this.caller.tokenId ?? null)
    return { mount, signer, serialNumber, certificate, validity, leaseId, tokenId, now: clock.now(), ...rest }
  }
}
