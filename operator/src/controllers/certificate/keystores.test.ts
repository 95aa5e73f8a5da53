import { describe, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { secrets } from "../../kube/kubernetes-object.ts"
import { openCertificate } from "../../../testing/certificate-fixture.ts"
import { passwordSecretsOf } from "./keystores.ts"

const fromSecret = (type: string) => ({ type, passwordSecretRef: { name: "stores", key: "password" } })
const both = { additionalOutputFormats: [fromSecret("PKCS12"), fromSecret("JKS")] }
const passwordSecret = (password: string) => ({
  metadata: { name: "stores", namespace: "team" },
  data: { password: Buffer.from(password).toString("base64") },
})

type Opened = Awaited<ReturnType<typeof openCertificate>>
const data = (one: Opened) => (one.secret()?.["data"] ?? {}) as Readonly<Record<string, string>>
const opens = (one: Opened, password: string) =>
  openssl(["pkcs12", "-in", "store.p12", "-passin", `pass:${password}`, "-nodes"], {
    "store.p12": Buffer.from(data(one)["keystore.p12"] ?? "", "base64"),
  })

describe("passwords of keystores in a Secret", () => {
  test("open the stores, and a change writes them again without another certificate", async () => {
    await using one = await openCertificate(both)
    one.set(secrets, passwordSecret("hunter2"))
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    const first = data(one)
    expect(opens(one, "hunter2")).toContain("friendlyName: certificate")
    one.set(secrets, passwordSecret("hunter3"))
    await one.look()
    expect(opens(one, "hunter3")).toContain("PRIVATE KEY")
    expect(data(one)["keystore.jks"]).not.toBe(first["keystore.jks"])
    expect(data(one)["tls.crt"]).toBe(first["tls.crt"])
    expect(await one.issued()).toHaveLength(1)
    const written = one.secret()
    await one.look()
    expect(one.secret()).toBe(written)
  })

  test.each<{ why: string; change: (one: Opened) => void; reason: string; message: RegExp }>([
    {
      why: "the Secret is missing",
      change: (one) => one.storeOf(secrets).delete("team/stores"),
      reason: "SecretMissing",
      message: /^There is no Secret stores with the password of PKCS12\./,
    },
    {
      why: "the Secret has no such key",
      change: (one) => void one.set(secrets, { ...passwordSecret("x"), data: { other: "eA==" } }),
      reason: "SecretKeyMissing",
      message: /^The Secret stores has no value for password, the password of PKCS12\./,
    },
    {
      why: "the password ends with a newline",
      change: (one) => void one.set(secrets, passwordSecret("hunter2\n")),
      reason: "InvalidSpec",
      message: /must be 1 to 128 printable ASCII characters, without a newline at its end/,
    },
    {
      why: "the password is empty",
      change: (one) => void one.set(secrets, passwordSecret("")),
      reason: "InvalidSpec",
      message: /must be 1 to 128 printable ASCII characters/,
    },
  ])("stall the Certificate, whose Secret stays unchanged, when $why", async ({ change, reason, message }) => {
    await using one = await openCertificate(both)
    one.set(secrets, passwordSecret("hunter2"))
    await one.look()
    const written = one.secret()
    change(one)
    await one.look()
    expect(one.conditions()).toEqual([`Ready=False ${reason}`, `Stalled=True ${reason}`])
    expect(one.message("Ready")).toMatch(message)
    expect(one.message("Ready")).not.toContain("hunter2")
    expect(one.secret()).toBe(written)
    one.set(secrets, passwordSecret("hunter2"))
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.secret()).toBe(written)
  })

  test("issue nothing while the Secret of a new Certificate is missing", async () => {
    await using one = await openCertificate(both)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=False SecretMissing", "Stalled=True SecretMissing"])
    expect(await one.issued()).toEqual([])
  })
})

test.each([
  { spec: both, keys: ["team/stores"] },
  { spec: { additionalOutputFormats: [{ type: "PKCS12" }, null, { passwordSecretRef: { name: 1 } }] }, keys: [] },
  { spec: { additionalOutputFormats: "PKCS12" }, keys: [] },
  { spec: undefined, keys: [] },
])("passwordSecretsOf returns $keys for the spec $spec", ({ spec, keys }) => {
  expect(passwordSecretsOf({ metadata: { name: "web", namespace: "team" }, spec })).toEqual(keys)
})
