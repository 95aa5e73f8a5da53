// The openssl command as a judge of what comes out of an engine.
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Runs openssl with files of these contents around it, by their names; what it says on its standard output. Throws where it fails. */
export function openssl(args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "chancery-openssl-"))
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    return execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** All in PEM: whether the chain from the certificate over any of the others to the root holds, by the letter of RFC 5280. */
export function verifiesStrictly(certificate: string, root: string, untrusted: readonly string[] = []): true {
  openssl(["verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted", "untrusted.pem", "certificate.pem"], {
    "certificate.pem": certificate,
    "root.pem": root,
    "untrusted.pem": untrusted.length === 0 ? root : untrusted.join("\n"),
  })
  return true
}
