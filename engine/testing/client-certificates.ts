// Certificates and keys of clients, made by OpenSSL, with which tests connect to servers.
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface TestCertificate {
  /** PEM. */
  readonly certificate: string
  /** PEM of the private key. */
  readonly key: string
  readonly der: Uint8Array
}

export type TestKeyType = "rsa" | "ec" | "ed25519"

export interface TestCertificateOptions {
  readonly keyType?: TestKeyType
  /** Distinguished name as OpenSSL reads it, such as `/CN=device`. */
  readonly subject?: string
  /** Extensions in the format of an OpenSSL configuration file, one a line. */
  readonly extensions?: readonly string[]
  readonly notBefore?: Date
  readonly notAfter?: Date
  /** Default: the certificate signs itself. */
  readonly issuer?: TestCertificate
  readonly serialNumber?: number
}

export const authorityExtensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
export const clientExtensions = ["basicConstraints=critical,CA:FALSE", "extendedKeyUsage=clientAuth"]

const keyOptions: Readonly<Record<TestKeyType, readonly string[]>> = {
  rsa: ["-newkey", "rsa:2048"],
  ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
  ed25519: ["-newkey", "ed25519"],
}

// Tests with any clock are between these.
const early = new Date("2020-01-01T00:00:00Z")
const late = new Date("2049-01-01T00:00:00Z")
let serial = 1_000

/** Issues a certificate for a new key. */
export function testCertificate(options: TestCertificateOptions = {}): TestCertificate {
  const { keyType = "ec", subject = "/CN=device", extensions = clientExtensions, issuer } = options
  const { notBefore = early, notAfter = late } = options
  const folder = mkdtempSync(join(tmpdir(), "chancery-client-certificate-"))
  const run = (...args: readonly string[]) =>
    execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const read = (name: string) => readFileSync(join(folder, name), "utf8")
  try {
    run("req", ...keyOptions[keyType], "-nodes", "-keyout", "key.pem", "-out", "request.pem", "-subj", subject)
    write("issuer.pem", issuer?.certificate ?? "")
    write("issuer-key.pem", issuer?.key ?? read("key.pem"))
    write("index.txt", "")
    write("serial", `${(options.serialNumber ?? serial++).toString(16).padStart(8, "0")}\n`)
    write(
      "ca.cnf",
      [
        "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=default",
        "policy=p\nx509_extensions=e\nunique_subject=no\nemail_in_dn=yes\npreserve=yes\nstring_mask=utf8only",
        "[p]\ncommonName=optional\norganizationName=optional\norganizationalUnitName=optional\nUID=optional\nemailAddress=optional",
        `[e]\n${extensions.join("\n")}\n`,
      ].join("\n"),
    )
    const dates = ["-startdate", openSslTime(notBefore), "-enddate", openSslTime(notAfter)]
    const signer = issuer === undefined ? ["-selfsign"] : ["-cert", "issuer.pem"]
    const names = ["-config", "ca.cnf", "-in", "request.pem", "-keyfile", "issuer-key.pem", "-out", "certificate.pem"]
    run("ca", "-batch", "-notext", "-utf8", ...signer, ...names, ...dates)
    const certificate = read("certificate.pem")
    return { certificate, key: read("key.pem"), der: Uint8Array.from(new X509Certificate(certificate).raw) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `20261127215959Z` */
const openSslTime = (date: Date): string => `${date.toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`

/** Revokes serial numbers in a CRL of the issuer, in PEM. */
export function testRevocationList(
  issuer: TestCertificate,
  revoked: readonly number[],
  { lastUpdate = early, nextUpdate = late } = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), "chancery-client-crl-"))
  try {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
    write("issuer.pem", issuer.certificate)
    write("issuer-key.pem", issuer.key)
    const expiry = openSslTime(late).slice(2)
    const rows = revoked.map((number) => {
      const hex = number.toString(16).padStart(8, "0").toUpperCase()
      return `R\t${expiry}\t${openSslTime(lastUpdate).slice(2)}\t${hex}\tunknown\t/CN=${hex}\n`
    })
    write("index.txt", rows.join(""))
    write("number", "01\n")
    write(
      "ca.cnf",
      "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ncrlnumber=number\ndefault_md=default\nunique_subject=no\n",
    )
    const files = ["-config", "ca.cnf", "-cert", "issuer.pem", "-keyfile", "issuer-key.pem", "-out", "crl.pem"]
    const dates = ["-crl_lastupdate", openSslTime(lastUpdate), "-crl_nextupdate", openSslTime(nextUpdate)]
    execFileSync("openssl", ["ca", "-gencrl", ...files, ...dates], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
    return readFileSync(join(folder, "crl.pem"), "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
