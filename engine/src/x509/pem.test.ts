import { execFileSync } from "node:child_process"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { readPem, writePem } from "./pem.ts"

const limit = 1_000_000
const block = (label: string, body = "AAEC\n") => `-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`
const octets = Uint8Array.of(0, 1, 2)

test.each([1, 47, 48, 49, 95, 96, 97, 1_000])("%i octets are written as OpenSSL writes them", (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => index)
  const lines = execFileSync("openssl", ["base64"], { input: bytes, encoding: "utf8" })
  expect(writePem("CERTIFICATE", bytes)).toBe(block("CERTIFICATE", lines).trimEnd())
})

test("octets that are a view of a larger array are written alone", () => {
  expect(writePem("X509 CRL", Uint8Array.of(9, 0, 1, 2, 9).subarray(1, 4))).toBe(block("X509 CRL").trimEnd())
})

test("what was written is read again", () => {
  const labels = fc.constantFrom("CERTIFICATE", "EC PRIVATE KEY", "X509 CRL", "PUBLIC KEY")
  const blocks = fc.array(fc.record({ label: labels, bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }) }))
  fc.assert(
    fc.property(blocks, fc.constantFrom("\n", "\r\n", "\r"), (written, newline) => {
      const text = written.map(({ label, bytes }) => writePem(label as "CERTIFICATE", bytes)).join("\n")
      const found = readPem(text.replaceAll("\n", newline), limit)
      expect(found.map(({ label, bytes }) => ({ label, bytes: Uint8Array.from(bytes) }))).toEqual(written)
    }),
  )
})

test("text around blocks, as OpenSSL writes it, is skipped", () => {
  const text = [
    "Bag Attributes\n    friendlyName: web\nsubject=CN = web\n\nissuer=CN = root\n",
    block("CERTIFICATE"),
    "Certificate:\n    Data:\n        Version: 3 (0x2)\n---\nCertificate chain\n ------ \n",
    block("EC PRIVATE KEY"),
    "Ende gut – alles gut\n",
  ].join("")
  expect(readPem(text, limit)).toEqual([
    { label: "CERTIFICATE", bytes: Buffer.from(octets) },
    { label: "EC PRIVATE KEY", bytes: Buffer.from(octets) },
  ])
})

test.each([
  { why: "no newline at the end", text: block("CERTIFICATE").trimEnd() },
  { why: "lines of four columns", text: block("CERTIFICATE", "AA\nEC\n") },
  { why: "spaces at the ends of lines", text: block("CERTIFICATE", "AAEC  \n\t\n").replaceAll("--\n", "-- \t\n") },
])("a block with $why is read", ({ text }) => {
  expect(readPem(text, limit)).toEqual([{ label: "CERTIFICATE", bytes: Buffer.from(octets) }])
})

test.each(["", "no block here", "-----\n--- END ---", "MIIB", "\0\u{1f512}"])("%j holds no block", (text) => {
  expect(readPem(text, limit)).toEqual([])
})

const encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAEC\n"

test.each([
  { text: "-----BEGIN CERTIFICATE-----\nAAEC\n", refusal: "PEM block 1 (CERTIFICATE) has no END line" },
  {
    text: `${block("CERTIFICATE")}-----BEGIN PRIVATE KEY-----\nAAEC\n`,
    refusal: "PEM block 2 (PRIVATE KEY) has no END line",
  },
  {
    text: `-----BEGIN CERTIFICATE-----\nAAEC\n${block("PRIVATE KEY")}`,
    refusal: "PEM block 1 (CERTIFICATE) has no END line before the next BEGIN line",
  },
  {
    text: block("CERTIFICATE").replace("END CERTIFICATE", "END PRIVATE KEY"),
    refusal: 'PEM block 1 (CERTIFICATE) ends with the line "END PRIVATE KEY"',
  },
  { text: "-----END X-----\n", refusal: 'The PEM text has the line "END X" without its BEGIN line' },
  { text: block("CERTIFICATE", "\n \n"), refusal: "PEM block 1 (CERTIFICATE) is empty" },
  { text: block("CERTIFICATE", ""), refusal: "PEM block 1 (CERTIFICATE) is empty" },
  { text: block("CERTIFICATE", "AAE\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AA=C\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AAE=\nAAEC\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AB==\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AA-_\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AAEC!\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  { text: block("CERTIFICATE", "AAEC\\n\n"), refusal: "PEM block 1 (CERTIFICATE) is not correct base64" },
  {
    text: block("RSA PRIVATE KEY", encrypted),
    refusal: "PEM block 1 (RSA PRIVATE KEY) is encrypted; decrypt it first",
  },
  {
    text: block("CERTIFICATE", "X-Origin: here\n\nAAEC\n"),
    refusal: "PEM block 1 (CERTIFICATE) has header lines, which are not supported",
  },
])("a malformed block is rejected: $refusal", ({ text, refusal }) => {
  expect(() => readPem(text, limit)).toThrow(refusal)
})

test.each([
  { text: block("CERTIFICATE").replaceAll("\n", "\\n"), why: "newlines written as two characters" },
  { text: block("CERTIFICATE").replaceAll("\n", " "), why: "newlines that became spaces" },
  { text: block("CERTIFICATE").replaceAll("\n", ""), why: "no newlines" },
  { text: `> ${block("CERTIFICATE")}`, why: "a boundary in the middle of a line" },
  { text: block("CERTIFICATE").replace("BEGIN CERTIFICATE-----", "BEGIN CERTIFICATE----"), why: "four dashes" },
  { text: block("CERTIFICATE").replace("-----BEGIN", "------BEGIN"), why: "six dashes" },
  { text: block(""), why: "no label" },
  { text: block(" X"), why: "a label that begins with a space" },
  { text: block("A  B"), why: "two spaces in a label" },
  { text: block("X".repeat(65)), why: "a label of 65 characters" },
  { text: block("X".repeat(500_000)), why: "a label of 500,000 characters" },
  { text: `-----BEGIN${"-".repeat(500_000)}`, why: "500,000 dashes" },
])("$why is rejected with the line number", ({ text }) => {
  expect(() => readPem(`text\n${text}`, 2_000_000)).toThrow(/^Line 2 of the PEM text contains a boundary that is not/)
})

test("text above the limit is rejected unread", () => {
  const text = block("CERTIFICATE")
  expect(readPem(text, text.length)).toHaveLength(1)
  expect(() => readPem(text, text.length - 1)).toThrow(
    `The PEM text has ${text.length} characters; the maximum is ${text.length - 1}`,
  )
})

test("no error repeats the content of a block", () => {
  const secret = "c2VjcmV0"
  for (const text of [
    block("PRIVATE KEY", `${secret}!\n`),
    `-----BEGIN PRIVATE KEY-----\n${secret}\n`,
    block("PRIVATE KEY", `${secret}: x`),
  ])
    expect(() => readPem(text, limit)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(secret) }),
    )
})

test.each([
  { why: "spaces", text: block("CERTIFICATE", " ".repeat(900_000)) },
  { why: "dashes", text: "-".repeat(900_000) },
  { why: "newlines", text: block("CERTIFICATE", "\n".repeat(900_000)) },
  { why: "empty blocks", text: block("X", "").repeat(30_000) },
  { why: "small blocks", text: block("X").repeat(25_000) },
  { why: "a header without end", text: block("X", "a".repeat(900_000)) },
])("a megabyte of $why is read or rejected in linear time", ({ text }) => {
  const began = performance.now()
  try {
    readPem(text, 1_048_576)
  } catch {
    // Input may be refused; the test measures only the time.
  }
  // Takes milliseconds. Quadratic time would take minutes.
  expect(performance.now() - began).toBeLessThan(10_000)
})
