import { describe, expect, test } from "vitest"
import { foreignRoot, issuingMount } from "../../../testing/issuing-mount.ts"
import { openssl } from "../../../testing/openssl.ts"
import { allKeyAlgorithms, testKeyGenerator, testRsaKey, testRsaPem } from "../../../testing/test-keys.ts"

const ec = { keyType: "ec" } as const

const absent = { code: "not-found", message: "unable to find PKI key for reference: absent" }

describe("a key", () => {
  test.each(
    allKeyAlgorithms.map((algorithm) => ({ type: algorithm.type, bits: "bits" in algorithm ? algorithm.bits : 0 })),
  )("of $type $bits is generated, stored and described", async ({ type, bits }) => {
    await using mount = await issuingMount({ keyGenerator: testKeyGenerator })
    const { keys } = mount.pki
    const key = await keys.generate({ keySource: "exported", keyName: "k", keyType: type, keyBits: bits })
    expect(key).toMatchObject({ name: "k", type, privateKey: { algorithm: { type } }, warnings: [] })
    const { privateKey, warnings: _, ...view } = key
    expect(await keys.get("k")).toEqual(view)
    const text = openssl(["pkey", "-in", "k", "-pubout", "-outform", "DER", "-out", "/dev/null"], {
      k: privateKey?.pem("pkcs8") ?? "",
    })
    expect(text).toBe("")
  })

  test("that is internal is never returned", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    const key = await keys.generate(ec)
    expect(key.privateKey).toBeUndefined()
    expect(JSON.stringify([key, await keys.get(key.id), await keys.list()])).not.toMatch(/private(?!Key)|secret/i)
  })

  test("that is the first becomes the default, and is referenced by id, name or as the default", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    const one = await keys.generate({ ...ec, keyName: "one" })
    const two = await keys.generate({ keyType: "ed25519" })
    expect(await keys.list()).toEqual([
      { id: one.id, name: "one", isDefault: true },
      { id: two.id, name: null, isDefault: false },
    ])
    for (const reference of [one.id, "one", "default"]) expect(await keys.get(reference)).toMatchObject({ id: one.id })
  })

  test.each([
    ["that is managed", { keySource: "kms" } as const, "keySource"],
    ["of an unknown type", { keyType: "dsa" }, "keyType"],
    ["that is weak", { keyType: "rsa", keyBits: 1024 }, "keyBits"],
    ["with a reserved name", { keyName: "default" }, "keyName"],
    ["with an invalid name", { keyName: "a b" }, "keyName"],
    ["with a name that is in use", { keyName: "taken" }, "keyName"],
  ])("%s is not generated", async (_why, input, field) => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    await keys.generate({ ...ec, keyName: "taken" })
    await expect(keys.generate({ ...ec, ...input })).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: [field] }],
    })
    expect(await keys.list()).toHaveLength(1)
  })

  test("is renamed, and its name is removed", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    const key = await keys.generate({ ...ec, keyName: "one" })
    await keys.generate({ ...ec, keyName: "other" })
    expect(await keys.rename("one", "two")).toMatchObject({ id: key.id, name: "two" })
    expect(await keys.rename("two", "two")).toMatchObject({ name: "two" })
    await expect(keys.rename("two", "other")).rejects.toMatchObject({ faults: [{ field: ["keyName"] }] })
    await expect(keys.rename("two", "default")).rejects.toMatchObject({ faults: [{ field: ["keyName"] }] })
    expect(await keys.rename("two", "")).toMatchObject({ name: null })
    await expect(keys.get("two")).rejects.toMatchObject({ code: "not-found" })
  })

  test("that does not exist is not found, and deleting it succeeds", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    await expect(keys.get("absent")).rejects.toMatchObject(absent)
    await expect(keys.rename("absent", "x")).rejects.toMatchObject(absent)
    await expect(keys.get("default")).rejects.toMatchObject({ message: "no default key currently configured" })
    expect(await keys.delete("absent")).toEqual([])
  })

  test("is deleted when no issuer uses it", async () => {
    await using mount = await issuingMount()
    const { issuers, keys, settings } = mount.pki
    const { issuerId, keyId } = await issuers.generateRoot({ ...ec, commonName: "Root" })
    await expect(keys.delete(keyId)).rejects.toMatchObject({
      code: "unprocessable",
      message: `Failed to Delete Key.  Key in Use by Issuer: ${issuerId}`,
    })
    await issuers.delete(issuerId)
    expect(await keys.delete("default")).toEqual([expect.stringContaining(keyId)])
    expect([await keys.list(), await settings.keys()]).toEqual([[], { default: null }])
  })
})

describe("importing a key", () => {
  const sec1 = () => openssl(["ecparam", "-name", "prime256v1", "-genkey"])
  const pkcs8 = () => openssl(["genpkey", "-algorithm", "ed25519"])

  test.each([
    ["SEC 1 with a block of parameters", sec1, "ec"],
    ["PKCS#8", pkcs8, "ed25519"],
    ["PKCS#1", () => testRsaKey(2048).pem("traditional"), "rsa"],
  ] as const)("reads %s", async (_form, pem, type) => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    const imported = await keys.import(pem(), "imported")
    const warnings = [expect.stringMatching(/^ocsp_unknown_serials in config\/crl is "unknown"/)]
    expect(imported).toMatchObject({ name: "imported", type, warnings })
    expect(await keys.get("default")).toMatchObject({ id: imported.id })
  })

  test("that exists changes nothing, with a warning", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    const pem = pkcs8()
    const first = await keys.import(pem, "one")
    expect(await keys.import(pem)).toEqual({ ...first, warnings: [expect.stringContaining("already")] })
    const other = await keys.import(pem, "two")
    expect(other).toMatchObject({ id: first.id, name: "one", warnings: [expect.stringContaining("not renamed")] })
    expect(await keys.import(pem, "one")).toMatchObject({ warnings: [expect.not.stringContaining("not renamed")] })
  })

  test("that is weak because of a broken generator is rejected", async () => {
    await using mount = await issuingMount({ keyGenerator: testKeyGenerator })
    const { keys } = mount.pki
    await keys.generate({})
    await expect(keys.generate({})).rejects.toMatchObject({ code: "invalid" })
    expect(await keys.list()).toHaveLength(1)
  })

  test("assigns it to its issuer, which becomes the default", async () => {
    await using mount = await issuingMount()
    const { issuers, keys, settings } = mount.pki
    const { key, certificate } = foreignRoot()
    const [id] = (await issuers.import(certificate)).importedIssuers
    const imported = await keys.import(key)
    expect(await issuers.get(id ?? "")).toMatchObject({ keyId: imported.id })
    expect((await settings.issuers()).default).toBe(id)
  })

  test.each<[why: string, pem: () => string, name?: string]>([
    ["two keys", () => `${pkcs8()}\n${pkcs8()}`],
    ["a key and a certificate", () => `${foreignRoot().certificate}\n${pkcs8()}`],
    ["a certificate", () => foreignRoot().certificate],
    ["an encrypted key", () => openssl(["pkey", "-in", "k", "-aes256", "-passout", "pass:x"], { k: testRsaPem(2048) })],
    ["a weak key", () => openssl(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])],
    ["a key of an unsupported type", () => openssl(["genpkey", "-algorithm", "X25519"])],
    ["nothing", () => ""],
  ])("rejects %s", async (_why, pem) => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    await expect(keys.import(pem())).rejects.toMatchObject({ code: "invalid", faults: [{ field: ["pemBundle"] }] })
    expect(await keys.list()).toEqual([])
  })

  test("rejects an invalid name and a name that is in use", async () => {
    await using mount = await issuingMount()
    const { keys } = mount.pki
    await keys.generate({ ...ec, keyName: "taken" })
    for (const name of ["default", "a b", "taken"])
      await expect(keys.import(pkcs8(), name)).rejects.toMatchObject({ faults: [{ field: ["keyName"] }] })
  })
})
