import { X509Certificate } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Finding, Validator } from "./validator.ts"
import { run } from "./run.ts"

const program = join(import.meta.dirname, "Validator.java")

/**
 * Validates with Java's path validation, in one process for all items. Java does not support P-224, so items that involve that curve are
 * left out.
 */
export function javaValidator(java: string): Validator {
  return {
    name: "java",
    async validate({ certificates, crls, answers, folder, path }) {
      const manifest = join(folder, "java.txt")
      const known = (ders: readonly Uint8Array[]) => !ders.some(isOnP224)
      const paths = (ders: readonly Uint8Array[]) => ders.map(path).join(",")
      const lines = [
        ...crls
          .filter(({ issuers }) => known(issuers))
          .map(({ name, der, issuers, isMadeUp }) => [
            "crl",
            name,
            path(der),
            paths(issuers),
            isMadeUp ? "made up" : "",
          ]),
        ...certificates
          .filter(({ der, issuers }) => known([der, ...issuers]))
          // Java reads no delta CRLs.
          .map(({ name, der, issuers, status = "" }) => [
            "certificate",
            name,
            path(der),
            paths(issuers),
            status === "revoked by a delta" ? "good" : status,
          ]),
        ...answers.flatMap(({ name, der, certificate, issuers, status, digest }) =>
          // Java sends OCSP requests with SHA-1, and accepts no response to another request.
          certificate === undefined || digest !== "sha1" || status === "unknown" || !known([certificate, ...issuers])
            ? []
            : [["answer", name, path(der), paths([certificate, ...issuers]), status]],
        ),
      ]
      await writeFile(manifest, lines.map((line) => `${line.join("\t")}\n`).join(""))
      const { code, stdout, stderr } = await run(java, ["-Xmx512m", "-XX:TieredStopAtLevel=1", program, manifest])
      const [, checked] = /^checked (\d+)$/m.exec(stdout) ?? []
      if (code !== 0 || Number(checked) !== lines.length) throw new Error(`Java ended with ${code}: ${stderr}`)
      return stdout
        .split("\n")
        .filter((line) => line.includes("\t"))
        .map((line): Finding => {
          const [subject = "", code = "", detail = ""] = line.split("\t")
          return { validator: "java", subject, code, detail }
        })
    },
  }
}

const curves = new Map<string, boolean>()

function isOnP224(der: Uint8Array): boolean {
  const key = Buffer.from(der).toString("base64")
  const remembered = curves.get(key)
  if (remembered !== undefined) return remembered
  const on = new X509Certificate(der).publicKey.asymmetricKeyDetails?.namedCurve === "secp224r1"
  curves.set(key, on)
  return on
}
