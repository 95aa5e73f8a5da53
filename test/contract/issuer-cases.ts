// Issuers and keys, and the settings of a mount that refer to them.
import { execFileSync } from "node:child_process"
import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { OpenedEngine } from "./engines.ts"
import { refused } from "./refusals.ts"

let count = 0
const ec = { keyType: "ec" } as const

const openssl = (...args: string[]) =>
  execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
const foreignCertificate = () =>
  openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=Elsewhere")

const hex = (octets: Uint8Array) => Buffer.from(octets).toString("hex")

export function issuerCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const path = `contract/issuers-${(count += 1)}`
    const { mounts, pki } = engine().root
    await mounts.create({ path })
    return pki(path)
  }

  describe("a root", () => {
    test("is created in every way, with the defaults for omitted parameters", async () => {
      const { issuers } = await newMount()
      const root = await issuers.generateRoot({
        ...ec,
        commonName: "Root",
        issuerName: "root",
        keyName: "key",
        ttlMs: 24 * hourMs,
        altNames: ["ca.example.com"],
        organization: ["Example, Inc."],
        permittedDnsDomains: ["example.com"],
      })
      expect(root).toMatchObject({ issuerName: "root", keyName: "key", privateKey: undefined })
      expect(root.warnings).toHaveLength(1)
      const next = await issuers.generateRoot({ ...ec, commonName: "Next", keySource: "exported" }, "root/rotate")
      expect(next).toMatchObject({ issuerName: "next", privateKey: { algorithm: { type: "ec", bits: 256 } } })
      const third = await issuers.generateRoot(
        { commonName: "Third", keySource: "existing", keyRef: "key" },
        "issuers/generate/root",
      )
      expect(third.keyId).toBe(root.keyId)
      expect((await issuers.list()).map(({ id }) => id)).toEqual([root.issuerId, next.issuerId, third.issuerId])
    })

    test("is rejected with every fault", async () => {
      const { issuers } = await newMount()
      const wrong = { issuerName: "default", keyType: "dsa", country: ["Utopia"], ipSans: ["x"], maxPathLength: -2 }
      await expect(issuers.generateRoot({ commonName: "A", ...wrong })).rejects.toMatchObject(
        refused("invalid", ["keyType"], ["issuerName"], ["country"], ["ipSans"], ["maxPathLength"]),
      )
      await expect(issuers.generateRoot({ commonName: "A", keySource: "kms" })).rejects.toMatchObject(
        refused("invalid", ["keySource"]),
      )
      expect(await issuers.list()).toEqual([])
    })
  })

  describe("an intermediate", () => {
    test("is requested, and set once it is signed", async () => {
      const [top, below] = [await newMount(), await newMount()]
      await top.issuers.generateRoot({ ...ec, commonName: "Root" })
      const requested = await below.issuers.generateIntermediate({ ...ec, commonName: "CA", addBasicConstraints: true })
      expect(requested).toMatchObject({ keyName: null, privateKey: undefined, warnings: [] })
      const exported = await below.issuers.generateIntermediate(
        { ...ec, commonName: "CA", keySource: "exported", keyName: "exported" },
        "issuers/generate/intermediate",
      )
      expect(exported.privateKey?.publicKey).toBeDefined()
      const crossed = await below.issuers.generateIntermediate(
        { commonName: "CA", keyRef: "exported" },
        "intermediate/cross-sign",
      )
      expect(crossed.keyId).toBe(exported.keyId)
      await expect(below.issuers.generateIntermediate({ keyName: "a b" })).rejects.toMatchObject(
        refused("invalid", ["keyName"]),
      )
    })
  })

  describe("a bundle", () => {
    test("is imported once", async () => {
      const { issuers } = await newMount()
      const key = openssl("genpkey", "-algorithm", "ed25519")
      const bundle = `${key}${foreignCertificate()}`
      const first = await issuers.import(bundle)
      expect(first.mapping).toEqual(new Map([[first.importedIssuers[0], null]]))
      expect(first.warnings).toHaveLength(2)
      expect(await issuers.import(bundle, "config/ca")).toEqual({
        importedIssuers: [],
        importedKeys: [],
        existingIssuers: first.importedIssuers,
        existingKeys: first.importedKeys,
        mapping: first.mapping,
        warnings: [],
      })
      for (const endpoint of ["issuers/import/cert", "intermediate/set-signed"] as const)
        await expect(issuers.import(bundle, endpoint)).rejects.toMatchObject(refused("invalid", ["pemBundle"]))
      await expect(issuers.import("")).rejects.toMatchObject(refused("invalid", ["pemBundle"]))
    })
  })

  describe("an issuer", () => {
    test("is read, changed, revoked and deleted", async () => {
      const { issuers } = await newMount()
      const root = await issuers.generateRoot({ ...ec, commonName: "Root", issuerName: "root" })
      expect(await issuers.get("root")).toEqual(await issuers.get("default"))
      const { certificate, caChain, ...shown } = await issuers.certificate("root")
      expect(shown).toMatchObject({ id: root.issuerId, name: "root" })
      expect([certificate, ...caChain].map(hex)).toEqual([hex(root.certificate), hex(root.certificate)])
      const urls = { ocspServers: ["http://ocsp.example.com"], enableTemplating: true }
      const changed = await issuers.update("root", { leafNotAfterBehavior: "permit", manualChain: ["root"], ...urls })
      expect(changed.issuer).toMatchObject({
        name: "root",
        settings: { leafNotAfterBehavior: "permit", manualChain: [root.issuerId], urls },
      })
      const replaced = await issuers.replace("root", { issuerName: "other", usage: ["crl-signing"] })
      expect(replaced.issuer).toMatchObject({
        name: "other",
        settings: { leafNotAfterBehavior: "err", usage: ["read-only", "crl-signing"], manualChain: [] },
      })
      expect((await issuers.update("other", { issuerName: null })).issuer.name).toBeNull()
      const revoked = await issuers.revoke("default")
      expect(revoked.issuer.revokedAt).toBeTypeOf("number")
      expect(await issuers.get("default")).toEqual(revoked.issuer)
      expect(await issuers.delete("default")).toHaveLength(1)
      expect(await issuers.delete(root.issuerId)).toEqual([])
      expect(await issuers.deleteAll()).toHaveLength(1)
    })

    test("is rejected with every fault, and not found when missing", async () => {
      const { issuers } = await newMount()
      await issuers.generateRoot({ ...ec, commonName: "Root" })
      const wrong = { issuerName: "a b", leafNotAfterBehavior: "x", usage: ["y"], manualChain: ["z"] }
      const refusal = refused("invalid", ["issuerName"], ["leafNotAfterBehavior"], ["usage"], ["manualChain"])
      await expect(issuers.update("default", wrong)).rejects.toMatchObject(refusal)
      await expect(issuers.replace("default", wrong)).rejects.toMatchObject(refusal)
      for (const ask of [
        () => issuers.get("absent"),
        () => issuers.certificate("absent"),
        () => issuers.update("absent", {}),
        () => issuers.replace("absent", {}),
        () => issuers.revoke("absent"),
      ])
        await expect(ask()).rejects.toMatchObject(refused("not-found"))
    })
  })

  describe("a key", () => {
    test("is generated, imported, read, renamed and deleted", async () => {
      const { keys } = await newMount()
      expect(await keys.list()).toEqual([])
      const generated = await keys.generate({ ...ec, keyName: "kept" })
      expect(generated).toMatchObject({ name: "kept", type: "ec", privateKey: undefined, warnings: [] })
      const { privateKey } = await keys.generate({ keyType: "ed25519", keySource: "exported" })
      expect(privateKey?.algorithm).toEqual({ type: "ed25519" })
      const imported = await keys.import(openssl("genpkey", "-algorithm", "ed25519"), "imported")
      const read = await keys.get("imported")
      expect(read).toMatchObject({ id: imported.id, name: "imported", type: "ed25519" })
      expect(hex(read.subjectKeyIdentifier)).toBe(hex(imported.subjectKeyIdentifier))
      expect(await keys.rename("imported", "renamed")).toMatchObject({ id: imported.id, name: "renamed" })
      expect(await keys.rename("renamed", null)).toMatchObject({ name: null })
      expect(await keys.list()).toMatchObject([
        { id: generated.id, name: "kept", isDefault: true },
        { name: null, isDefault: false },
        { id: imported.id, name: null, isDefault: false },
      ])
      expect(await keys.delete(imported.id)).toEqual([])
      expect(await keys.delete("kept")).toHaveLength(1)
    })

    test("is rejected with every fault, and not found when missing", async () => {
      const { keys, issuers } = await newMount()
      await expect(keys.generate({ keyName: "a b", keyType: "dsa" })).rejects.toMatchObject(
        refused("invalid", ["keyType"], ["keyName"]),
      )
      await expect(keys.generate({ keySource: "kms" })).rejects.toMatchObject(refused("invalid", ["keySource"]))
      await expect(keys.import(foreignCertificate())).rejects.toMatchObject(refused("invalid", ["pemBundle"]))
      await expect(keys.get("absent")).rejects.toMatchObject(refused("not-found"))
      await expect(keys.rename("absent", "x")).rejects.toMatchObject(refused("not-found"))
      const { keyId } = await issuers.generateRoot({ ...ec, commonName: "Root" })
      await expect(keys.delete(keyId)).rejects.toMatchObject(refused("unprocessable"))
    })
  })

  test("keys and issuers of a missing mount are not found", async () => {
    const { issuers, keys, settings } = engine().root.pki("contract/absent")
    for (const ask of [
      () => issuers.list(),
      () => issuers.certificate("default"),
      () => keys.list(),
      () => settings.urls(),
    ])
      await expect(ask()).rejects.toMatchObject(refused("not-found"))
  })

  describe("the configuration of a mount", () => {
    test("is written and read back", async () => {
      const { issuers, settings } = await newMount()
      const { issuerId, keyId } = await issuers.generateRoot({ ...ec, commonName: "Root", issuerName: "next" })
      const issuersSettings = { default: issuerId, defaultFollowsLatestIssuer: true }
      const saved = await settings.changeIssuers({ default: "next", defaultFollowsLatestIssuer: true })
      expect(saved).toEqual({ value: issuersSettings, warnings: [] })
      expect(await settings.issuers()).toEqual(issuersSettings)
      expect((await settings.replaceRoot()).value).toEqual(issuersSettings)
      expect(await settings.changeKeys({ default: keyId })).toEqual({ value: { default: keyId }, warnings: [] })
      expect(await settings.keys()).toEqual({ default: keyId })
      const urls = await settings.changeUrls({ ocspServers: ["{{cluster_path}}/ocsp"], enableTemplating: true })
      expect(urls.warnings).toHaveLength(1)
      expect(await settings.urls()).toEqual(urls.value)
      const cluster = { path: "https://ca.example.com/v1/pki", aiaPath: "http://ca.example.com" }
      expect(await settings.changeCluster(cluster)).toEqual({ value: cluster, warnings: [] })
      expect(await settings.cluster()).toEqual(cluster)
    })

    test("is rejected with every fault", async () => {
      const { settings } = await newMount()
      await expect(settings.changeIssuers({ default: "absent" })).rejects.toMatchObject(refused("not-found"))
      await expect(settings.replaceRoot()).rejects.toMatchObject(refused("not-found"))
      await expect(settings.changeKeys({ default: "" })).rejects.toMatchObject(refused("invalid", ["default"]))
      await expect(settings.changeUrls({ issuingCertificates: ["/ca"], ocspServers: ["/ocsp"] })).rejects.toMatchObject(
        refused("invalid", ["issuingCertificates"], ["ocspServers"]),
      )
      await expect(settings.changeCluster({ path: "http://a.b", aiaPath: "x" })).rejects.toMatchObject(
        refused("invalid", ["path"], ["aiaPath"]),
      )
    })
  })
}
