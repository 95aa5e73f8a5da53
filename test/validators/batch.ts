// Batches of certificates, CSRs, CRLs and OCSP responses for validators. Validation runs in batches, because starting a validator costs
// more than a verdict.
import { createHash } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Explanation } from "./explanations.ts"

/** Argument of `openssl verify -purpose`. */
export type Purpose = "any" | "sslserver" | "crlsign" | "ocsphelper"

interface Validated {
  /** Unique in its batch, and without tabs. */
  readonly name: string
  readonly der: Uint8Array
  /** Certificates from its issuer to the root; empty for a root. */
  readonly issuers: readonly Uint8Array[]
  /** Known findings of validators that are accepted. */
  readonly explained?: readonly Explanation[]
}

export interface ValidatedCertificate extends Validated {
  readonly purpose: Purpose
  /**
   * Status by the batch's CRLs, of the certificate and the intermediates above it, with or without delta CRLs. Absent: no CRL covers it.
   */
  readonly status?: "good" | "revoked" | "revoked by a delta"
}

export interface ValidatedCrl extends Validated {
  /** Not a CRL that verifiers would use for the status of a certificate. */
  readonly isMadeUp?: true
  /** A delta CRL, which is not complete by itself. */
  readonly isDelta?: true
}

/** An OCSP response. Its first issuer is the one that the request is about. */
export interface ValidatedAnswer extends Validated {
  readonly request: Uint8Array
  /** Hash algorithm of the issuer's name and key in the request. */
  readonly digest: "sha1" | "sha256"
  readonly serialNumber: bigint
  /** Absent if no certificate was issued under that serial number. */
  readonly certificate?: Uint8Array
  readonly status: "good" | "revoked" | "unknown"
}

/** A PKCS #10 certification request. */
export type ValidatedRequest = Omit<Validated, "issuers">

export interface Batch {
  readonly certificates: readonly ValidatedCertificate[]
  readonly crls: readonly ValidatedCrl[]
  readonly answers: readonly ValidatedAnswer[]
  readonly requests: readonly ValidatedRequest[]
}

/** A batch with a file for every item. */
export interface WrittenBatch extends Batch {
  readonly folder: string
  /** Returns the path of an item, as DER. */
  path(der: Uint8Array): string
  /** Writes a file of items as PEM and returns its path. */
  writePem(name: string, label: PemLabel, ders: Iterable<Uint8Array>): Promise<string>
}

export type PemLabel = "CERTIFICATE" | "X509 CRL"

export async function writeBatch(batch: Batch, folder: string): Promise<WrittenBatch> {
  await mkdir(join(folder, "der"), { recursive: true })
  const path = (der: Uint8Array) => join(folder, "der", createHash("sha1").update(der).digest("hex"))
  const pieces = new Map<string, Uint8Array>()
  const validated: readonly Validated[] = [...batch.certificates, ...batch.crls, ...batch.answers]
  for (const { der, issuers } of validated) for (const piece of [der, ...issuers]) pieces.set(path(piece), piece)
  for (const { request, certificate } of batch.answers) {
    for (const piece of certificate === undefined ? [request] : [request, certificate]) pieces.set(path(piece), piece)
  }
  for (const { der } of batch.requests) pieces.set(path(der), der)
  for (const [file, piece] of pieces) await writeFile(file, piece)
  return {
    ...batch,
    folder,
    path,
    async writePem(name, label, ders) {
      const file = join(folder, name)
      await writeFile(file, [...ders].map((der) => pem(label, der)).join(""))
      return file
    },
  }
}

/** Returns all CA certificates that sign something in the batch. */
export function authorities({ certificates, crls, answers }: Omit<Batch, "requests">): {
  readonly roots: readonly Uint8Array[]
  readonly intermediates: readonly Uint8Array[]
} {
  const roots = new Map<string, Uint8Array>()
  const intermediates = new Map<string, Uint8Array>()
  const key = (der: Uint8Array) => Buffer.from(der).toString("base64")
  for (const { issuers } of [...certificates, ...crls, ...answers]) {
    const root = issuers.at(-1)
    if (root !== undefined) roots.set(key(root), root)
    for (const each of issuers.slice(0, -1)) intermediates.set(key(each), each)
  }
  for (const { der, issuers } of certificates) if (issuers.length === 0) roots.set(key(der), der)
  return { roots: [...roots.values()], intermediates: [...intermediates.values()] }
}

export function pem(label: PemLabel, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`
}
