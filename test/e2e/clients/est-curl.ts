// Enrols with curl, as a shell script would; OpenSSL makes the CSRs and reads the answers.
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { KeyType } from "../../../engine/src/x509/key-algorithm.ts"
import { readPem } from "../../../engine/src/x509/pem.ts"
import type { EstClient, EstRequest, EstServerAddress } from "./est-client.ts"

const execute = promisify(execFile)

const newKeys: Readonly<Record<KeyType, readonly string[]>> = {
  rsa: ["-newkey", "rsa:2048"],
  ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
  ed25519: ["-newkey", "ed25519"],
}

interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export async function openCurl(openssl: string, { host, authorityFile }: EstServerAddress): Promise<EstClient> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-est-curl-"))
  const runOpenssl = async (...args: readonly string[]): Promise<string> =>
    (await execute(openssl, args, { cwd: folder })).stdout

  async function fetch(operation: string, label: string, ...options: readonly string[]): Promise<Answer> {
    const url = `https://${host}/.well-known/est/${label}/${operation}`
    const { stdout } = await execute(
      "curl",
      ["--silent", "--show-error", "--include", "--http1.1", "--cacert", authorityFile, ...options, url],
      { cwd: folder },
    )
    return readAnswer(stdout)
  }

  /** OpenSSL prints the certificates of the answer in PEM. */
  async function certificatesIn(text: string): Promise<readonly Uint8Array[]> {
    await writeFile(join(folder, "answer.der"), Buffer.from(text, "base64"))
    return ders(await runOpenssl("pkcs7", "-inform", "DER", "-in", "answer.der", "-print_certs"))
  }

  async function optionsOf({ csr, basic, identity, tlsVersion }: EstRequest): Promise<readonly string[]> {
    await writeFile(join(folder, "request.b64"), Buffer.from(csr).toString("base64"))
    if (identity !== undefined) {
      await writeFile(join(folder, "client.der"), identity.certificate)
      await writeFile(join(folder, "client-key.der"), identity.privateKey)
    }
    return [
      ...["--header", "Content-Type: application/pkcs10", "--data-binary", "@request.b64"],
      ...(basic === undefined ? [] : ["--user", `${basic.name}:${basic.password}`]),
      ...(identity === undefined
        ? []
        : ["--cert-type", "DER", "--cert", "client.der", "--key-type", "DER", "--key", "client-key.der"]),
      ...(tlsVersion === undefined ? [] : [`--tlsv${tlsVersion}`, "--tls-max", tlsVersion]),
    ]
  }

  return {
    async request(keyType, name) {
      const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`]
      await runOpenssl("req", "-new", ...newKeys[keyType], "-nodes", "-keyout", "key.pem", ...names, "-out", "csr.pem")
      const [csr, privateKey] = [await runOpenssl("req", "-in", "csr.pem"), await runOpenssl("pkey", "-in", "key.pem")]
      return { csr: der(csr), privateKey: der(privateKey) }
    },
    authorities: async (label) => certificatesIn(expectType(await fetch("cacerts", label), certificatesType).text),
    async attributes(label) {
      const answer = await fetch("csrattrs", label)
      if (answer.status === 204) return []
      expectType(answer, "application/csrattrs")
      await writeFile(join(folder, "attributes.der"), Buffer.from(answer.text, "base64"))
      const shown = await runOpenssl("asn1parse", "-inform", "DER", "-in", "attributes.der")
      return [...shown.matchAll(/OBJECT +:(\S+)/g)].map(([, name = ""]) => name)
    },
    async send(request) {
      const { operation, label } = request
      const answer = await fetch(operation, label, ...(await optionsOf(request)))
      const { status, headers, text } = answer
      if (status === 202) return { kind: "waiting", retryAfterSeconds: Number(headers.get("retry-after")) }
      if (status !== 200) return { kind: "rejected", status, text: text.trim() }
      if (operation !== "serverkeygen") {
        return { kind: "issued", certificates: await certificatesIn(expectType(answer, certificatesType).text) }
      }
      const [key, bundle] = partsOf(answer)
      if (key === undefined || bundle === undefined) throw new Error(`the answer lacks a part: ${text}`)
      await writeFile(join(folder, "generated.der"), Buffer.from(expectType(key, "application/pkcs8").text, "base64"))
      const privateKey = der(await runOpenssl("pkey", "-inform", "DER", "-in", "generated.der"))
      const certificates = await certificatesIn(expectType(bundle, certificatesType).text)
      return { kind: "issued", certificates, privateKey }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

const certificatesType = "application/pkcs7-mime; smime-type=certs-only"

function readAnswer(output: string): Answer {
  const { head, ...answer } = readMessage(output)
  return { ...answer, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]) }
}

function readMessage(message: string): Omit<Answer, "status"> & { readonly head: string } {
  const end = message.indexOf("\r\n\r\n")
  const head = message.slice(0, end)
  const headers = new Map(
    [...head.matchAll(/^([^:\r\n]+): *(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name.toLowerCase(), value]),
  )
  return { head, headers, text: message.slice(end + 4) }
}

type Part = Omit<Answer, "status">

/** Reads a body of type multipart/mixed (RFC 2046, section 5.1.1). */
function partsOf({ headers, text }: Answer): readonly Part[] {
  const [, boundary = ""] = /^multipart\/mixed; boundary=(\S+)$/.exec(headers.get("content-type") ?? "") ?? []
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => readMessage(part.replace(/^\r\n/, "")))
}

function expectType<Message extends Part>(message: Message, type: string): Message {
  const found = message.headers.get("content-type")
  if (found !== type) throw new Error(`the media type is ${found}, not ${type}: ${message.text}`)
  return message
}

const ders = (pem: string): readonly Uint8Array[] => readPem(pem, 1_048_576).map(({ bytes }) => bytes)

function der(pem: string): Uint8Array {
  const [found] = ders(pem)
  if (found === undefined) throw new Error("OpenSSL printed no PEM")
  return found
}
