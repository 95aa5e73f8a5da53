import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openssl } from "../../testing/openssl.ts"
import { allKeyAlgorithms, testKeyGenerator } from "../../testing/test-keys.ts"
import { describeKeyAlgorithm } from "./key-algorithm.ts"
import { readPem, writePem } from "./pem.ts"
import { writeKeyStore, writeTrustStore } from "./pkcs12.ts"
import type { PrivateKey } from "./private-key.ts"

const password = "changeit"

function selfSigned(key: PrivateKey, name: string): Uint8Array {
  const args = ["req", "-x509", "-new", "-key", "key.pem", "-subj", `/CN=${name}`, "-days", "3"]
  const [block] = readPem(openssl(args, { "key.pem": key.pem("pkcs8") }), 65_536)
  return block!.bytes
}

function keytool(store: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "chancery-keytool-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "store.p12"), store)
  return execFileSync("keytool", ["-list", "-keystore", join(folder, "store.p12"), "-storepass", password], {
    encoding: "utf8",
  })
}

test.each(allKeyAlgorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) })))(
  "OpenSSL reads the key and the chain from a key store with a key of $name",
  async ({ algorithm }) => {
    const privateKey = await testKeyGenerator.generate(algorithm)
    const chain = [selfSigned(privateKey, "leaf"), selfSigned(privateKey, "above")]
    const store = await writeKeyStore({ privateKey, chain, alias: "web" }, password)
    const read = (...args: string[]) =>
      openssl(["pkcs12", "-in", "store.p12", "-passin", `pass:${password}`, ...args], { "store.p12": store })
    const shown = read("-nodes")
    const blocks = readPem(shown.replaceAll(/^(?!-----|[A-Za-z0-9+/=]+$).*$/gm, ""), 65_536)
    const der = (label: string) =>
      blocks.filter((block) => block.label === label).map(({ bytes }) => Buffer.from(bytes))
    expect(der("CERTIFICATE")).toEqual(chain.map((bytes) => Buffer.from(bytes)))
    expect(shown).toContain("friendlyName: web")
    const [key] = der("PRIVATE KEY")
    expect(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": writePem("PRIVATE KEY", key!) }).trim()).toBe(
      writePem("PUBLIC KEY", privateKey.publicKey.spki),
    )
  },
)

const hasKeytool = spawnSync("keytool", ["-help"]).error === undefined

test.skipIf(!hasKeytool)("Java reads the key of a key store and the certificates of a trust store", async () => {
  const privateKey = await testKeyGenerator.generate({ type: "ec", bits: 256 })
  const certificate = selfSigned(privateKey, "Example Root")
  const store = await writeKeyStore({ privateKey, chain: [certificate], alias: "web" }, password)
  expect(keytool(store)).toMatch(/web, .*PrivateKeyEntry/)
  const trust = await writeTrustStore([{ certificate, alias: "ca-0" }], password)
  expect(keytool(trust)).toMatch(/ca-0, .*trustedCertEntry/)
})

test("a wrong password does not open a key store", async () => {
  const privateKey = await testKeyGenerator.generate({ type: "ed25519" })
  const store = await writeKeyStore({ privateKey, chain: [selfSigned(privateKey, "leaf")], alias: "web" }, password)
  const args = ["pkcs12", "-in", "store.p12", "-nodes", "-passin", "pass:changeme"]
  expect(() => openssl(args, { "store.p12": store })).toThrow(/invalid password/i)
})

test.each(["", "pässword", "two\nlines"])(
  "the password %j is rejected, because programs encode it differently",
  async (bad) => {
    await expect(writeTrustStore([], bad)).rejects.toThrow(/printable ASCII/)
  },
)
