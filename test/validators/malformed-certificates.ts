// Makes certificates, CRLs and OCSP responses with OpenSSL, valid and malformed, to test what the validators find.
import { execFile } from "node:child_process"
import { sign } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

export interface MalformedCertificate {
  readonly der: Uint8Array
  /** From its issuer to the root. */
  readonly issuers: readonly Uint8Array[]
  readonly serialNumber: bigint
  readonly files: { readonly certificate: string; readonly key: string }
}

export type KeyKind = "rsa" | "rsa-1024" | "P-224" | "P-256" | "P-384" | "P-521" | "Ed25519"

interface Plan {
  readonly key?: KeyKind
  /** In OpenSSL's form, `/CN=name`. */
  readonly subject?: string
  readonly issuer?: MalformedCertificate
  /** Lines of OpenSSL's configuration. */
  readonly extensions: readonly string[]
  readonly days?: number
  readonly serialNumber?: bigint
  /** Further options of `openssl x509`. */
  readonly options?: readonly string[]
}

interface CrlPlan {
  readonly issuer: MalformedCertificate
  readonly revoked?: readonly { readonly serialNumber: bigint; readonly reason?: string }[]
  /** Lines of OpenSSL's configuration. */
  readonly extensions: readonly string[]
  readonly hours?: number
}

interface AnswerPlan {
  readonly issuer: MalformedCertificate
  readonly signer: MalformedCertificate
  readonly certificate: MalformedCertificate
  readonly status: "good" | "revoked" | "unknown"
}

export const authorityExtensions = [
  "basicConstraints=critical,CA:TRUE",
  "keyUsage=critical,keyCertSign,cRLSign,digitalSignature",
  "subjectKeyIdentifier=hash",
]

export const leafExtensions = [
  "keyUsage=critical,digitalSignature",
  "extendedKeyUsage=serverAuth,clientAuth",
  "subjectKeyIdentifier=hash",
  "authorityKeyIdentifier=keyid",
  "subjectAltName=DNS:leaf.example.com",
]

export const crlExtensions = ["authorityKeyIdentifier=keyid"]

export async function openMalformedCertificates(openssl: string, folder: string) {
  await mkdir(folder, { recursive: true })
  let made = 0
  const file = (suffix: string) => join(folder, `${made++}.${suffix}`)
  const call = (...args: readonly string[]) => promisify(execFile)(openssl, args, { cwd: folder })
  const written = async (suffix: string, lines: readonly string[]) => {
    const path = file(suffix)
    await writeFile(path, lines.map((line) => `${line}\n`).join(""))
    return path
  }
  const keys = new Map<KeyKind, string>()

  /** Returns one key per kind, for leaves that need not differ by their key. */
  async function leafKey(kind: KeyKind): Promise<string> {
    const path = keys.get(kind) ?? (await newKey(kind))
    keys.set(kind, path)
    return path
  }

  async function newKey(kind: KeyKind): Promise<string> {
    const path = file("key")
    await call("genpkey", ...keyOptions(kind), "-out", path)
    return path
  }

  async function certificate(plan: Plan): Promise<MalformedCertificate> {
    const { key = "P-256", subject = `/CN=Forged ${made}`, issuer, extensions, days = 30, options = [] } = plan
    const authority = extensions.some((line) => line.startsWith("basicConstraints") && line.includes("CA:TRUE"))
    const keyFile = await (authority ? newKey(key) : leafKey(key))
    const request = file("csr")
    // Replaces OpenSSL's default configuration file, which may be missing.
    const configuration = await written("conf", ["[req]", "distinguished_name=name", "[name]"])
    await call("req", "-new", "-config", configuration, "-key", keyFile, "-subj", subject, "-out", request)
    const serialNumber = plan.serialNumber ?? BigInt(made) + (1n << 120n)
    const path = file("crt")
    await call(
      "x509",
      ...["-req", "-in", request, "-days", String(days), "-out", path, "-outform", "DER"],
      ...["-set_serial", serialNumber < 0 ? String(serialNumber) : `0x${serialNumber.toString(16)}`],
      ...["-extfile", await written("ext", extensions)],
      ...(issuer === undefined ? ["-signkey", keyFile] : ["-CA", issuer.files.certificate, "-CAkey", issuer.files.key]),
      ...options,
    )
    const der = await readFile(path)
    return {
      der,
      issuers: issuer === undefined ? [] : [issuer.der, ...issuer.issuers],
      serialNumber,
      files: { certificate: path, key: keyFile },
    }
  }

  async function request({ key, extensions }: { readonly key: KeyKind; readonly extensions: readonly string[] }) {
    const configuration = await written("conf", [
      ...["[req]", "distinguished_name=name", "req_extensions=extensions", "[name]", "[extensions]"],
      ...extensions,
    ])
    const path = file("csr")
    const keyFile = await leafKey(key)
    const format = ["-subj", `/CN=Request ${made}`, "-outform", "DER", "-out", path]
    await call("req", "-new", "-config", configuration, "-key", keyFile, ...format)
    return readFile(path)
  }

  /** Writes the database of `openssl ca` and `openssl ocsp`: status, expiry, revocation, serial number, file and subject. */
  const index = (entries: readonly { serialNumber: bigint; revoked: boolean; reason?: string }[]) =>
    written(
      "index",
      entries.map(({ serialNumber, revoked, reason }) => {
        const number = serialNumber.toString(16).toUpperCase()
        const padded = number.padStart(number.length + (number.length % 2), "0")
        const revocation = revoked ? `250101000000Z${reason === undefined ? "" : `,${reason}`}` : ""
        return [revoked ? "R" : "V", "491231235959Z", revocation, padded, "unknown", "/CN=entry"].join("\t")
      }),
    )

  async function crl({ issuer, revoked = [], extensions, hours = 24 }: CrlPlan): Promise<Uint8Array> {
    const configuration = await written("conf", [
      "[ca]",
      "default_ca=this",
      "[this]",
      `database=${await index(revoked.map((entry) => ({ ...entry, revoked: true })))}`,
      `crlnumber=${await written("number", ["1000"])}`,
      "default_md=default",
      "crl_extensions=extensions",
      "[extensions]",
      ...extensions,
    ])
    const path = file("crl")
    const [lastUpdate, nextUpdate] = [Date.now() - 3_600_000 * 48, Date.now() + 3_600_000 * hours].map((time) =>
      new Date(time).toISOString().replaceAll(/[-:T]|\.\d+/g, ""),
    )
    await call(
      "ca",
      ...["-config", configuration, "-gencrl", "-out", path],
      ...["-crl_lastupdate", lastUpdate ?? "", "-crl_nextupdate", nextUpdate ?? ""],
      // This command reads PEM only.
      ...["-cert", await inPem(issuer), "-keyfile", issuer.files.key],
    )
    const der = `${path}.der`
    await call("crl", "-in", path, "-outform", "DER", "-out", der)
    return readFile(der)
  }

  async function answer({ issuer, signer, certificate, status }: AnswerPlan) {
    const request = file("ocsp-request")
    const response = file("ocsp-response")
    await call(
      "ocsp",
      ...["-issuer", issuer.files.certificate, "-cert", certificate.files.certificate, "-reqout", request],
    )
    const entries =
      status === "unknown" ? [] : [{ serialNumber: certificate.serialNumber, revoked: status === "revoked" }]
    await call(
      "ocsp",
      ...["-index", await index(entries), "-CA", issuer.files.certificate, "-ndays", "1"],
      ...["-rsigner", signer.files.certificate, "-rkey", signer.files.key],
      ...["-reqin", request, "-respout", response],
    )
    return { request: await readFile(request), der: await readFile(response) }
  }

  async function inPem({ files }: MalformedCertificate): Promise<string> {
    const path = `${files.certificate}.pem`
    await call("x509", "-in", files.certificate, "-out", path)
    return path
  }

  return { certificate, request, crl, answer }
}

function keyOptions(kind: KeyKind): readonly string[] {
  if (kind === "Ed25519") return ["-algorithm", "ed25519"]
  if (kind.startsWith("P-")) return ["-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${kind}`]
  return ["-algorithm", "RSA", "-pkeyopt", `rsa_keygen_bits:${kind === "rsa" ? 2048 : 1024}`]
}

/** Returns a copy with the last byte of the signature changed. */
export function withBrokenSignature(der: Uint8Array): Uint8Array {
  const broken = Uint8Array.from(der)
  broken[broken.length - 1]! ^= 1
  return broken
}

/** Returns a copy that is signed again after a sequence of bytes was replaced by another of the same length; both are hexadecimal. */
export async function resigned(
  generated: MalformedCertificate,
  signer: MalformedCertificate,
  from: string,
  to: string,
): Promise<MalformedCertificate> {
  const tbs = contents(Buffer.from(generated.der))
  const body = tbs.subarray(0, elementLength(tbs))
  const at = body.indexOf(Buffer.from(from, "hex"))
  if (at < 0 || from.length !== to.length) throw new Error(`${from} cannot become ${to}`)
  body.set(Buffer.from(to, "hex"), at)
  const algorithm = tbs.subarray(body.length)
  const signature = sign("sha256", body, await readFile(signer.files.key, "utf8"))
  const bits = element(0x03, Buffer.concat([Buffer.of(0), signature]))
  return {
    ...generated,
    der: element(0x30, Buffer.concat([body, algorithm.subarray(0, elementLength(algorithm)), bits])),
  }
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(header), content])
}

/** Returns the length of the first DER element, including its header. */
function elementLength(bytes: Buffer): number {
  const first = bytes[1]!
  return first < 0x80 ? 2 + first : 2 + (first & 15) + bytes.readUIntBE(2, first & 15)
}

const contents = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(2 + (bytes[1]! < 0x80 ? 0 : bytes[1]! & 15)))
