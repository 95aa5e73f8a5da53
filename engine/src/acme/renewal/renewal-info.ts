// Suggested renewal windows (RFC 9773).
import { hourMs, type Instant, secondMs } from "../../core/time.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import type { RenewalInfo } from "../acme.ts"
import type { RenewalSignal } from "../accounts/management-repository.ts"
import { malformed } from "../problem.ts"

/**
 * Reads the authority key identifier and the serial number, each in base64url (RFC 9773, section 4.1). The serial number is the content
 * of a DER INTEGER, so that a certificate has one identifier: positive, with a leading zero octet only where the sign needs one (X.690,
 * section 8.3.2).
 */
export function readCertificateId(text: string): {
  readonly keyIdentifier: Uint8Array
  readonly serialNumber: SerialNumber
} {
  const [, key = "", serial = ""] = /^([\w-]{1,64})\.([\w-]{1,32})$/.exec(text) ?? []
  const octets = Buffer.from(serial, "base64url")
  const serialNumber = serialNumberOf(octets)
  const [first = 0, second = 0] = octets
  const isMinimal = first > 0 || second >= 0x80
  const isCanonical =
    first < 0x80 &&
    isMinimal &&
    octets.toString("base64url") === serial &&
    Buffer.from(key, "base64url").toString("base64url") === key
  if (serialNumber === undefined || !isCanonical)
    throw malformed(
      "The certificate identifier must be the authority key identifier and the serial number in base64url, separated by a dot (RFC 9773).",
    )
  return { keyIdentifier: Buffer.from(key, "base64url"), serialNumber }
}

/**
 * Returns the polling interval. It must be short enough to meet the window of a short-lived certificate, which lasts at least a ninth of
 * the lifetime.
 */
const retryAfterFor = (lifeMs: number): number => Math.min(6 * hourMs, Math.max(secondMs, lifeMs / 24))

interface Circumstances {
  readonly now: Instant
  /** True if the certificate or its issuer is revoked. */
  readonly isDue: boolean
  readonly serialNumber: SerialNumber
  /** Signal to renew early. */
  readonly signal?: Pick<RenewalSignal, "raisedAt" | "renewBy" | "explanationUrl"> | undefined
}

interface Life {
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/**
 * Returns a window that begins at two thirds of the lifetime and ends when at least a ninth of it is left. A signal may move it forward.
 * Renewals that are due at once have a window in the past. No window exceeds the validity of the certificate.
 */
export function renewalWindow(
  { notBefore, notAfter }: Life,
  { now, isDue, serialNumber, signal }: Circumstances,
): RenewalInfo {
  const explanationUrl = signal?.explanationUrl ?? null
  const lifeMs = notAfter - notBefore
  const retryAfterMs = retryAfterFor(lifeMs)
  if (isDue) return { ...windowBehind(Math.min(now, notAfter), notBefore), explanationUrl, retryAfterMs }
  const start = wholeSecond(notBefore + (lifeMs * 2) / 3)
  // Derived from the serial number: constant for a certificate, and different for certificates that were issued together, so that their
  // renewals are spread.
  const spread = Number.parseInt(serialNumber.slice(-2), 16) / 256
  const end = wholeSecond(start + (lifeMs * (1 + spread)) / 9)
  const defaultWindow = withinLife({ start, end: Math.max(end, start + secondMs) }, notAfter)
  if (signal === undefined) return { ...defaultWindow, explanationUrl, retryAfterMs }
  const { raisedAt, renewBy } = signal
  const wanted =
    renewBy - raisedAt < 2 * secondMs
      ? windowBehind(raisedAt, notBefore)
      : { start: wholeSecond(raisedAt), end: wholeSecond(renewBy) }
  return { ...(wanted.end < defaultWindow.end ? wanted : defaultWindow), explanationUrl, retryAfterMs }
}

interface Window {
  readonly start: Instant
  readonly end: Instant
}

/** Limits a window to the validity. It still lasts at least one second. */
const withinLife = ({ start, end }: Window, notAfter: Instant): Window =>
  end <= notAfter ? { start, end } : { start: Math.min(start, notAfter - secondMs), end: notAfter }

function windowBehind(instant: Instant, notBefore: Instant): Window {
  const end = wholeSecond(instant) - secondMs
  return { start: Math.min(end - secondMs, Math.max(end - hourMs, notBefore)), end }
}

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs
