import { X509Certificate } from "node:crypto"
import { describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { type Addresses, ensureAuthorities } from "./dev-authorities.ts"

const host = "127.0.0.1"
const usual: Addresses = { publicUrl: undefined, listen: { host, port: 8420 }, tlsListen: { host, port: 8421 } }

async function prepared(addresses: Partial<Addresses> = {}): Promise<TestEngine> {
  const testEngine = await openTestEngine()
  await ensureAuthorities(testEngine.engine, { ...usual, ...addresses })
  return testEngine
}

const issue = ({ engine }: TestEngine, commonName = "localhost") =>
  engine.pki("pki").certificates.issue("local", { commonName })

test("dev certificates come from an intermediate; the mount has the root without its key", async () => {
  await using testEngine = await prepared()
  const { certificate, caChain } = await issue(testEngine)
  const [leaf, intermediate, root] = [certificate, ...caChain].map((der) => new X509Certificate(der))
  expect([intermediate?.subject, root?.subject]).toEqual([
    "CN=Chancery development intermediate",
    "CN=Chancery development root",
  ])
  expect(
    leaf &&
      intermediate &&
      root && [leaf.verify(intermediate.publicKey), intermediate.verify(root.publicKey), root.verify(root.publicKey)],
  ).toEqual([true, true, true])
  const byRoot = testEngine.engine
    .pki("pki")
    .certificates.issue("local", { commonName: "localhost" }, { issuerRef: "root" })
  await expect(byRoot).rejects.toMatchObject({ code: "not-found" })
})

test("dev certificates contain the URLs of issuer, CRL and OCSP responder", async () => {
  await using testEngine = await prepared()
  const { certificate, issuingCa } = await issue(testEngine)
  for (const [der, path] of [
    [certificate, "pki"],
    [issuingCa, "pki-root"],
  ] as const) {
    const access = new X509Certificate(der).infoAccess ?? ""
    expect(access).toMatch(new RegExp(`CA Issuers - URI:http://127\\.0\\.0\\.1:8420/v1/${path}/issuer/[^/]+/der`))
    expect(access).toContain(`OCSP - URI:http://127.0.0.1:8420/v1/${path}/ocsp`)
  }
})

test("a second start of dev changes nothing, and creates what is missing", async () => {
  await using testEngine = await prepared()
  const before = await testEngine.engine.pki("pki").settings.issuers()
  await ensureAuthorities(testEngine.engine, usual)
  expect(await testEngine.engine.pki("pki").settings.issuers()).toEqual(before)
  await testEngine.engine.pki("pki").roles.delete("local")
  await testEngine.engine.mounts.delete("pki-root")
  await ensureAuthorities(testEngine.engine, usual)
  expect((await issue(testEngine)).caChain).toHaveLength(2)
  expect(await testEngine.engine.pki("pki").settings.issuers()).toEqual(before)
})

describe("the role", () => {
  test.each([["localhost"], ["app.localhost"], ["a.b.localhost"]])("allows %s", async (name) => {
    await using testEngine = await prepared()
    expect((await issue(testEngine, name)).serialNumber).toMatch(/^[0-9a-f:]+$/)
  })
  test.each([
    { commonName: "example.com" },
    { commonName: "localhost", ipSans: ["10.0.0.1"] },
    { commonName: "localhost", altNames: ["localhost.example"] },
  ])("refuses %o", async (input) => {
    await using testEngine = await prepared()
    await expect(testEngine.engine.pki("pki").certificates.issue("local", input)).rejects.toMatchObject({
      code: "invalid",
    })
  })
})

describe("the addresses of the mounts", () => {
  const clusterOf = ({ engine }: TestEngine) => engine.pki("pki").settings.cluster()
  test.each<{ why: string; addresses: Partial<Addresses>; path: string; aiaPath: string }>([
    {
      why: "are the addresses that the server listens on",
      addresses: {},
      path: "https://localhost:8421/v1/pki",
      aiaPath: "http://127.0.0.1:8420/v1/pki",
    },
    {
      why: "contain a host name when the server listens on every interface",
      addresses: { listen: { host: "::", port: 80 }, tlsListen: undefined },
      path: "",
      aiaPath: "http://localhost:80/v1/pki",
    },
    {
      why: "are the public URL when it is set",
      addresses: { publicUrl: new URL("https://dev.example/base/") },
      path: "https://dev.example/base/v1/pki",
      aiaPath: "https://dev.example/base/v1/pki",
    },
    {
      why: "are unknown for a socket",
      addresses: { listen: { path: "/x.sock" }, tlsListen: undefined },
      path: "",
      aiaPath: "",
    },
    {
      why: "are unknown for port 0",
      addresses: { listen: { host, port: 0 }, tlsListen: { host, port: 0 } },
      path: "",
      aiaPath: "",
    },
  ])("$why", async ({ addresses, path, aiaPath }) => {
    await using testEngine = await prepared(addresses)
    expect(await clusterOf(testEngine)).toEqual({ path, aiaPath })
  })

  test("follow the port of this machine, unless a user has set others", async () => {
    await using testEngine = await prepared()
    await ensureAuthorities(testEngine.engine, { ...usual, listen: { host, port: 9000 } })
    expect((await clusterOf(testEngine)).aiaPath).toBe("http://127.0.0.1:9000/v1/pki")
    await testEngine.engine.pki("pki").settings.changeCluster({ aiaPath: "http://ca.example/pki" })
    await ensureAuthorities(testEngine.engine, usual)
    expect((await clusterOf(testEngine)).aiaPath).toBe("http://ca.example/pki")
  })
})
