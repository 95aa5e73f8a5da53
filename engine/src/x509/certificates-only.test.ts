import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readCertificatesOnly, writeCertificatesOnly } from "./certificates-only.ts"
import { readPem } from "./pem.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const folder = mkdtempSync(join(tmpdir(), "chancery-pkcs7-"))
const openssl = (...args: string[]) =>
  execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
const der = (file: string): Uint8Array =>
  readPem(readFileSync(join(folder, file), "utf8"), 65_536)[0]?.bytes ?? new Uint8Array()

beforeAll(() => {
  for (const [name, key] of [
    ["a", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]],
    ["b", ["-newkey", "ed25519"]],
  ] as const)
    openssl(
      "req",
      "-x509",
      ...key,
      "-nodes",
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.pem`,
      "-subj",
      `/CN=${name}/O=Grüße`,
      "-utf8",
    )
  openssl("crl2pkcs7", "-nocrl", "-certfile", "a.pem", "-certfile", "b.pem", "-out", "both.p7b")
})
afterAll(() => rmSync(folder, { recursive: true }))

test("the certificates of an OpenSSL bundle are returned octet for octet", () => {
  const found = readCertificatesOnly(der("both.p7b")).map((one) => Buffer.from(one).toString("hex"))
  const expected = ["a.pem", "b.pem"].map((file) => Buffer.from(der(file)).toString("hex"))
  // A DER SET is sorted by the encodings of its elements.
  expect(found.toSorted()).toEqual(expected.toSorted())
})

test("too many certificates are rejected before they are parsed", () => {
  const many = (count: number) => {
    writeFileSync(join(folder, "many.pem"), readFileSync(join(folder, "b.pem"), "utf8").repeat(count))
    openssl("crl2pkcs7", "-nocrl", "-certfile", "many.pem", "-out", "many.p7b")
    return der("many.p7b")
  }
  expect(readCertificatesOnly(many(16))).toHaveLength(16)
  expect(() => readCertificatesOnly(many(17))).toThrow("contains more than 16 certificates")
})

test("a truncated, changed or invalid bundle is rejected with UnacceptableInput", () => {
  const whole = der("both.p7b")
  for (let length = 0; length < whole.length; length += 1)
    expect(() => readCertificatesOnly(whole.subarray(0, length))).toThrow(UnacceptableInput)
  for (let at = 0; at < 64; at += 1) {
    const changed = Uint8Array.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0x41
    expect(() => unlessRefused(() => readCertificatesOnly(changed))).not.toThrow()
  }
  expect(() => readCertificatesOnly(der("a.pem"))).toThrow(UnacceptableInput)
  writeFileSync(join(folder, "data.txt"), "text")
  openssl("cms", "-data_create", "-in", "data.txt", "-outform", "PEM", "-out", "data.p7")
  expect(() => readCertificatesOnly(der("data.p7"))).toThrow("is not SignedData")
})

/** Returns undefined if the input is refused, and rethrows every other error. */
function unlessRefused(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

test("a bundle that is written is read by OpenSSL and has all certificates", () => {
  writeFileSync(join(folder, "written.p7b"), writeCertificatesOnly([der("a.pem"), der("b.pem")]))
  const printed = openssl("pkcs7", "-inform", "DER", "-in", "written.p7b", "-print_certs").toString()
  expect(printed.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const read = readCertificatesOnly(readFileSync(join(folder, "written.p7b")))
  expect(read.map(hex).toSorted()).toEqual(["a.pem", "b.pem"].map((file) => hex(der(file))).toSorted())
})
