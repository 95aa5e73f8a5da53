import { unprocessable } from "../../core/errors.ts"
import { encodeName } from "../../x509/name.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { PublicKey } from "../../x509/public-key.ts"
import { newSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { type Authority, issuerOf } from "../authority.ts"
import { AuthorityService } from "../authority-service.ts"
import type { CertificateRecord } from "../certificates/certificate.ts"
import type { Certificates, IssuedCertificate, IssueInput, IssuerChoice } from "../certificates/certificates.ts"
import { type IssuerSigner, signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mount.ts"
import { approve, type ApprovedRequest } from "../policy/approve.ts"
import type { Role } from "../roles/role.ts"
import { certify } from "./certify.ts"
import { leafExtensions, namesOf } from "./leaf.ts"

export class CertificateService extends AuthorityService implements Certificates {
  async issue(roleName: string, input: IssueInput, { issuerRef }: IssuerChoice = {}): Promise<IssuedCertificate> {
    this.authorize(
      ["create", "update"],
      issuerRef === undefined ? `issue/${roleName}` : `issuer/${issuerRef}/issue/${roleName}`,
    )
    const keys = this.#keysToIssueFor()
    return this.recorded(async (authority) => {
      const role = roleOf(authority, roleName)
      const signer = await this.#signer(authority, issuerRef ?? role.issuerRef)
      const approved = approve(input, undefined, this.#terms(authority, role, signer, input))
      const privateKey = await keys(approved.key)
      const certified = await this.#certify(approved, privateKey.publicKey, signer, role)
      return {
        record: role.noStore ? undefined : recordOf(authority, approved, certified, signer, roleName),
        value: { ...issued(approved, certified, signer, input), privateKey },
      }
    })
  }

  /** A key outlasts an attempt that could not be recorded. */
  #keysToIssueFor() {
    let made: Promise<PrivateKey> | undefined
    let madeFor: KeyAlgorithm | undefined
    return (algorithm: KeyAlgorithm): Promise<PrivateKey> => {
      if (made === undefined || madeFor !== algorithm) made = this.context.keyGenerator.generate(algorithm)
      madeFor = algorithm
      return made
    }
  }

  #signer(authority: Authority, reference: string): Promise<IssuerSigner> {
    const issuer = issuerOf(authority, reference)
    return signerOf(this.context.signingKeys, authority, issuer, "issuing-certificates")
  }

  #terms(authority: Authority, role: Role, { issuer }: IssuerSigner, { overMaximum = "refuse" }: IssueInput) {
    return {
      role,
      identity: undefined,
      mountTtls: leaseTtls(authority.mount.config),
      overMaximum,
      issuer: { notAfter: issuer.parsed.notAfter, leafNotAfterBehavior: issuer.settings.leafNotAfterBehavior },
      now: this.context.runtime.clock.now(),
    }
  }

  async #certify(approved: ApprovedRequest, key: PublicKey, signer: IssuerSigner, role: Role): Promise<Certified> {
    const serialNumber = newSerialNumber(this.context.runtime.random)
    const content = {
      serialNumber,
      ...approved.validity,
      subject: encodeName(approved.subject),
      publicKey: key.spki,
      extensions: leafExtensions(approved, key),
    }
    const certificate = await certify(content, this.recording(signer, serialNumber), role)
    return { serialNumber, certificate }
  }
}

interface Certified {
  readonly serialNumber: SerialNumber
  /** DER. */
  readonly certificate: Uint8Array
}

function roleOf({ roles }: Authority, name: string): Role {
  const role = roles.get(name)
  if (role === undefined) throw unprocessable(`unknown role: ${name}`)
  return role
}

function issued(
  { validity, warnings }: ApprovedRequest,
  { serialNumber, certificate }: Certified,
  signer: IssuerSigner,
  { removeRootsFromChain = false }: IssueInput,
): IssuedCertificate {
  return {
    certificate,
    issuingCa: signer.issuer.certificate,
    caChain: removeRootsFromChain ? signer.chainWithoutRoots : signer.chain,
    serialNumber,
    ...validity,
    privateKey: undefined,
    warnings: [...warnings, ...signer.warnings],
  }
}

const recordOf = (
  { mount }: Authority,
  approved: ApprovedRequest,
  { serialNumber, certificate }: Certified,
  { issuer }: IssuerSigner,
  role: string,
): CertificateRecord => ({
  mountId: mount.id,
  serialNumber,
  certificate,
  issuerId: issuer.id,
  role,
  ...namesOf(approved),
  ...approved.validity,
})
