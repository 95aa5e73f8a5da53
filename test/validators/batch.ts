// What is judged: certificates, requests for them, CRLs and OCSP answers, many at once, because starting a judge costs more than a verdict.
import { createHash } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Explanation } from "./explained.ts"

/** Of `openssl verify -purpose`. */
export type Purpose = "any" | "sslserver" | "crlsign" | "ocsphelper"

interface Judged {
  /** Unique in its batch, and without tabs. */
  readonly name: string
  readonly der: Uint8Array
  /** Certificates from its issuer to the root; none where it is itself a root's. */
  readonly issuers: readonly Uint8Array[]
  /** What the judges may find without being believed. */
  readonly explained?: readonly Explanation[]
}

export interface JudgedCertificate extends Judged {
  readonly purpose: Purpose
  /** What the batch's CRLs say of it and of the intermediates above it, all of them or without deltas; absent: nothing. */
  readonly status?: "good" | "revoked" | "revoked by a delta"
}

export interface JudgedCrl extends Judged {
  /** It is none that anybody would ask for the status of a certificate. */
  readonly isMadeUp?: true
  /** It adds to another, and tells nothing by itself. */
  readonly isDelta?: true
}

/** The answer of an OCSP responder. Its first issuer is the one that is asked for. */
export interface JudgedAnswer extends Judged {
  readonly request: Uint8Array
  /** By which the request names the issuer. */
  readonly digest: "sha1" | "sha256"
  readonly serialNumber: bigint
  /** Absent where none was issued under that serial number. */
  readonly certificate?: Uint8Array
  readonly status: "good" | "revoked" | "unknown"
}

/** A request for a certificate, PKCS #10. */
export type JudgedRequest = Omit<Judged, "issuers">

export interface Batch {
  readonly certificates: readonly JudgedCertificate[]
  readonly crls: readonly JudgedCrl[]
  readonly answers: readonly JudgedAnswer[]
  readonly requests: readonly JudgedRequest[]
}

/** A batch whose every piece is in a file. */
export interface WrittenBatch extends Batch {
  readonly folder: string
  /** The path of a piece, as DER. */
  path(der: Uint8Array): string
  /** Writes a file of pieces as PEM and gives its path. */
  writePem(name: string, label: PemLabel, ders: Iterable<Uint8Array>): Promise<string>
}

export type PemLabel = "CERTIFICATE" | "X509 CRL"

export async function writeBatch(batch: Batch, folder: string): Promise<WrittenBatch> {
  await mkdir(join(folder, "der"), { recursive: true })
  const path = (der: Uint8Array) => join(folder, "der", createHash("sha1").update(der).digest("hex"))
  const pieces = new Map<string, Uint8Array>()
  const judged: readonly Judged[] = [...batch.certificates, ...batch.crls, ...batch.answers]
  for (const { der, issuers } of judged) for (const piece of [der, ...issuers]) pieces.set(path(piece), piece)
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

/** Every certificate that signs something in the batch. */
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
