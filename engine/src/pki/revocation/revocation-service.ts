// Revoking a certificate writes one row, regardless of the number of revoked certificates: lists are built when they are read
// (docs/decisions/crl-on-read.md).
import { repeatableRead } from "../../core/storage.ts"
import { unprocessable } from "../../core/errors.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import { currentSnapshot, readMount, readMountReplica, transactOnMount } from "../mounts/with-mount-snapshot.ts"
import type { CertificateRecord } from "../issuance/certificate.ts"
import { presentedRecord } from "../issuance/certificate-import.ts"
import { refreshCrlsJob } from "../crl/refresh-crls.ts"
import { recordRevocation } from "./record-revocation.ts"
import {
  issuerOfCertificate,
  type RevocationTarget,
  revocationTarget,
  parseReason,
  rejectOtherKey,
} from "./revocable-certificate.ts"
import type { RevokedCertificate, Revocations, RevokeInput, RevokeWithKeyInput } from "./revocation.ts"
import { type KeyPage, maxListedKeys } from "../mounts/key-page.ts"
import { serialNumberPageOf } from "../issuance/certificate-inventory.ts"

export class RevokeService implements Revocations {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async revoke(input: RevokeInput): Promise<RevokedCertificate> {
    authorizeOnMount(this.#access, ["create", "update"], "revoke")
    return this.#revoke(input, () => {})
  }

  async revokeWithKey(input: RevokeWithKeyInput): Promise<RevokedCertificate> {
    authorizeOnMount(this.#access, ["create", "update"], "revoke-with-key")
    if (input.privateKey === undefined || input.privateKey === "") rejectOtherKey(undefined, new Uint8Array())
    return this.#revoke(input, ({ subjectPublicKeyInfo }) => rejectOtherKey(input.privateKey, subjectPublicKeyInfo))
  }

  async list(keyPage: KeyPage = {}): Promise<readonly SerialNumber[]> {
    authorizeOnMount(this.#access, "list", "certs/revoked")
    const page = serialNumberPageOf(keyPage, maxListedKeys)
    return readMountReplica(this.#access, ({ mount }, { revocations }) => revocations.serialNumbers(mount.id, page))
  }

  async requested(): Promise<readonly SerialNumber[]> {
    authorizeOnMount(this.#access, "list", "certs/revocation-queue")
    return readMount(this.#access, async () => [])
  }

  async elsewhere(): Promise<readonly SerialNumber[]> {
    authorizeOnMount(this.#access, "list", "certs/unified-revoked")
    return readMount(this.#access, async () => [])
  }

  async #revoke(input: RevokeInput, rejectUnproven: (certificate: Certificate) => void): Promise<RevokedCertificate> {
    const target = revocationTarget(input)
    const reason = parseReason(input.reason)
    const snapshot = await currentSnapshot(this.#access)
    const presented =
      target.certificate &&
      presentedRecord(
        issuerOfCertificate(target.certificate, snapshot.issuers),
        target.certificate,
        target.serialNumber,
      )
    if (presented !== undefined && target.certificate !== undefined) rejectUnproven(target.certificate)
    const now = this.#access.context.runtime.clock.now()
    // A revocation writes the version of its mount's revocations before its own row. Of two concurrent ones in a mount, the database
    // runs one again, which then finds the other: repeatable read is enough. A revocation that must insert its certificate first is
    // serializable.
    const options = presented === undefined ? repeatableRead : {}
    const revoked = await transactOnMount(
      this.#access,
      async (current, repositories) => {
        const stored = await repositories.certificates.find(current.mount.id, target.serialNumber)
        const record = certificateToRevoke(target, stored, presented)
        const certificate = target.certificate ?? parseCertificate(record.certificate)
        if (presented === undefined) rejectUnproven(certificate)
        return recordRevocation(current, repositories, {
          record,
          certificate,
          reason,
          now,
          isNew: stored === undefined,
        })
      },
      options,
    )
    const { crlPublisher, wakeJob } = this.#access.context
    if (!snapshot.settings.crl.autoRebuild && crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
    return revoked
  }
}

function certificateToRevoke(
  { serialNumber }: RevocationTarget,
  stored: CertificateRecord | undefined,
  presented: CertificateRecord | undefined,
): CertificateRecord {
  if (presented === undefined) {
    if (stored === undefined) throw unprocessable(`certificate with serial ${serialNumber} not found.`)
    return stored
  }
  if (stored !== undefined && Buffer.compare(stored.certificate, presented.certificate) !== 0)
    throw unprocessable(`another certificate of this mount has the serial number ${serialNumber}`)
  return stored ?? presented
}
