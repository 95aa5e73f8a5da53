// Java reads key stores and trust stores in the format JKS.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { openssl } from "../../engine/testing/openssl.ts"
import { allKeyAlgorithms, testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { describeKeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { readPem } from "../../engine/src/x509/pem.ts"
import type { PrivateKey } from "../../engine/src/x509/private-key.ts"
import { writeJavaKeyStore, writeJavaTrustStore } from "../../engine/src/x509/jks/java-key-store.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { java, keytool as keytoolOf } from "../toolchain/validators.ts"

const javaProgram = await publicProgram(java)
const program = javaProgram === undefined ? undefined : keytoolOf(javaProgram)
const password = "changeit"
const createdAt = Date.UTC(2026, 0, 31, 8)

function selfSigned(key: PrivateKey, name: string): Uint8Array {
  const args = ["req", "-x509", "-new", "-key", "key.pem", "-subj", `/CN=${name}`, "-days", "3"]
  const [block] = readPem(openssl(args, { "key.pem": key.pem("pkcs8") }), 65_536)
  return block!.bytes
}

/** Runs keytool in a folder with the store as `store.jks`. `read` returns a file of that folder. */
function keytool(store: Uint8Array, ...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "chancery-keytool-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "store.jks"), store)
  const output = execFileSync(program!, ["-J-Duser.language=en", ...args], { cwd: folder, encoding: "utf8" })
  return { output, read: (name: string) => readFileSync(join(folder, name)) }
}

describe.skipIf(program === undefined)("Java's keytool", () => {
  test.each(allKeyAlgorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) })))(
    "decrypts a key of $name, which equals the one that was stored",
    async ({ algorithm }) => {
      const privateKey = await testKeyGenerator.generate(algorithm)
      const chain = [selfSigned(privateKey, "leaf")]
      const store = writeJavaKeyStore({ privateKey, chain, alias: "web" }, createdAt, password)
      const { read } = keytool(
        store,
        ...["-importkeystore", "-srckeystore", "store.jks", "-srcstoretype", "JKS", "-srcstorepass", password],
        ...["-destkeystore", "copy.p12", "-deststoretype", "PKCS12", "-deststorepass", password, "-srcalias", "web"],
      )
      const args = ["pkcs12", "-in", "copy.p12", "-passin", `pass:${password}`, "-nodes", "-nocerts"]
      const key = openssl(args, { "copy.p12": read("copy.p12") })
      expect(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": key })).toBe(
        openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": privateKey.pem("pkcs8") }),
      )
    },
  )

  test("lists the chain of a key under its alias in lower case, and the time of the entry", async () => {
    const privateKey = await testKeyGenerator.generate({ type: "ec", bits: 256 })
    const chain = [selfSigned(privateKey, "leaf"), selfSigned(privateKey, "above")]
    const store = writeJavaKeyStore({ privateKey, chain, alias: "Web Server" }, createdAt, password)
    const args = ["-list", "-v", "-keystore", "store.jks", "-storetype", "JKS", "-storepass", password]
    const { output } = keytool(store, ...args)
    // keytool prints the alias of its own arguments, therefore this finds the entry separately.
    expect(keytool(store, ...args, "-alias", "Web Server").output).toContain("Entry type: PrivateKeyEntry")
    expect(output).toContain("Alias name: web server")
    expect(output).toMatch(/Creation date: (Jan 31, 2026|31 Jan 2026)/)
    expect(output).toContain("Certificate chain length: 2")
  })

  test("lists the certificates of a trust store as trusted", async () => {
    const privateKey = await testKeyGenerator.generate({ type: "ec", bits: 256 })
    const trusted = ["one", "two"].map((name, index) => ({
      certificate: selfSigned(privateKey, name),
      alias: `ca-${index}`,
    }))
    const store = writeJavaTrustStore(trusted, createdAt, password)
    const args = ["-list", "-keystore", "store.jks", "-storetype", "JKS", "-storepass", password]
    const { output } = keytool(store, ...args)
    expect(output).toMatch(/ca-0, .*trustedCertEntry/)
    expect(output).toMatch(/ca-1, .*trustedCertEntry/)
  })

  test.each(["changeme", "Changeit"])("rejects the password %s", (wrong) => {
    const store = writeJavaTrustStore([], createdAt, password)
    const args = ["-list", "-keystore", "store.jks", "-storetype", "JKS", "-storepass", wrong]
    expect(() => keytool(store, ...args)).toThrow(/Command failed/)
  })
})
