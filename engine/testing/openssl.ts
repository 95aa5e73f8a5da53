// Runs the openssl command, which verifies the engine's output independently.
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Runs openssl in a folder with these files, and returns its standard output. Throws if the command fails. */
export function openssl(args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "chancery-openssl-"))
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    return execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Verifies the chain to the root, all in PEM, with `-x509_strict` (RFC 5280). Throws if it is invalid. */
export function verifiesStrictly(certificate: string, root: string, untrusted: readonly string[] = []): true {
  openssl(["verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted", "untrusted.pem", "certificate.pem"], {
    "certificate.pem": certificate,
    "root.pem": root,
    "untrusted.pem": untrusted.length === 0 ? root : untrusted.join("\n"),
  })
  return true
}
