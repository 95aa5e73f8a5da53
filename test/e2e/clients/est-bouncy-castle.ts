// Enrols with the EST classes of Bouncy Castle, through a small program of this repository that runs until the end of the suite.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { EstClient, EstRequest, EstResult, EstServerAddress } from "./est-client.ts"

const program = join(import.meta.dirname, "est-bouncy-castle/EstClient.java")

export function openBouncyCastle(
  { java, classPath }: { readonly java: string; readonly classPath: string },
  { host, authorityFile }: EstServerAddress,
): EstClient {
  const args = ["-Xmx256m", "-cp", classPath, program, host, authorityFile]
  const child = spawn(java, args, { stdio: "pipe" })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const ended = new Promise<void>((resolve) => child.on("error", () => resolve()).on("close", () => resolve()))
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

  /** Commands are answered in their order, one at a time. */
  async function command(...words: readonly string[]): Promise<readonly string[]> {
    child.stdin.write(`${words.join("\t")}\n`)
    const { value = "", done } = await answers.next()
    if (done === true) throw new Error(`the Java program ended: ${errors}`)
    const answer = value.split("\t")
    if (answer[0] === "failed") throw new Error(answer[1])
    return answer
  }

  return {
    async request(keyType, name) {
      const [, csr = "", privateKey = ""] = await command("request", keyType, name)
      return { csr: bytes(csr), privateKey: bytes(privateKey) }
    },
    authorities: async (label) => (await command("cacerts", label)).slice(1).map(bytes),
    attributes: async (label) => (await command("csrattrs", label)).slice(1),
    send: async (request) => readResult(await command(...wordsOf(request))),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}

const wordsOf = ({ operation, label, csr, basic, identity, tlsVersion }: EstRequest): readonly string[] => [
  operation,
  label,
  text(csr),
  basic?.name ?? "",
  basic?.password ?? "",
  ...(identity === undefined ? ["", ""] : [text(identity.certificate), text(identity.privateKey)]),
  tlsVersion === undefined ? "TLS" : `TLSv${tlsVersion}`,
]

function readResult([kind, ...words]: readonly string[]): EstResult {
  switch (kind) {
    case "certificates":
      return { kind: "issued", certificates: words.map(bytes) }
    case "generated": {
      const [privateKey = "", ...certificates] = words
      return { kind: "issued", certificates: certificates.map(bytes), privateKey: bytes(privateKey) }
    }
    case "waiting":
      return { kind: "waiting", retryAfterSeconds: Number(words[0]) }
    case "rejected":
      return { kind: "rejected", status: Number(words[0]), text: words[1] ?? "" }
    default:
      throw new Error(`unknown answer of the Java program: ${kind}`)
  }
}

const bytes = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"))
const text = (der: Uint8Array): string => Buffer.from(der).toString("base64")
