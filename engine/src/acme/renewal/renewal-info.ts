// When a certificate is best renewed (RFC 9773).
import { hourMs, type Instant, secondMs } from "../../core/time.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import type { RenewalInfo } from "../acme.ts"
import type { RenewalSignal } from "../accounts/management-repository.ts"
import { malformed } from "../problem.ts"

/**
 * Reads the authority key identifier and the serial number, each in base64url (RFC 9773, section 4.1). The serial number is the
 * content of a DER INTEGER, so that a certificate has one identifier: positive, with a leading zero octet only where the sign needs
 * one (X.690, section 8.3.2).
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
    throw malformed("A certificate is named by its authority key identifier and its serial number, as RFC 9773 says.")
  return { keyIdentifier: Buffer.from(key, "base64url"), serialNumber }
}

/** How soon a client asks again: often enough to find the window of a short life, which lasts a ninth of it at least. */
const retryAfterFor = (lifeMs: number): number => Math.min(6 * hourMs, Math.max(secondMs, lifeMs / 24))

interface Circumstances {
  readonly now: Instant
  /** It is revoked, or its issuer is. */
  readonly isDue: boolean
  readonly serialNumber: SerialNumber
  /** That it is to be renewed before its time. */
  readonly signal?: Pick<RenewalSignal, "raisedAt" | "renewBy" | "explanationUrl"> | undefined
}

interface Life {
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/**
 * Around two thirds of the lifetime, and over by the time a ninth of it is left, unless it is wanted sooner. What is due at once
 * has a window that lies behind. No window leaves the certificate's life.
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
  // The same for everybody who asks, and different between certificates, so that those of one moment do not come at once.
  const spread = Number.parseInt(serialNumber.slice(-2), 16) / 256
  const end = wholeSecond(start + (lifeMs * (1 + spread)) / 9)
  const usual = withinLife({ start, end: Math.max(end, start + secondMs) }, notAfter)
  if (signal === undefined) return { ...usual, explanationUrl, retryAfterMs }
  const { raisedAt, renewBy } = signal
  const wanted =
    renewBy - raisedAt < 2 * secondMs
      ? windowBehind(raisedAt, notBefore)
      : { start: wholeSecond(raisedAt), end: wholeSecond(renewBy) }
  return { ...(wanted.end < usual.end ? wanted : usual), explanationUrl, retryAfterMs }
}

interface Window {
  readonly start: Instant
  readonly end: Instant
}

/** A window lasts a second, where the life does. */
const withinLife = ({ start, end }: Window, notAfter: Instant): Window =>
  end <= notAfter ? { start, end } : { start: Math.min(start, notAfter - secondMs), end: notAfter }

function windowBehind(instant: Instant, notBefore: Instant): Window {
  const end = wholeSecond(instant) - secondMs
  return { start: Math.min(end - secondMs, Math.max(end - hourMs, notBefore)), end }
}

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs
