// The npm package acme-client, which programs use as a library: everything that a client may ask of an account, an order and an
// authorization.
import { Agent } from "node:https"
import { Client, axios, crypto, type Authorization, type ClientOptions } from "acme-client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder } from "../toolchain/acme.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { type AcmeStage, namesInChain, openAcmeStage, responderHost } from "./acme-stage.ts"

const responder = (await publicProgram(challengeResponder)) ?? ""

/** Its own types leave tls-alpn-01 out. */
type ChallengeType = "http-01" | "dns-01" | "tls-alpn-01"
type Challenge = Authorization["challenges"][number]

describe.skipIf(responder === "")("acme-client", () => {
  let stage: AcmeStage

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
    axios.defaults.httpsAgent = new Agent({ ca: stage.root })
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const open = async (options: Partial<ClientOptions> = {}) =>
    new Client({
      directoryUrl: stage.directory(),
      accountKey: await crypto.createPrivateEcdsaKey(),
      backoffMin: 100,
      backoffMax: 1_000,
      ...options,
    })
  async function registered(options: Partial<ClientOptions> = {}) {
    const client = await open(options)
    await client.createAccount({ termsOfServiceAgreed: true, contact: ["mailto:ops@example.com"] })
    return client
  }

  async function answer({ identifier }: Authorization, { type, token }: Challenge, content: string): Promise<void> {
    const host = identifier.value
    const { tell } = stage.responder
    switch (type as ChallengeType) {
      case "http-01":
        return tell("add-http01", { token, content })
      case "tls-alpn-01":
        return tell("add-tlsalpn01", { host, content })
      default:
        return tell("set-txt", { host: `_acme-challenge.${host}.`, value: content })
    }
  }

  async function obtain(client: Client, type: ChallengeType, names: readonly string[], preferredChain?: string) {
    const [, csr] = await crypto.createCsr({ altNames: [...names] }, await crypto.createPrivateEcdsaKey())
    return client.auto({
      csr,
      termsOfServiceAgreed: true,
      skipChallengeVerification: true,
      challengePriority: [type],
      challengeCreateFn: answer,
      challengeRemoveFn: async () => {},
      ...(preferredChain === undefined ? {} : { preferredChain }),
    })
  }

  test.each([
    { type: "http-01", names: ["a.example.com", "b.example.com"] },
    { type: "tls-alpn-01", names: ["c.example.com", "d.example.com"] },
    { type: "dns-01", names: ["*.example.com", "example.com"] },
  ] as const)("gets $names over $type, renews and revokes", async ({ type, names }) => {
    const client = await registered()
    const first = await obtain(client, type, names)
    const expected = names.map((name) => `DNS:${name}`)
    expect(namesInChain(first, stage.root)).toEqual(expected)
    const renewed = await obtain(client, type, names, "Other Root")
    expect(namesInChain(renewed, stage.otherRoot)).toEqual(expected)
    await client.revokeCertificate(renewed, { reason: 4 })
    expect(await stage.revocation(renewed)).toBe("Superseded")
    expect(await stage.revocation(first)).toBeUndefined()
    await expect(client.revokeCertificate(renewed)).rejects.toThrow("is revoked")
  })

  test("gets a certificate for an address beside a name", async () => {
    const client = await registered()
    const order = await client.createOrder({
      identifiers: [
        { type: "ip", value: responderHost },
        { type: "dns", value: "beside.example.com" },
      ],
    })
    for (const authorization of await client.getAuthorizations(order)) {
      const offered = authorization.challenges.map(({ type }) => type).toSorted()
      expect(offered).toEqual(
        authorization.identifier.type === "ip" ? ["http-01"] : ["dns-01", "http-01", "tls-alpn-01"],
      )
      const challenge = authorization.challenges.find(({ type }) => type === "http-01") as Challenge
      await answer(authorization, challenge, await client.getChallengeKeyAuthorization(challenge))
      await client.completeChallenge(challenge)
      await client.waitForValidStatus(challenge)
    }
    const [, csr] = await crypto.createCsr({ altNames: ["beside.example.com", responderHost] })
    const bundle = await client.getCertificate(await client.finalizeOrder(order, csr))
    expect(namesInChain(bundle, stage.root)).toEqual(["DNS:beside.example.com", `IP Address:${responderHost}`])
  })

  test("is told what is wrong where nobody answers, and gets no certificate", async () => {
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

  test("rolls its key over, and the old one is nobody's", async () => {
    const accountKey = await crypto.createPrivateEcdsaKey()
    const client = await registered({ accountKey })
    const url = client.getAccountUrl()
    const newKey = await crypto.createPrivateKey(2_048)
    await client.updateAccountKey(newKey)
    const bundle = await obtain(client, "http-01", ["rolled.example.com"])
    expect(namesInChain(bundle, stage.root)).toEqual(["DNS:rolled.example.com"])

    const withOldKey = await open({ accountKey })
    await expect(withOldKey.createAccount({ onlyReturnExisting: true })).rejects.toThrow("no account")
    const withNewKey = await open({ accountKey: newKey })
    await withNewKey.createAccount({ onlyReturnExisting: true })
    expect(withNewKey.getAccountUrl()).toBe(url)

    const other = await registered()
    await expect(other.updateAccountKey(newKey)).rejects.toThrow("another account")
  })

  test("gives up an account", async () => {
    const accountKey = await crypto.createPrivateEcdsaKey()
    const client = await registered({ accountKey })
    expect((await client.updateAccount({ contact: ["mailto:new@example.com"] })).contact).toEqual([
      "mailto:new@example.com",
    ])
    expect((await client.updateAccount({ status: "deactivated" })).status).toBe("deactivated")
    await expect(obtain(client, "http-01", ["late.example.com"])).rejects.toThrow("deactivated")
    await expect((await open({ accountKey })).createAccount()).rejects.toThrow("deactivated")
  })

  test("revokes what another account has ordered once it has proved all of its names, and not before", async () => {
    const bundle = await obtain(await registered(), "http-01", ["own.example.com", "shared.example.com"])
    const other = await registered()
    await obtain(other, "http-01", ["shared.example.com"])
    await expect(other.revokeCertificate(bundle)).rejects.toThrow("may revoke")
    expect(await stage.revocation(bundle)).toBeUndefined()
    await obtain(other, "http-01", ["own.example.com"])
    await other.revokeCertificate(bundle, { reason: 1 })
    expect(await stage.revocation(bundle)).toBe("Key Compromise")
  })

  test("gets a certificate where CAA records let this authority issue, and nowhere else", async () => {
    const say = (name: string, tag: string, value: string) =>
      stage.responder.tell("add-caa", { host: `${name}.`, policies: [{ tag, value }] })
    await say("mine.example.org", "issue", "ca.example; validationmethods=http-01")
    await say("theirs.example.org", "issue", "other.example")
    await say("tame.example.org", "issuewild", ";")
    await stage.configure({ caa_identities: ["ca.example"] })
    try {
      const client = await registered()
      const bundle = await obtain(client, "http-01", ["www.mine.example.org"])
      expect(namesInChain(bundle, stage.root)).toEqual(["DNS:www.mine.example.org"])
      const refused = "do not let this authority issue"
      await expect(obtain(client, "dns-01", ["www.mine.example.org", "*.mine.example.org"])).rejects.toThrow(refused)
      await expect(obtain(client, "http-01", ["www.theirs.example.org"])).rejects.toThrow(refused)
      await expect(obtain(client, "dns-01", ["*.tame.example.org"])).rejects.toThrow(refused)
      await expect(obtain(client, "dns-01", ["tame.example.org"])).resolves.toBeDefined()
    } finally {
      await stage.configure({ caa_identities: [] })
    }
  })

  test("is let in by an external account binding of the directory, once", async () => {
    await stage.configure({ eab_policy: "always-required" })
    const bind = async (path?: string) => {
      const { id, key } = await stage.newBinding(path)
      return { externalAccountBinding: { kid: id, hmacKey: key } }
    }
    await expect(registered()).rejects.toThrow("external account binding")
    await expect(registered(await bind("roles/server/acme"))).rejects.toThrow("not one that waits")
    const binding = await bind()
    const client = await registered(binding)
    await expect(registered(binding)).rejects.toThrow("not one that waits")
    const bundle = await obtain(client, "http-01", ["bound.example.com"])
    expect(namesInChain(bundle, stage.root)).toEqual(["DNS:bound.example.com"])
    const directoryUrl = stage.directory("roles/server/acme")
    const ofRole = await registered({ directoryUrl, ...(await bind("roles/server/acme")) })
    expect(namesInChain(await obtain(ofRole, "http-01", ["role.example.com"]), stage.root)).toEqual([
      "DNS:role.example.com",
    ])
  })
})
