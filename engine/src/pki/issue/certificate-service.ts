import { type Fault, invalid, refuseFaults, unprocessable } from "../../core/errors.ts"
import { newUuid } from "../../core/ids.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificate, encodeReissuedTbsCertificate } from "../../x509/certificate.ts"
import type { Extension } from "../../x509/extension.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { encodeName, parseName } from "../../x509/name.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import { newSerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import { type Authority, issuerOf } from "../authority.ts"
import { AuthorityService } from "../authority-service.ts"
import type {
  Certificates,
  IssuanceOptions,
  IssuedCertificate,
  IssueInput,
  IssuerChoice,
  SignedSelfIssued,
  SignInput,
  SignSelfIssuedInput,
  SignVerbatimInput,
} from "../certificates/certificates.ts"
import { type IssuerSigner, signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mount.ts"
import { approve, type ApprovedRequest } from "../policy/approve.ts"
import { metadataProblem } from "../policy/checks.ts"
import { signatureBitsProblem } from "../policy/key-strength.ts"
import { refuseViolations } from "../policy/violation.ts"
import { type Role, roleDefaults } from "../roles/role.ts"
import { certify, type CertificateContent } from "./certify.ts"
import { csrFacts } from "./csr-facts.ts"
import { type Outcome, issuanceOf, issuedCertificate } from "./issuance.ts"
import { leafExtensions, namesIn, namesOf } from "./leaf.ts"
import { readSelfIssued } from "./self-issued.ts"
import { readSigningRequest } from "./signing-request.ts"
import { decideValidity, type Validity } from "./validity.ts"
import { verbatimContent } from "./verbatim.ts"

const writing = ["create", "update"] as const

export class CertificateService extends AuthorityService implements Certificates {
  async issue(roleName: string, input: IssueInput, { issuerRef }: IssuerChoice = {}): Promise<IssuedCertificate> {
    this.authorize(writing, below(issuerRef, `issue/${roleName}`))
    const keys = this.#keysToIssueFor()
    return this.recorded(async (authority) => {
      const role = roleOf(authority, roleName)
      const signer = await this.#signer(authority, issuerRef ?? role.issuerRef)
      const approved = approve(input, undefined, this.#terms(authority, role, signer, input))
      const privateKey = await keys(approved.key)
      const content = contentOf(approved, privateKey.publicKey.spki, leafExtensions(approved, privateKey.publicKey))
      const outcome = await this.#certified(authority, signer, content, role, {
        ...namesOf(approved),
        role: { ...role, name: roleName },
        metadata: input.certMetadata ?? "",
        leasePath: `issue/${roleName}`,
        warnings: approved.warnings,
      })
      return { issuance: issuanceOf(outcome), value: { ...issuedCertificate(outcome, input), privateKey } }
    })
  }

  async sign(roleName: string, input: SignInput, { issuerRef }: IssuerChoice = {}): Promise<IssuedCertificate> {
    this.authorize(writing, below(issuerRef, `sign/${roleName}`))
    const { request, key } = readSigningRequest(input.csr)
    const csr = csrFacts(request, key.algorithm)
    return this.recorded(async (authority) => {
      const role = roleOf(authority, roleName)
      const signer = await this.#signer(authority, issuerRef ?? role.issuerRef)
      const approved = approve(input, csr, this.#terms(authority, role, signer, input))
      const content = contentOf(approved, key.spki, leafExtensions(approved, key))
      const outcome = await this.#certified(authority, signer, content, role, {
        ...namesOf(approved),
        role: { ...role, name: roleName },
        metadata: input.certMetadata ?? "",
        leasePath: `sign/${roleName}`,
        warnings: approved.warnings,
      })
      return { issuance: issuanceOf(outcome), value: issuedCertificate(outcome, input) }
    })
  }

  async signVerbatim(
    roleName: string | undefined,
    input: SignVerbatimInput,
    { issuerRef }: IssuerChoice = {},
  ): Promise<IssuedCertificate> {
    const path = roleName === undefined ? "sign-verbatim" : `sign-verbatim/${roleName}`
    this.authorize(writing, below(issuerRef, path))
    const { request, key } = readSigningRequest(input.csr)
    const { certMetadata = "" } = input
    return this.recorded(async (authority) => {
      const role = roleName === undefined ? undefined : roleOf(authority, roleName)
      const verbatim = verbatimContent(request, key, input)
      refuseFaults([...verbatim.faults, ...signatureFaults(input), ...metadataFaults(certMetadata, role)])
      const signer = await this.#signer(authority, issuerRef ?? role?.issuerRef ?? "default")
      const { validity, warnings } = this.#verbatimValidity(authority, signer, role, input)
      const { subject, extensions } = verbatim
      const content = { ...validity, subject, publicKey: key.spki, extensions }
      const outcome = await this.#certified(authority, signer, content, choiceOf(input), {
        ...namesIn(parseName(subject), request.extensionValues.subjectAltName ?? []),
        role: role && roleName !== undefined ? { ...role, name: roleName } : undefined,
        metadata: certMetadata,
        leasePath: path,
        warnings: [...verbatim.warnings, ...warnings],
      })
      return { issuance: issuanceOf(outcome), value: issuedCertificate(outcome, input) }
    })
  }

  async signSelfIssued(input: SignSelfIssuedInput, { issuerRef }: IssuerChoice = {}): Promise<SignedSelfIssued> {
    // Only without an issuer does it take sudo as well (specification 5, rule 5).
    const path = issuerRef === undefined ? "root/sign-self-issued" : `issuer/${issuerRef}/sign-self-issued`
    this.authorize(writing, path, { sudo: issuerRef === undefined })
    const { certificate, key } = readSelfIssued(input.certificate)
    const authority = await this.current()
    const signer = await this.#signer(authority, issuerRef ?? "default")
    if (input.requireMatchingCertificateAlgorithms === true && key.algorithm.type !== signer.key.algorithm.type)
      throw invalid([
        {
          field: ["certificate"],
          detail: "public key algorithm of the certificate does not match that of the issuer",
        },
      ])
    const algorithm = chooseSignatureAlgorithm(signer.key.algorithm, choiceOf({}))
    const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
    const tbs = encodeReissuedTbsCertificate(certificate, {
      issuer: signer.name,
      signatureAlgorithm,
      extensions: signer.extensions.filter(({ oid }) => changedBySelfIssued.has(oid)),
    })
    const serialNumber = serialNumberOf(certificate.serialNumber)
    if (serialNumber === undefined)
      throw invalid([
        { field: ["certificate"], detail: "the serial number of the certificate is none that a CA gives" },
      ])
    const signature = await this.recording(signer, serialNumber).key.sign(tbs, algorithm)
    return {
      certificate: assembleCertificate(tbs, signatureAlgorithm, signature),
      issuingCa: signer.issuer.certificate,
    }
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

  #terms(authority: Authority, role: Role, signer: IssuerSigner, options: IssuanceOptions) {
    return { role, identity: undefined, ...this.#validityTerms(authority, signer, options) }
  }

  #validityTerms({ mount }: Authority, { issuer }: IssuerSigner, { overMaximum = "refuse" }: IssuanceOptions) {
    const { leafNotAfterBehavior } = issuer.settings
    return {
      mountTtls: leaseTtls(mount.config),
      overMaximum,
      issuer: { notAfter: issuer.parsed.notAfter, leafNotAfterBehavior },
      now: this.context.runtime.clock.now(),
    }
  }

  #verbatimValidity(
    authority: Authority,
    signer: IssuerSigner,
    role: Role | undefined,
    input: SignVerbatimInput,
  ): { readonly validity: Validity; readonly warnings: readonly string[] } {
    const { ttlMs = 0, notBefore = null, notAfter = null, enforceLeafNotAfterBehavior = false } = input
    const lent = role && { ttlMs: role.ttlMs, maxTtlMs: role.maxTtlMs, notBeforeDurationMs: role.notBeforeDurationMs }
    const { validity, violations, warnings } = decideValidity(
      { ttlMs, notBefore, notAfter },
      {
        ...this.#validityTerms(authority, signer, input),
        rules: { ...roleDefaults, ...lent },
        beyondIssuer: enforceLeafNotAfterBehavior ? "as-issuer-says" : "truncate",
      },
    )
    refuseViolations(violations)
    return { validity, warnings }
  }

  async #certified(
    { mount }: Authority,
    signer: IssuerSigner,
    content: Omit<CertificateContent, "serialNumber">,
    choice: SignatureChoice,
    facts: Pick<Outcome, "commonName" | "names" | "role" | "metadata" | "warnings"> & { readonly leasePath: string },
  ): Promise<Outcome> {
    const { random, clock } = this.context.runtime
    const serialNumber = newSerialNumber(random)
    const certificate = await certify({ serialNumber, ...content }, this.recording(signer, serialNumber), choice)
    const { notBefore, notAfter } = content
    const { leasePath, ...rest } = facts
    const leaseId = `${mount.path}/${leasePath}/${newUuid(random)}`
    const validity = { notBefore, notAfter }
    return { mount, signer, serialNumber, certificate, validity, leaseId, now: clock.now(), ...rest }
  }
}

const below = (issuerRef: string | undefined, path: string): string =>
  issuerRef === undefined ? path : `issuer/${issuerRef}/${path}`

function roleOf({ roles }: Authority, name: string): Role {
  const role = roles.get(name)
  if (role === undefined) throw unprocessable(`unknown role: ${name}`)
  return role
}

const contentOf = (
  { subject, validity }: ApprovedRequest,
  publicKey: Uint8Array,
  extensions: readonly Extension[],
) => ({
  ...validity,
  subject: encodeName(subject),
  publicKey,
  extensions,
})

/** Specification 4.10: of all extensions, only these are the new issuer's. */
const changedBySelfIssued: ReadonlySet<string> = new Set([oids.authorityKeyIdentifier, oids.crlDistributionPoints])

const choiceOf = ({ signatureBits = 0, usePss = false }: Partial<SignatureChoice>): SignatureChoice => ({
  signatureBits,
  usePss,
})

function signatureFaults({ signatureBits = 0 }: Pick<SignVerbatimInput, "signatureBits">): Fault[] {
  const detail = signatureBitsProblem(signatureBits)
  return detail === undefined ? [] : [{ field: ["signatureBits"], detail }]
}

function metadataFaults(metadata: string, role: Role | undefined): Fault[] {
  if (metadata === "") return []
  const detail =
    role === undefined ? '"cert_metadata" needs a role that it is kept under' : metadataProblem(metadata, role)
  return detail === undefined ? [] : [{ field: ["certMetadata"], detail }]
}
