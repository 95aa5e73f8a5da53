import { notFound } from "../../core/errors.ts"
import { instantAt } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../x509/key-algorithm.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { findIssuer, issuerOf } from "../mounts/mount-snapshot.ts"
import {
  type CertificateMetadata,
  type CertificateView,
  type ImportedCertificates,
  type InventoryPage,
  type InventoryQuery,
  type IssueInput,
  type IssuerChoice,
  noAllowances,
  type ServedCertificate,
  type ServedCertificates,
  type SignedSelfIssued,
  type SignInput,
  type SignIntermediateInput,
  type SignSelfIssuedInput,
  type SignVerbatimInput,
} from "./certificate-api.ts"
import { type CertificatePageRequest, inventoryStatuses, inventoryStatusOf } from "./certificate.ts"
import { type CertificateDetails, maxDetails, detailsOf } from "./certificate-details.ts"
import { type KeyPage, maxListedKeys } from "../mounts/key-page.ts"
import { assertRsaExponent, presentedKey } from "../keys/key-check.ts"
import { importCertificates, readCertificates } from "./certificate-import.ts"
import { searchLimitOf, serialNumberIn, serialNumberPageOf } from "./certificate-inventory.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import {
  assertPresentedKeyAllowed,
  auditedSigner,
  currentSnapshot,
  readMount,
  readMountReplica,
  recordIssued,
  transactOnMount,
} from "../mounts/with-mount-snapshot.ts"
import { certifyApproved, issuerSigner, issuerTerms } from "./certify-approved.ts"
import { chainOf } from "../issuers/chain.ts"
import { approve } from "../policy/approve.ts"
import { approveAuthority } from "../policy/approve-authority.ts"
import { approveSelfIssued } from "../policy/approve-self-issued.ts"
import { leafContent, wholeContent } from "../policy/content.ts"
import { reissue } from "./certify.ts"
import { issuanceOf, issuedCertificate } from "./issuance.ts"
import { namesOf } from "./leaf.ts"
import { readSelfIssued } from "./self-issued.ts"
import { readSigningRequest } from "./issue-request.ts"
import { choiceOf, inCsr, roleOf, roleTerms, signByRole, signVerbatim } from "./sign-request.ts"

const writing = ["create", "update"] as const

export class CertificateService implements ServedCertificates {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async issue(roleName: string, input: IssueInput, { issuerRef }: IssuerChoice = {}): Promise<ServedCertificate> {
    authorizeOnMount(this.#access, writing, below(issuerRef, `issue/${roleName}`))
    const keys = this.#keysToIssueFor()
    return recordIssued(this.#access, async (snapshot) => {
      const role = roleOf(snapshot, roleName)
      const signer = await issuerSigner(this.#access, snapshot, issuerRef ?? role.issuerRef)
      const approved = approve(input, undefined, await roleTerms(this.#access, snapshot, role, signer))
      const privateKey = await keys(approved.key)
      const content = leafContent(approved, privateKey.publicKey)
      const outcome = await certifyApproved(this.#access, snapshot, signer, content, role, {
        ...namesOf(approved),
        role: { ...role, name: roleName },
        metadata: input.certMetadata ?? "",
        leasePath: `issue/${roleName}`,
        warnings: approved.warnings,
      })
      return { issuance: issuanceOf(outcome), value: { ...issuedCertificate(outcome, input), privateKey } }
    })
  }

  async sign(
    roleName: string,
    input: SignInput,
    { issuerRef }: IssuerChoice = {},
    allowances = noAllowances,
  ): Promise<ServedCertificate> {
    authorizeOnMount(this.#access, writing, below(issuerRef, `sign/${roleName}`))
    return signByRole(this.#access, roleName, readSigningRequest(input.csr), { ...input, ...allowances, issuerRef })
  }

  async signVerbatim(
    roleName: string | undefined,
    input: SignVerbatimInput,
    { issuerRef }: IssuerChoice = {},
  ): Promise<ServedCertificate> {
    const path = roleName === undefined ? "sign-verbatim" : `sign-verbatim/${roleName}`
    authorizeOnMount(this.#access, writing, below(issuerRef, path))
    return signVerbatim(this.#access, roleName, readSigningRequest(input.csr), { ...input, issuerRef })
  }

  async signIntermediate(
    input: SignIntermediateInput,
    { issuerRef }: IssuerChoice = {},
    allowances = noAllowances,
  ): Promise<ServedCertificate> {
    authorizeOnMount(
      this.#access,
      writing,
      issuerRef === undefined ? "root/sign-intermediate" : below(issuerRef, "sign-intermediate"),
    )
    const { request, key } = readSigningRequest(input.csr)
    assertRsaExponent(inCsr(key))
    const { enforceLeafNotAfterBehavior = false } = input
    return recordIssued(this.#access, async (snapshot) => {
      const signer = await issuerSigner(this.#access, snapshot, issuerRef ?? "default")
      const approved = approveAuthority(input, request, {
        ...issuerTerms(this.#access, snapshot, signer),
        keyType: key.algorithm.type,
        enforceLeafNotAfterBehavior,
        isCommonNameOptional: allowances.isCommonNameOptional,
      })
      const content = wholeContent(approved, key)
      const outcome = await certifyApproved(this.#access, snapshot, signer, content, choiceOf(input), {
        ...namesOf(approved),
        role: undefined,
        metadata: "",
        leasePath: "",
        warnings: approved.warnings,
      })
      const issued = issuedCertificate(outcome, input)
      // The chain of an intermediate begins with the intermediate itself, and an intermediate has no lease.
      const value = { ...issued, caChain: [issued.certificate, ...issued.caChain], lease: undefined }
      return { issuance: issuanceOf(outcome), value, presented: inCsr(key) }
    })
  }

  async signSelfIssued(input: SignSelfIssuedInput, { issuerRef }: IssuerChoice = {}): Promise<SignedSelfIssued> {
    // `root/sign-self-issued` needs `sudo`, the path of an issuer does not (docs/permissions.md).
    const path = issuerRef === undefined ? "root/sign-self-issued" : `issuer/${issuerRef}/sign-self-issued`
    authorizeOnMount(this.#access, writing, path, { sudo: issuerRef === undefined })
    const submitted = readSelfIssued(input.certificate)
    const presented = presentedKey(submitted.key, "certificate")
    assertRsaExponent(presented)
    const snapshot = await currentSnapshot(this.#access)
    const signer = await issuerSigner(this.#access, snapshot, issuerRef ?? "default")
    const { requireMatchingCertificateAlgorithms = false } = input
    const { paths, now } = issuerTerms(this.#access, snapshot, signer)
    const approved = approveSelfIssued(submitted, {
      key: signer.key.algorithm,
      requireMatchingCertificateAlgorithms,
      paths,
      now,
    })
    const certificate = await reissue(
      approved,
      auditedSigner(this.#access, signer, approved.serialNumber),
      choiceOf({}),
    )
    await assertPresentedKeyAllowed(this.#access, presented)
    return { certificate, issuingCa: signer.issuer.certificate }
  }

  async import(texts: readonly string[]): Promise<ImportedCertificates> {
    authorizeOnMount(this.#access, writing, "certs/import")
    const records = await readCertificates(texts, (await currentSnapshot(this.#access)).issuers)
    const now = this.#access.context.runtime.clock.now()
    return transactOnMount(this.#access, ({ mount }, repositories) =>
      importCertificates(mount, repositories, records, now),
    )
  }

  async get(serialNumber: string): Promise<CertificateView> {
    const serial = serialNumberIn(serialNumber, "serialNumber")
    return readMount(this.#access, async ({ mount }, { certificates, revocations }) => {
      const found = await certificates.find(mount.id, serial)
      if (found === undefined) throw notFound(serialNumber)
      const revocation = await revocations.find(mount.id, serial)
      const { certificate, issuerId } = found
      return { certificate, serialNumber: serial, issuerId, revokedAt: revocation?.revokedAt ?? null }
    })
  }

  async caChain(): Promise<readonly Uint8Array[]> {
    const snapshot = await currentSnapshot(this.#access)
    const issuer = findIssuer(snapshot, "default")
    return issuer === undefined ? [] : chainOf(issuer, snapshot.issuers).map(({ certificate }) => certificate)
  }

  async list(keyPage: KeyPage = {}): Promise<readonly SerialNumber[]> {
    authorizeOnMount(this.#access, "list", "certs")
    const page = serialNumberPageOf(keyPage, maxListedKeys)
    return readMountReplica(this.#access, ({ mount }, { certificates }) => certificates.serialNumbers(mount.id, page))
  }

  async listDetails(keyPage: KeyPage = {}): Promise<readonly CertificateDetails[]> {
    authorizeOnMount(this.#access, "list", "certs/detailed")
    const { limit, after: from } = serialNumberPageOf(keyPage, maxDetails)
    const details: CertificateDetails[] = []
    let after = from
    // Reads in parts, with a turn of the event loop between them for other requests.
    while (details.length < limit) {
      const part = { after, limit: Math.min(detailsPerTurn, limit - details.length) }
      const found = await readMountReplica(this.#access, ({ mount }, { certificates }) =>
        certificates.list(mount.id, part),
      )
      details.push(...found.map(({ serialNumber, certificate }) => detailsOf(serialNumber, certificate)))
      if (found.length < part.limit) break
      after = details.at(-1)?.serialNumber
      await nextTurn()
    }
    return details
  }

  async listMetadata(keyPage: KeyPage = {}): Promise<readonly SerialNumber[]> {
    authorizeOnMount(this.#access, "list", "cert-metadata")
    const page = serialNumberPageOf(keyPage, maxListedKeys)
    return readMountReplica(this.#access, ({ mount }, { certificates }) =>
      certificates.metadataSerialNumbers(mount.id, page),
    )
  }

  async search(
    { issuerRef, status = [], expiresAfter, expiresBefore, ...query }: InventoryQuery,
    page: Partial<CertificatePageRequest> = {},
  ): Promise<InventoryPage> {
    authorizeOnMount(this.#access, "list", "certs/search")
    const limit = searchLimitOf(page)
    return readMountReplica(this.#access, async (snapshot, { certificates }) => {
      const issuer = issuerRef === undefined ? undefined : issuerOf(snapshot, issuerRef)
      const now = this.#access.context.runtime.clock.now()
      const statuses = inventoryStatuses.filter((one) => status.includes(one))
      const isOfSome = statuses.length > 0 && statuses.length < inventoryStatuses.length
      const criteria = {
        ...query,
        ...(expiresAfter === undefined ? {} : { expiresAfter: instantAt(expiresAfter, now) }),
        ...(expiresBefore === undefined ? {} : { expiresBefore: instantAt(expiresBefore, now) }),
        ...(issuer === undefined ? {} : { issuerId: issuer.id }),
        ...(isOfSome ? { status: { of: statuses, now } } : {}),
      }
      const { items, next } = await certificates.search(snapshot.mount.id, criteria, { ...page, limit })
      const entries = items.map(({ mountId: _mount, certificate: _der, ...entry }) => ({
        ...entry,
        status: inventoryStatusOf(entry, now),
      }))
      return { items: entries, next }
    })
  }

  async metadata(serialNumber: string): Promise<CertificateMetadata> {
    authorizeOnMount(this.#access, "read", `cert-metadata/${serialNumber}`)
    const serial = serialNumberIn(serialNumber, "serialNumber")
    return readMount(this.#access, async ({ mount }, { certificates }) => {
      const found = await certificates.findMetadata(mount.id, serial)
      if (found === undefined) throw notFound(serialNumber)
      const { mountId: _mount, ...metadata } = found
      return metadata
    })
  }

  /** Returns a key generator that reuses its key when an attempt could not be recorded. */
  #keysToIssueFor() {
    let made: Promise<PrivateKey> | undefined
    let madeFor: string | undefined
    return (algorithm: KeyAlgorithm): Promise<PrivateKey> => {
      const name = describeKeyAlgorithm(algorithm)
      if (made === undefined || madeFor !== name) made = this.#access.context.keyGenerator.generate(algorithm)
      madeFor = name
      return made
    }
  }
}

const detailsPerTurn = 100
const below = (issuerRef: string | undefined, path: string): string =>
  issuerRef === undefined ? path : `issuer/${issuerRef}/${path}`
