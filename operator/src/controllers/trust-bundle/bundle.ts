// Content of a trust bundle: the CA certificates of all sources, each once, in an order that does not depend on the sources.
import type { Instant } from "@chancery/engine"
import {
  formatName,
  MalformedDer,
  parseCertificate,
  parseExtensionValues,
  readPem,
  sha256,
  UnacceptableInput,
  writePem,
} from "@chancery/engine/x509"

export interface BundleSource {
  /** Member of the spec, such as `spec.sources[0].pem`. */
  readonly field: string
  readonly pem: string
}

export interface Bundle {
  readonly pem: string
  /** SHA-256 of `pem`, in hexadecimal. */
  readonly fingerprint: string
  readonly certificates: number
  /** Certificates that were left out. */
  readonly expired: number
  /** Earliest expiry. */
  readonly notAfter: Instant
}

/** Reason for which no bundle is made. The message names the source. */
export class BundleFault extends Error {
  readonly reason: "BundleEmpty" | "BundleTooLarge" | "SourceInvalid"

  constructor(reason: BundleFault["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/** ConfigMaps and Secrets are limited to 1 MiB, with their metadata. */
const maxBundle = 1_000_000
const privateKeyLabel = /PRIVATE KEY-----/

/** Throws `BundleFault`, and never mentions the content of a source other than the subjects of its certificates. */
export function assembleBundle(sources: readonly BundleSource[], now: Instant): Bundle {
  const live = new Map<string, { readonly pem: string; readonly notAfter: Instant }>()
  const expired = new Set<string>()
  for (const source of sources) {
    for (const { der, notAfter } of authoritiesIn(source)) {
      const fingerprint = sha256(der)
      if (notAfter < now) expired.add(fingerprint)
      else live.set(fingerprint, { pem: `${writePem("CERTIFICATE", der)}\n`, notAfter })
    }
  }
  if (live.size === 0) {
    const all =
      expired.size === 0 ? "The sources have no certificates." : "All certificates of the sources have expired."
    throw new BundleFault("BundleEmpty", `${all} The former bundle stays.`)
  }
  const ordered = [...live].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
  const pem = ordered.map((each) => each.pem).join("")
  if (pem.length > maxBundle)
    throw new BundleFault("BundleTooLarge", `The bundle has ${pem.length} bytes; the maximum is ${maxBundle}.`)
  return {
    pem,
    fingerprint: sha256(Buffer.from(pem)),
    certificates: live.size,
    expired: expired.size,
    notAfter: Math.min(...ordered.map(({ notAfter }) => notAfter)),
  }
}

function authoritiesIn({
  field,
  pem,
}: BundleSource): readonly { readonly der: Uint8Array; readonly notAfter: Instant }[] {
  if (privateKeyLabel.test(pem)) throw invalid(`${field} must not contain a private key`)
  try {
    return readPem(pem, maxBundle).map(({ label, bytes }, index) => {
      const position = `${field} certificate ${index + 1}`
      if (label !== "CERTIFICATE")
        throw invalid(`${field} must contain only certificates; block ${index + 1} is a ${label}`)
      const { notAfter, subjectName, extensions } = parseCertificate(bytes)
      if (parseExtensionValues(extensions).basicConstraints?.isCa !== true)
        throw invalid(`${position} (${formatName(subjectName) || "without a subject"}) is not a CA certificate`)
      return { der: bytes, notAfter }
    })
  } catch (error) {
    if (error instanceof UnacceptableInput || error instanceof MalformedDer)
      throw invalid(`${field} cannot be read: ${error.message}`)
    throw error
  }
}

const invalid = (message: string): BundleFault =>
  new BundleFault("SourceInvalid", `${message}. The former bundle stays.`)
