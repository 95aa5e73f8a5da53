import { Agent } from "node:https"
import { axios, type Client, crypto } from "acme-client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { bindingOption, type ChallengeType, npmClient, obtain, openClient, registeredClient } from "./acme-npm.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture, responderHost } from "./acme-fixture.ts"

const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(responder === "")("acme-client", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
    axios.defaults.httpsAgent = new Agent({ ca: fixture.root })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test.concurrent.each(rowsOf(npmClient))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(npmClient, fixture, row)).toEqual(row.outcome)
  })

  type Options = Partial<Parameters<typeof openClient>[0]>
  const open = (options: Options = {}) => openClient({ directoryUrl: fixture.directory(), ...options })
  const registered = (options: Options = {}) => registeredClient({ directoryUrl: fixture.directory(), ...options })
  const obtained = (client: Client, type: ChallengeType, names: readonly string[]) =>
    obtain(client, fixture, { type, names })

  test("obtains the preferred chain", async () => {
    const orderInput = { type: "http-01", names: ["chain.example.com"], preferredChain: "Other Root" } as const
    const bundle = await obtain(await registered(), fixture, orderInput)
    expect(namesInChain(bundle, fixture.otherRoot)).toEqual(["DNS:chain.example.com"])
    expect(() => namesInChain(bundle, fixture.root)).toThrow("verify")
  })

  test("revokes a certificate once", async () => {
    const client = await registered()
    const bundle = await obtained(client, "http-01", ["once.example.com"])
    await client.revokeCertificate(bundle)
    await expect(client.revokeCertificate(bundle)).rejects.toThrow("is already revoked")
  })

  test("is offered the challenge types that fit each name and address", async () => {
    const client = await registered()
    const order = await client.createOrder({
      identifiers: [
        { type: "ip", value: responderHost },
        { type: "dns", value: "offered.example.com" },
        { type: "dns", value: "*.offered.example.com" },
      ],
    })
    const offered = (await client.getAuthorizations(order)).map(({ identifier, wildcard = false, challenges }) => ({
      name: `${wildcard ? "*." : ""}${identifier.value}`,
      types: challenges.map(({ type }) => type).toSorted(),
    }))
    expect(offered.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1))).toEqual([
      { name: "*.offered.example.com", types: ["dns-01"] },
      { name: responderHost, types: ["http-01"] },
      { name: "offered.example.com", types: ["dns-01", "http-01", "tls-alpn-01"] },
    ])
  })

  test("gets the reason and no certificate when no challenge response is served", async () => {
    const client = await registered()
    const [order, again] = await Promise.all(
      ["silent.example.com", "silent.example.com"].map((value) =>
        client.createOrder({ identifiers: [{ type: "dns", value }] }),
      ),
    )
    if (order === undefined || again === undefined) throw new Error("no orders")
    const [authorization] = await client.getAuthorizations(order)
    const challenge = authorization?.challenges.find(({ type }) => type === "dns-01")
    if (authorization === undefined || challenge === undefined) throw new Error("no challenge")
    await client.deactivateAuthorization(authorization)
    await expect(client.completeChallenge(challenge)).rejects.toThrow("deactivated")
    expect(await client.getOrder(order)).toMatchObject({
      status: "invalid",
      error: { type: "urn:ietf:params:acme:error:unauthorized" },
    })
    expect((await client.getOrder(again)).status).toBe("pending")
  })

  test("rolls its key over, and the old key belongs to no account", async () => {
    const accountKey = await crypto.createPrivateEcdsaKey()
    const client = await registered({ accountKey })
    const url = client.getAccountUrl()
    const newKey = await crypto.createPrivateKey(2_048)
    await client.updateAccountKey(newKey)
    const bundle = await obtained(client, "http-01", ["rolled.example.com"])
    expect(namesInChain(bundle, fixture.root)).toEqual(["DNS:rolled.example.com"])

    const withOldKey = await open({ accountKey })
    await expect(withOldKey.createAccount({ onlyReturnExisting: true })).rejects.toThrow(
      "No account exists for this key",
    )
    const withNewKey = await open({ accountKey: newKey })
    await withNewKey.createAccount({ onlyReturnExisting: true })
    expect(withNewKey.getAccountUrl()).toBe(url)

    const other = await registered()
    await expect(other.updateAccountKey(newKey)).rejects.toThrow("another account")
  })

  test("deactivates an account", async () => {
    const accountKey = await crypto.createPrivateEcdsaKey()
    const client = await registered({ accountKey })
    expect((await client.updateAccount({ contact: ["mailto:new@example.com"] })).contact).toEqual([
      "mailto:new@example.com",
    ])
    expect((await client.updateAccount({ status: "deactivated" })).status).toBe("deactivated")
    await expect(obtained(client, "http-01", ["late.example.com"])).rejects.toThrow("deactivated")
    await expect((await open({ accountKey })).createAccount()).rejects.toThrow("deactivated")
  })

  test("revokes another account's certificate only after authorizing all of its names", async () => {
    const bundle = await obtained(await registered(), "http-01", ["own.example.com", "shared.example.com"])
    const other = await registered()
    await obtained(other, "http-01", ["shared.example.com"])
    await expect(other.revokeCertificate(bundle)).rejects.toThrow("may not revoke this certificate")
    expect(await fixture.revocation(bundle)).toBeUndefined()
    await obtained(other, "http-01", ["own.example.com"])
    await other.revokeCertificate(bundle, { reason: 1 })
    expect(await fixture.revocation(bundle)).toBe("Key Compromise")
  })

  test("gets a certificate only where CAA records permit this authority", async () => {
    const say = (name: string, tag: string, value: string) =>
      fixture.responder.tell("add-caa", { host: `${name}.`, policies: [{ tag, value }] })
    await say("mine.example.org", "issue", "ca.example; validationmethods=http-01")
    await say("theirs.example.org", "issue", "other.example")
    await say("tame.example.org", "issuewild", ";")
    await fixture.configure({ caa_identities: ["ca.example"] })
    try {
      const client = await registered()
      const bundle = await obtained(client, "http-01", ["www.mine.example.org"])
      expect(namesInChain(bundle, fixture.root)).toEqual(["DNS:www.mine.example.org"])
      const refused = "do not allow this CA to issue"
      await expect(obtained(client, "dns-01", ["www.mine.example.org", "*.mine.example.org"])).rejects.toThrow(refused)
      await expect(obtained(client, "http-01", ["www.theirs.example.org"])).rejects.toThrow(refused)
      await expect(obtained(client, "dns-01", ["*.tame.example.org"])).rejects.toThrow(refused)
      await expect(obtained(client, "dns-01", ["tame.example.org"])).resolves.toBeDefined()
    } finally {
      await fixture.configure({ caa_identities: [] })
    }
  })

  test("registers with an external account binding of the directory, once", async () => {
    const { bound } = fixture
    const register = async (path?: string, waiting = bound.newBinding(path)) =>
      registeredClient({ directoryUrl: bound.directory(), ...bindingOption(await waiting) })
    await expect(registeredClient({ directoryUrl: bound.directory() })).rejects.toThrow(
      '"externalAccountBinding" is required',
    )
    await expect(register("issuer/default/acme")).rejects.toThrow("not an unused binding of this directory")
    const binding = bound.newBinding()
    await register(undefined, binding)
    await expect(register(undefined, binding)).rejects.toThrow("not an unused binding of this directory")
    const directoryUrl = fixture.directory("roles/server/acme")
    const ofRole = bindingOption(await fixture.newBinding("roles/server/acme"))
    const client = await registeredClient({ directoryUrl, ...ofRole })
    expect(namesInChain(await obtained(client, "http-01", ["role.example.com"]), fixture.root)).toEqual([
      "DNS:role.example.com",
    ])
  })
})
