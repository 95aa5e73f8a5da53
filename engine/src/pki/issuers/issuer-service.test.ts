import { describe, expect, test } from "vitest"
import { compileAccess } from "../../core/access.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openssl } from "../../../testing/openssl.ts"
import { foreignRoot, issuingMount } from "../../../testing/issuing-mount.ts"
import { writePem } from "../../x509/pem.ts"
import { defaultIssuerSettings, noDisabledChecks, noUrls } from "./issuer.ts"

const ec = { keyType: "ec" } as const
const absent = { code: "not-found", message: "unable to find PKI issuer for reference: absent" }

test("[P-1-n6] an issuer is referred to by its id, by its name, or as the default", async () => {
  await using mount = await issuingMount()
  const { issuers } = mount.pki
  const { issuerId } = await issuers.generateRoot({ ...ec, commonName: "One", issuerName: "one" })
  await issuers.generateRoot({ ...ec, commonName: "Two" })
  for (const reference of [issuerId, "one", "default"])
    expect(await issuers.get(reference)).toMatchObject({ id: issuerId, name: "one" })
})

test("an unknown reference answers not found for every operation", async () => {
  await using mount = await issuingMount()
  const { issuers } = mount.pki
  await expect(issuers.get("absent")).rejects.toMatchObject(absent)
  await expect(issuers.certificate("absent")).rejects.toMatchObject(absent)
  await expect(issuers.update("absent", {})).rejects.toMatchObject(absent)
  await expect(issuers.replace("absent", {})).rejects.toMatchObject(absent)
  await expect(issuers.revoke("absent")).rejects.toMatchObject(absent)
  await expect(issuers.get("default")).rejects.toMatchObject({ message: "no default issuer currently configured" })
})

test("[P-1-n3] a mount holds several issuers, each with a subject and a key of its own, and one of them is the default", async () => {
  await using mount = await issuingMount()
  const { issuers, certificates, roles } = mount.pki
  const one = await issuers.generateRoot({ ...ec, commonName: "One", issuerName: "one" })
  const two = await issuers.generateRoot({ ...ec, commonName: "Two" })
  const { certificate } = foreignRoot()
  const [foreignId] = (await issuers.import(certificate)).importedIssuers
  expect(await issuers.list()).toEqual([
    { id: one.issuerId, name: "one", keyId: one.keyId, isDefault: true, serialNumber: one.serialNumber },
    { id: two.issuerId, name: null, keyId: two.keyId, isDefault: false, serialNumber: two.serialNumber },
    { id: foreignId, name: null, keyId: null, isDefault: false, serialNumber: expect.stringMatching(/^[0-9a-f:]+$/) },
  ])
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const byDefault = await certificates.issue("any", { commonName: "a.example.com" })
  const byName = await certificates.issue("any", { commonName: "a.example.com" }, { issuerRef: two.issuerId })
  expect([byDefault.issuingCa, byName.issuingCa]).toEqual([one.certificate, two.certificate])
  expect(byDefault.serialNumber).not.toBe(byName.serialNumber)
})

describe("the settings of an issuer", () => {
  test("have defaults, are patched, and are replaced as a whole", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const root = await issuers.generateRoot({ ...ec, commonName: "Root", issuerName: "root" })
    const view = {
      id: root.issuerId,
      name: "root",
      keyId: root.keyId,
      certificate: root.certificate,
      caChain: [root.certificate],
      settings: defaultIssuerSettings,
      revokedAt: null,
    }
    expect(await issuers.get("root")).toEqual(view)
    const patched = await issuers.update("root", {
      leafNotAfterBehavior: "truncate",
      usage: ["crl-signing"],
      revocationSignatureAlgorithm: "ecdsawithsha256",
      ocspServers: ["http://ocsp.example.com"],
    })
    const settings = {
      leafNotAfterBehavior: "truncate",
      usage: ["read-only", "crl-signing"],
      manualChain: [],
      revocationSignatureAlgorithm: "ECDSAWithSHA256",
      ...noDisabledChecks,
      urls: { ...noUrls, ocspServers: ["http://ocsp.example.com"] },
    }
    expect(patched).toEqual({ issuer: { ...view, settings }, warnings: [] })
    const renamed = await issuers.update("root", {
      issuerName: "renamed",
      crlDistributionPoints: ["http://crl.example.com"],
    })
    expect(renamed.issuer).toMatchObject({
      name: "renamed",
      settings: { ...settings, urls: { ...settings.urls, crlDistributionPoints: ["http://crl.example.com"] } },
    })
    const replaced = await issuers.replace("renamed", { deltaCrlDistributionPoints: ["http://delta.example.com"] })
    expect(replaced.issuer).toEqual({
      ...view,
      name: null,
      settings: {
        ...defaultIssuerSettings,
        urls: { ...noUrls, deltaCrlDistributionPoints: ["http://delta.example.com"] },
      },
    })
    expect(await issuers.get("default")).toEqual(replaced.issuer)
  })

  test("turn templates on and off", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    await issuers.generateRoot({ ...ec, commonName: "Root" })
    const on = await issuers.update("default", { enableTemplating: true })
    expect(on.issuer.settings.urls.enableTemplating).toBe(true)
    const off = await issuers.update("default", { enableTemplating: false })
    expect(off.issuer.settings.urls.enableTemplating).toBe(false)
  })

  test.each<[why: string, input: object, field: string]>([
    ["a reserved name", { issuerName: "default" }, "issuerName"],
    ["an invalid name", { issuerName: "a b" }, "issuerName"],
    ["a name that is in use", { issuerName: "other" }, "issuerName"],
    ["an unknown behaviour", { leafNotAfterBehavior: "ignore" }, "leafNotAfterBehavior"],
    ["an unknown usage", { usage: ["signing"] }, "usage"],
    ["a chain with an unknown issuer", { manualChain: ["absent"] }, "manualChain"],
    ["a chain that begins with another issuer", { manualChain: ["other"] }, "manualChain"],
    ["a chain with an issuer twice", { manualChain: ["default", "default"] }, "manualChain"],
    ["a chain longer than the mount has issuers", { manualChain: ["default", "other", "default"] }, "manualChain"],
    ["an unknown algorithm", { revocationSignatureAlgorithm: "MD5WithRSA" }, "revocationSignatureAlgorithm"],
    [
      "an algorithm of another key type",
      { revocationSignatureAlgorithm: "SHA256WithRSA" },
      "revocationSignatureAlgorithm",
    ],
    ["an invalid URL", { ocspServers: ["ocsp"] }, "ocspServers"],
  ])("are rejected with %s and stay unchanged", async (_why, input, field) => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    await issuers.generateRoot({ ...ec, commonName: "Root" })
    await issuers.generateRoot({ ...ec, commonName: "Other", issuerName: "other" })
    const before = await issuers.get("default")
    const refusal = { code: "invalid", faults: [{ field: [field] }] }
    await expect(issuers.update("default", input)).rejects.toMatchObject(refusal)
    await expect(issuers.replace("default", input)).rejects.toMatchObject(refusal)
    expect(await issuers.get("default")).toEqual(before)
  })

  test("are rejected with all faults", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    await issuers.generateRoot({ ...ec, commonName: "Root" })
    const wrong = { issuerName: "a b", leafNotAfterBehavior: "x", usage: ["y"], manualChain: ["z"], ocspServers: ["o"] }
    await expect(issuers.update("default", wrong)).rejects.toMatchObject({
      faults: [
        { field: ["issuerName"] },
        { field: ["leafNotAfterBehavior"] },
        { field: ["usage"] },
        { field: ["manualChain"] },
        { field: ["ocspServers"] },
      ],
    })
  })

  test("must not contradict the certificate", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const request = await issuers.generateIntermediate({ ...ec, commonName: "Mute" })
    const signed = foreignRoot().sign(
      writePem("CERTIFICATE REQUEST", request.csr),
      "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign",
    )
    await issuers.import(signed, "intermediate/set-signed")
    const { settings } = await issuers.get("default")
    expect(settings.usage).toEqual(["read-only", "issuing-certificates", "ocsp-signing"])
    await expect(issuers.update("default", { usage: ["crl-signing"] })).rejects.toMatchObject({
      faults: [{ detail: expect.stringContaining("without CRLSign") }],
    })
    expect((await issuers.replace("default", {})).issuer.settings.usage).toEqual(settings.usage)
  })
})

describe("the chain of an issuer", () => {
  async function crossSigned() {
    const mount = await issuingMount()
    const { issuers } = mount.pki
    const [one, other] = [foreignRoot("/CN=One"), foreignRoot("/CN=Other")]
    const request = await issuers.generateIntermediate({ ...ec, commonName: "CA" })
    const csr = writePem("CERTIFICATE REQUEST", request.csr)
    const bundle = [one.certificate, other.certificate, one.sign(csr), other.sign(csr)]
    const { importedIssuers } = await issuers.import(bundle.join("\n"))
    const [oneId = "", otherId = "", byOne = "", byOther = ""] = importedIssuers
    return { ...mount, issuers, oneId, otherId, byOne, byOther }
  }

  test("is built from the certificates of the mount by their signatures", async () => {
    await using mount = await crossSigned()
    const { issuers, oneId, otherId, byOne, byOther } = mount
    const certificate = async (id: string) => (await issuers.certificate(id)).certificate
    expect((await issuers.certificate(byOne)).caChain).toEqual([await certificate(byOne), await certificate(oneId)])
    expect((await issuers.certificate(byOther)).caChain).toEqual([
      await certificate(byOther),
      await certificate(otherId),
    ])
    expect((await issuers.certificate(oneId)).caChain).toEqual([await certificate(oneId)])
  })

  test("is the manual chain, with a warning about certificates that do not belong", async () => {
    await using mount = await crossSigned()
    const { issuers, oneId, otherId, byOne, byOther } = mount
    const ids = [byOne, oneId, byOther, otherId]
    const saved = await issuers.update(byOne, { manualChain: ids })
    expect(saved.issuer.settings.manualChain).toEqual(ids)
    expect(saved.warnings).toEqual([expect.stringContaining(byOther)])
    expect(saved.issuer.caChain).toEqual(
      await Promise.all(ids.map(async (id) => (await issuers.certificate(id)).certificate)),
    )
    await mount.pki.roles.save("any", { allowAnyName: true, keyType: "ec", issuerRef: byOne, ttlMs: dayMs })
    const issued = await mount.pki.certificates.issue("any", { commonName: "a.example.com" })
    expect(issued.caChain).toEqual(saved.issuer.caChain)
    expect((await issuers.update(byOne, { manualChain: [] })).issuer.caChain).toHaveLength(2)
  })

  test("ends when two CAs that have signed each other form a cycle", async () => {
    await using mount = await issuingMount()
    const { issuers, certificates } = mount.pki
    const crossed: string[] = []
    for (const [name, signer] of [
      ["A", "B"],
      ["B", "A"],
    ] as const) {
      for (const one of [name, signer])
        if ((await issuers.list()).every((known) => known.name !== one))
          await issuers.generateRoot({ ...ec, commonName: one, issuerName: one, keyName: one, ttlMs: 30 * dayMs })
      const { csr } = await issuers.generateIntermediate({ commonName: name, keyRef: name }, "intermediate/cross-sign")
      const request = { csr: writePem("CERTIFICATE REQUEST", csr), commonName: name, ttlMs: dayMs }
      crossed.push(
        writePem("CERTIFICATE", (await certificates.signIntermediate(request, { issuerRef: signer })).certificate),
      )
    }
    await mount.world.engine.mounts.create({ path: "circle" })
    const circle = mount.world.engine.pki("circle").issuers
    const [a = "", b = ""] = (await circle.import(crossed.join("\n"))).importedIssuers
    const certificate = async (id: string) => (await circle.certificate(id)).certificate
    expect((await circle.certificate(a)).caChain).toEqual([await certificate(a), await certificate(b)])
    expect((await circle.certificate(b)).caChain).toEqual([await certificate(b), await certificate(a)])
  })

  test("gets shorter when an issuer is deleted", async () => {
    await using mount = await crossSigned()
    const { issuers, oneId, byOne } = mount
    await issuers.update(byOne, { manualChain: [byOne, oneId] })
    await issuers.delete(oneId)
    expect((await issuers.get(byOne)).caChain).toHaveLength(1)
  })
})

describe("a revoked issuer", () => {
  test("cannot issue, is revoked once, and cannot be enabled again", async () => {
    const clock = manualClock()
    await using mount = await issuingMount({ runtime: { ...systemRuntime(), clock } })
    const { issuers, certificates, roles } = mount.pki
    const { issuerId } = await issuers.generateRoot({ ...ec, commonName: "Root", ttlMs: 1e10 })
    await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
    await certificates.issue("any", { commonName: "a.example.com" })
    const revokedAt = clock.now()
    const first = await issuers.revoke("default")
    expect(first.issuer).toMatchObject({
      revokedAt,
      settings: { usage: ["read-only", "crl-signing", "ocsp-signing"] },
    })
    expect(first.warnings).toEqual([expect.stringContaining(issuerId)])
    clock.advance(60_000)
    expect(await issuers.revoke(issuerId)).toEqual(first)
    await expect(certificates.issue("any", { commonName: "a.example.com" })).rejects.toMatchObject({
      code: "unprocessable",
    })
    await expect(issuers.update("default", { usage: ["issuing-certificates"] })).rejects.toMatchObject({
      faults: [{ field: ["usage"], detail: expect.stringContaining("is revoked") }],
    })
    expect((await issuers.replace("default", {})).issuer).toMatchObject({
      revokedAt,
      settings: { usage: ["read-only", "crl-signing", "ocsp-signing"] },
    })
  })
})

describe("a revoked intermediate", () => {
  async function underRoot() {
    const mount = await issuingMount()
    const { issuers, certificates } = mount.pki
    const root = await issuers.generateRoot({ ...ec, commonName: "Root", ttlMs: 30 * dayMs })
    const { csr } = await issuers.generateIntermediate({ ...ec, commonName: "CA" })
    const request = { csr: writePem("CERTIFICATE REQUEST", csr), commonName: "CA", ttlMs: dayMs }
    const signed = await certificates.signIntermediate(request)
    const pem = writePem("CERTIFICATE", signed.certificate)
    return { ...mount, root, signed, pem }
  }

  test("is on the revocation list of its issuer", async () => {
    await using mount = await underRoot()
    const { issuers, revocations } = mount.pki
    const [id = ""] = (await issuers.import(mount.pem)).importedIssuers
    expect(await revocations.list()).toEqual([])
    await issuers.revoke(id)
    await issuers.revoke(id)
    expect(await revocations.list()).toEqual([mount.signed.serialNumber])
    const crl = await mount.pki.crls.get()
    const text = openssl(["crl", "-inform", "DER", "-noout", "-text", "-in", "crl"], { crl: crl?.der ?? "" })
    expect(text).toContain(`Serial Number: ${mount.signed.serialNumber.replaceAll(":", "").toUpperCase()}`)
  })

  test("is revoked when it is imported again", async () => {
    await using mount = await underRoot()
    const { issuers } = mount.pki
    const [first = ""] = (await issuers.import(mount.pem)).importedIssuers
    const { issuer } = await issuers.revoke(first)
    await issuers.delete(first)
    const again = await issuers.import(mount.pem)
    const [second = ""] = again.importedIssuers
    expect(await issuers.get(second)).toMatchObject({
      revokedAt: issuer.revokedAt,
      settings: { usage: ["read-only", "crl-signing", "ocsp-signing"] },
    })
    expect(again.warnings).toEqual([expect.stringContaining("has been revoked in this mount")])
  })

  test("that was revoked as a certificate is revoked as an issuer", async () => {
    await using mount = await underRoot()
    const { issuers, revocations } = mount.pki
    const { revokedAt } = await revocations.revoke({ serialNumber: mount.signed.serialNumber })
    const [id = ""] = (await issuers.import(mount.pem)).importedIssuers
    expect(await issuers.get(id)).toMatchObject({ revokedAt })
  })

  test("is on the list of its issuer when the issuer is imported later", async () => {
    await using mount = await issuingMount()
    const { issuers, revocations } = mount.pki
    const root = foreignRoot()
    const { csr } = await issuers.generateIntermediate({ ...ec, commonName: "CA" })
    const [id = ""] = (await issuers.import(root.sign(writePem("CERTIFICATE REQUEST", csr)))).importedIssuers
    await issuers.revoke(id)
    expect(await revocations.list()).toEqual([])
    await issuers.import(`${root.certificate}${root.key}`)
    expect(await revocations.list()).toHaveLength(1)
  })

  test("is on no list when it is a root", async () => {
    await using mount = await underRoot()
    await mount.pki.issuers.revoke(mount.root.issuerId)
    expect(await mount.pki.revocations.list()).toEqual([])
  })
})

describe("deleting", () => {
  test("an issuer keeps its key, and unsets the default when it was the default", async () => {
    await using mount = await issuingMount()
    const { issuers, keys, settings } = mount.pki
    const one = await issuers.generateRoot({ ...ec, commonName: "One" })
    const two = await issuers.generateRoot({ ...ec, commonName: "Two", issuerName: "two" })
    expect(await issuers.delete("two")).toEqual([])
    expect(await issuers.delete("two")).toEqual([])
    expect(await issuers.delete("default")).toEqual([expect.stringContaining(one.issuerId)])
    expect((await settings.issuers()).default).toBeNull()
    expect(await issuers.list()).toEqual([])
    expect((await keys.list()).map(({ id }) => id)).toEqual([one.keyId, two.keyId])
  })

  test("everything requires sudo and reports what was deleted", async () => {
    await using mount = await issuingMount()
    const { issuers, keys, settings } = mount.pki
    await issuers.generateRoot({ ...ec, commonName: "One" })
    await issuers.generateRoot({ commonName: "Two", keySource: "existing" })
    const { caller } = mount.world.engine
    const holding = (capabilities: readonly ("delete" | "sudo")[]) =>
      mount.as({ ...caller, acl: compileAccess([{ name: "p", rules: [{ path: "pki/root", capabilities }] }]) })
    await expect(holding(["delete"]).issuers.deleteAll()).rejects.toMatchObject({ code: "forbidden" })
    expect(await issuers.list()).toHaveLength(2)
    expect(await holding(["delete", "sudo"]).issuers.deleteAll()).toEqual([
      expect.stringContaining("2 issuers and 1 keys"),
    ])
    expect([await issuers.list(), await keys.list()]).toEqual([[], []])
    expect([(await settings.issuers()).default, (await settings.keys()).default]).toEqual([null, null])
  })
})

test("the public list of issuers has the time of its last change", async () => {
  const clock = manualClock()
  await using mount = await issuingMount({ runtime: { ...systemRuntime(), clock } })
  const { issuers, settings } = mount.pki
  const changedAt = async () => (await issuers.certificate("one")).changedAt
  const one = await issuers.generateRoot({ ...ec, commonName: "One", issuerName: "one", ttlMs: 1e10 })
  expect(await changedAt()).toBe(clock.now())
  const changes = [
    () => issuers.generateRoot({ ...ec, commonName: "Two", issuerName: "two", ttlMs: 1e10 }),
    () => settings.changeIssuers({ default: "two" }),
    () => issuers.update("two", { issuerName: "three" }),
    () => issuers.import(foreignRoot().certificate),
    () => issuers.delete("three"),
  ]
  for (const change of changes) {
    clock.advance(1_000)
    await change()
    expect(await changedAt()).toBe(clock.now())
  }
  clock.advance(1_000)
  await mount.pki.keys.rename(one.keyId, "key")
  expect(await changedAt()).toBe(clock.now() - 1_000)
})
