// One sequence of requests for any ACME server: every resource, and every kind of invalid request.
import { crypto } from "acme-client"
import { createPrivateKey } from "node:crypto"
import type { Responder } from "../acme-fixture.ts"
import {
  type AccountKey,
  type Answer,
  base64url,
  jws,
  macJws,
  newKey,
  type SendOptions,
  RecordingClient,
  thumbprint,
  type Transcript,
} from "./acme-requests.ts"

export interface Partner {
  readonly directory: string
  /** PEM of the root that the server's TLS certificate leads to. */
  readonly root: string
  /** An unused external account binding. */
  readonly binding: { readonly id: string; readonly key: string }
}

export async function converse(partner: Partner, responder: Pick<Responder, "tell">): Promise<Transcript> {
  const client = await RecordingClient.meeting(partner.directory, partner.root)
  try {
    await aboutNonces(client)
    await aboutAccounts(client)
    await aboutBindings(client, partner.binding)
    await aboutSignatures(client)
    await aboutOrders(client)
    const { url, answer } = await aboutChallenges(client, responder)
    await aboutFinalizing(client, url, answer)
    await aboutFailures(client, responder)
    await aboutKeyChange(client)
    await aboutTheEnd(client)
    return client.transcript
  } finally {
    await client.close()
  }
}

const terms = { termsOfServiceAgreed: true }
const dns = (...values: readonly string[]) => ({ identifiers: values.map((value) => ({ type: "dns", value })) })

async function aboutNonces(client: RecordingClient): Promise<void> {
  const { newNonce, newOrder } = client.directory
  await client.plain("requests a nonce by HEAD", "HEAD", newNonce)
  await client.plain("requests a nonce by GET", "GET", newNonce)
  await client.plain("reads a write-only resource", "GET", newOrder)
  await client.plain("requests an unknown path", "GET", `${newOrder}/nothing`)
}

async function aboutAccounts(client: RecordingClient): Promise<void> {
  const { newAccount } = client.directory
  const known = { ...terms, onlyReturnExisting: true }
  const anew = { byKey: true }
  await client.send("looks up a missing account", newAccount, known, anew)
  await client.send("does not agree to the terms", newAccount, {}, anew)
  const contacts = {
    "that is not a URL": ["ops at example"],
    "of another scheme": ["tel:+123456"],
    "with header fields": ["mailto:ops@example.com?subject=x"],
    "of two addresses": ["mailto:ops@example.com,two@example.com"],
    "without a domain": ["mailto:ops"],
  }
  for (const [what, contact] of Object.entries(contacts))
    await client.send(`has a contact ${what}`, newAccount, { ...terms, contact }, { ...anew, key: newKey() })
  const made = await client.send(
    "creates an account",
    newAccount,
    { ...terms, contact: ["mailto:a@example.com"] },
    anew,
  )
  await client.send("creates the same account again", newAccount, terms, anew)
  await client.send("looks up the account", newAccount, known, anew)
  const account = made.location
  client.account = account
  await client.send("reads the account", account)
  await client.send("updates the account without changes", account, {})
  await client.send("changes the contact", account, { contact: ["mailto:b@example.com"] })
  await client.send("changes the contact to none", account, { contact: ["nobody"] })
  await client.send("requests an invalid status", account, { status: "revoked" })
  await client.send("reads the orders", made.document.orders)
  await client.send("reads a missing account", `${account}x`)
  await client.plain("reads the account unsigned", "GET", account)
}

async function aboutBindings(client: RecordingClient, { id, key }: Partner["binding"]): Promise<void> {
  const url = client.directory.newAccount
  const bind = (name: string, header: object, { by = key, to = newKey() } = {}) =>
    client.send(
      name,
      url,
      { ...terms, externalAccountBinding: macJws(by, { alg: "HS256", kid: id, url, ...header }, to.jwk) },
      { key: bound, byKey: true },
    )
  const bound = newKey()
  await bind("binds to an unknown identifier", { kid: "nobody" }, { to: bound })
  await bind("binds by another MAC key", {}, { by: base64url("another key than the one handed out"), to: bound })
  await bind("binds another key than its own", {})
  await bind("binds for another address", { url: `${url}x` }, { to: bound })
  await bind("binds by a signature", { alg: "ES256" }, { to: bound })
  await bind("binds with a nonce", { nonce: "nonce" }, { to: bound })
  await bind("binds an account", {}, { to: bound })
}

async function aboutSignatures(client: RecordingClient): Promise<void> {
  const { newOrder, newAccount } = client.directory
  const order = dns("signed.example.com")
  const say = (
    name: string,
    sendOptions: Parameters<RecordingClient["send"]>[3],
    payload: object | string | undefined = order,
  ) => client.send(`signs ${name}`, newOrder, payload, sendOptions)
  const used = await client.nonce()
  await client.send("", newOrder, order, { nonce: used })
  await say("with a used nonce", { nonce: used })
  await say("with an unknown nonce", { nonce: base64url("a nonce of no server, long enough") })
  await say("with a nonce that is not a string", { header: { nonce: 5 } })
  await say("without a nonce", { header: { nonce: undefined } })
  await say("for another address", { header: { url: newAccount } })
  await say("for no address", { header: { url: undefined } })
  await say("with key and account both", { header: { jwk: client.key.jwk } })
  await say("with neither key nor account", { header: { kid: undefined } })
  await say("with its key where an account is required", { byKey: true })
  await say("as a missing account", { account: `${client.account}x` })
  await say("as an account of another server", { account: "https://elsewhere.example/account/1" })
  await say("as an account where a key is required", { key: newKey() })
  await say("by no algorithm", { header: { alg: "none" } })
  await say("by a MAC", { header: { alg: "HS256" } })
  await say("by an unknown algorithm", { header: { alg: "ES000" } })
  await say("by the algorithm of another key", { header: { alg: "ES384" } })
  await say("without naming the algorithm", { header: { alg: undefined } })
  await say("with an extension that must be understood", { header: { crit: ["exp"], exp: 1 } })
  await say("and changes it afterwards", {
    tamper: (signed) => ({ ...signed, payload: base64url(JSON.stringify(dns("changed.example.com"))) }),
  })
  await say("and leaves the signature out", { tamper: ({ signature: _out, ...signed }) => signed })
  await say("and adds a header outside", { tamper: (signed) => ({ ...signed, header: { alg: "ES256" } }) })
  await say("twice", {
    tamper: ({ payload, protected: head, signature }) => ({
      payload,
      signatures: [
        { protected: head, signature },
        { protected: head, signature },
      ],
    }),
  })
  await say("a body that is not JSON", { tamper: () => "nothing" })
  await say("with padding", { tamper: (signed) => ({ ...signed, signature: `${signed.signature}==` }) })
  await say("in another type", { contentType: "application/json" })
  await say("a payload that is not an object", {}, "[]")
  await say("a payload that is not JSON", {}, "{")
  await client.send("signs no payload where one is required", newOrder)
  const strange: Readonly<Record<string, AccountKey>> = {
    "a weak key": newKey("rsa-1024"),
    "a key on another curve": newKey("P-384"),
  }
  for (const [what, key] of Object.entries(strange))
    await client.send(`creates an account with ${what}`, newAccount, terms, { byKey: true, key })
  await client.send("creates an account with a key of an unknown type", newAccount, terms, {
    byKey: true,
    header: { jwk: { kty: "oct", k: "AAAA" } },
  })
}

async function aboutOrders(client: RecordingClient): Promise<void> {
  const { newOrder } = client.directory
  const order = (name: string, payload: object) => client.send(`orders ${name}`, newOrder, payload)
  await order("nothing", {})
  await order("no names", { identifiers: [] })
  await order("an identifier of another type", { identifiers: [{ type: "email", value: "ops@example.com" }] })
  await order("an identifier without a value", { identifiers: [{ type: "dns" }] })
  const names = {
    "a name with invalid letters": "bücher.example.com",
    "a wildcard in the middle": "a.*.example.com",
    "part of a label as a wildcard": "a*.example.com",
    "a wildcard of a wildcard": "*.*.example.com",
    "a name with a dot at its end": "dot.example.com.",
    "a name with a space": "a b.example.com",
    "an address as a name": "192.0.2.1",
    "a name with an underscore": "a_b.example.com",
    "a name with two dots": "a..example.com",
    "an empty name": "",
    "a name that is too long": `${"a".repeat(64)}.example.com`,
  }
  for (const [what, value] of Object.entries(names)) await order(what, dns(value))
  await order("no address as one", { identifiers: [{ type: "ip", value: "1.2.3" }] })
  await order("with an invalid notBefore", { ...dns("a.example.com"), notBefore: "tomorrow" })
  await order("with an invalid notAfter", { ...dns("a.example.com"), notAfter: "tomorrow" })
  await order("an address", { identifiers: [{ type: "ip", value: "127.0.0.1" }] })
  await order("in mixed case", dns("MiXeD.example.com"))
  await order("the same name twice", dns("twice.example.com", "twice.example.com"))
  await order("a wildcard and its base", dns("*.both.example.com", "both.example.com"))
  const made = await order("a name", dns("order.example.com"))
  const url = made.location
  await client.send("reads the order", url)
  await client.send("writes to the order", url, {})
  await client.plain("reads the order unsigned", "GET", url)
  await client.send("reads a missing order", `${url}x`)
  const [authorization = ""] = made.document.authorizations
  await client.send("reads the authorization", authorization)
  await client.send("reads a missing authorization", `${authorization}x`)
  const other = newKey()
  const { location } = await client.send("", client.directory.newAccount, terms, { byKey: true, key: other })
  const asOther = { key: other, account: location }
  await client.send("reads an order of another account", url, undefined, asOther)
  await client.send("reads an authorization of another account", authorization, undefined, asOther)
  await client.send(
    "deactivates an authorization of another account",
    authorization,
    { status: "deactivated" },
    asOther,
  )
  await client.send("reads another account", client.account ?? "", undefined, asOther)
  await client.send("deactivates another account", client.account ?? "", { status: "deactivated" }, asOther)
  await client.send("requests an invalid status of the authorization", authorization, { status: "valid" })
  await client.send("finalizes too early", made.document.finalize, { csr: await csr("order.example.com") })
  await client.send("deactivates the authorization", authorization, { status: "deactivated" })
  await client.send("deactivates the authorization again", authorization, { status: "deactivated" })
  await client.send("reads the order of the deactivated authorization", url)
}

/** The progress at the time of the answer depends on timing. */
const pendingOptions: SendOptions = { besides: ["/status", "/certificate", "/validated", "/error", "retry-after"] }

function challengeOf({ challenges }: Answer["document"], type: string) {
  const found = challenges.find((one) => one.type === type)
  if (found === undefined) throw new Error(`there is no ${type}`)
  return found
}

const provedName = "proved.example.com"

async function aboutChallenges(client: RecordingClient, responder: Pick<Responder, "tell">) {
  const wildcard = await client.send("", client.directory.newOrder, dns("*.wild.example.com"))
  await client.send("reads the authorization of a wildcard", wildcard.document.authorizations[0] ?? "")
  const order = await client.send("", client.directory.newOrder, dns(provedName))
  const [authorization = ""] = order.document.authorizations
  const { document } = await client.send("", authorization)
  const challenge = challengeOf(document, "http-01")
  await client.send("reads the challenge", challenge.url)
  await client.send("reads a missing challenge", `${challenge.url}x`)
  const other = newKey()
  const { location } = await client.send("", client.directory.newAccount, terms, { byKey: true, key: other })
  await client.send("answers a challenge of another account", challenge.url, {}, { key: other, account: location })
  await client.send("answers a challenge with no object", challenge.url, "[]")
  const content = `${challenge.token}.${thumbprint(client.key)}`
  await responder.tell("add-http01", { token: challenge.token, content })
  await client.send("answers the challenge", challenge.url, {}, pendingOptions)
  await client.until("reads the valid authorization", authorization, ["pending"])
  await client.send("reads the valid challenge", challenge.url)
  await client.send("answers the valid challenge", challenge.url, {})
  const again = await client.send("orders an authorized name", client.directory.newOrder, dns(provedName))
  await client.send("reads the reused authorization", again.document.authorizations[0] ?? "")
  return {
    url: order.location,
    answer: await client.until("reads the ready order", order.location, ["pending"]),
  }
}

async function csr(...altNames: readonly string[]): Promise<string> {
  return csrBy(await crypto.createPrivateEcdsaKey(), altNames)
}

async function csrBy(key: Buffer, altNames: readonly string[]): Promise<string> {
  const [, pem] = await crypto.createCsr({ altNames: [...altNames] }, key)
  return base64url(derOf(pem.toString()))
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----.*?-----|\s/g, ""), "base64")

async function aboutFinalizing(client: RecordingClient, url: string, { document: order }: Answer): Promise<void> {
  const finalize = (name: string, payload: object) =>
    client.send(`finalizes ${name}`, order.finalize, payload, pendingOptions)
  const ownKey = Buffer.from(client.key.key.export({ type: "pkcs8", format: "pem" }))
  const forged = Buffer.from(await csr(provedName), "base64url")
  forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1)
  const bad = {
    "without a CSR": undefined,
    "with an invalid CSR": base64url("no CSR"),
    "with a CSR in another encoding": "+/==",
    "with a CSR for another name": await csr("other.example.com"),
    "with a CSR for one more name": await csr(provedName, "other.example.com"),
    "with a CSR of the account's key": await csrBy(ownKey, [provedName]),
    "with a CSR with a broken signature": base64url(forged),
    "with a CSR of a weak key": await csrBy(await crypto.createPrivateRsaKey(1_024), [provedName]),
  }
  for (const [what, sent] of Object.entries(bad)) {
    // A server may accept one of these CSRs, so each is sent to a new order that is ready.
    const { document } = await client.send("", client.directory.newOrder, dns(provedName))
    await client.send(`finalizes ${what}`, document.finalize, { csr: sent })
  }
  const key = await crypto.createPrivateEcdsaKey()
  await finalize("the order", { csr: await csrBy(key, [provedName]) })
  const done = await client.until("reads the finished order", url, ["processing"])
  await finalize("the order again, for another key", { csr: await csr(provedName) })
  const certificate = done.document.certificate
  const downloaded = await client.send("fetches the certificate", certificate)
  const [, alternate = ""] = /<([^>]+)>;rel="alternate"/.exec(downloaded.links.join(",")) ?? []
  await client.send("fetches the other chain", alternate)
  await client.send("fetches a missing certificate", `${certificate}/99`)
  await client.plain("fetches the certificate unsigned", "GET", certificate)
  const other = newKey()
  const { location } = await client.send("", client.directory.newAccount, terms, { byKey: true, key: other })
  const asOther = { key: other, account: location }
  await client.send("fetches a certificate of another account", certificate, undefined, asOther)
  await aboutRevoking(client, derOf(downloaded.text.split("-----END")[0] ?? ""), key, asOther)
}

async function aboutRevoking(client: RecordingClient, der: Buffer, key: Buffer, asOther: object): Promise<void> {
  const { revokeCert } = client.directory
  const certificate = base64url(der)
  const own = createPrivateKey(key)
  const { kty, crv, x, y } = own.export({ format: "jwk" })
  const byCertificate = { byKey: true, key: { alg: "ES256", key: own, jwk: { kty, crv, x, y } } }
  const revoke = (name: string, payload: object, sendOptions?: object) =>
    client.send(`revokes ${name}`, revokeCert, payload, sendOptions)
  await revoke("nothing", {})
  await revoke("what is no certificate", { certificate: base64url("no certificate") })
  await revoke("for an unknown reason", { certificate, reason: 7 })
  await revoke("for a reason beyond all", { certificate, reason: 99 })
  await revoke("as another account", { certificate }, asOther)
  await revoke("with a key that is none of the certificate's", { certificate }, { byKey: true, key: newKey() })
  await revoke("the certificate", { certificate, reason: 4 }, byCertificate)
  await revoke("the certificate again", { certificate, reason: 4 })
}

async function aboutFailures(client: RecordingClient, responder: Pick<Responder, "tell">): Promise<void> {
  const failures = { "of the wrong content": "wrong", "of no content": undefined }
  for (const [what, content] of Object.entries(failures)) {
    const name = `${content ?? "silent"}.example.com`
    const order = await client.send("", client.directory.newOrder, dns(name))
    const [authorization = ""] = order.document.authorizations
    const challenge = challengeOf((await client.send("", authorization)).document, "http-01")
    if (content !== undefined) await responder.tell("add-http01", { token: challenge.token, content })
    await client.send(`answers a challenge ${what}`, challenge.url, {}, pendingOptions)
    await client.until(`reads the authorization of a challenge ${what}`, authorization, ["pending"])
    await client.until(`reads the order of a challenge ${what}`, order.location, ["pending"])
    await client.send(`answers a challenge ${what} again`, challenge.url, {})
    await client.send(`finalizes after a challenge ${what}`, order.document.finalize, { csr: await csr(name) })
  }
}

async function aboutKeyChange(client: RecordingClient): Promise<void> {
  const { keyChange } = client.directory
  const fresh = newKey()
  const change = (name: string, { header = {}, payload = {}, by = fresh }: Inner = {}) =>
    client.send(
      `changes the key ${name}`,
      keyChange,
      jws(
        by,
        { alg: by.alg, jwk: by.jwk, url: keyChange, ...header },
        { account: client.account, oldKey: client.key.jwk, ...payload },
      ),
    )
  await change("for another address", { header: { url: `${keyChange}x` } })
  await change("for no address", { header: { url: undefined } })
  await change("without showing it", { header: { jwk: undefined } })
  await change("with a signature of another", { header: { jwk: newKey().jwk } })
  await change("of another account", { payload: { account: `${client.account}x` } })
  await change("from a key that it never was", { payload: { oldKey: newKey().jwk } })
  await change("to the same key", { by: client.key })
  const other = newKey()
  await client.send("", client.directory.newAccount, terms, { byKey: true, key: other })
  await change("to that of another account", { by: other })
  await client.send("changes the key with an unsigned payload", keyChange, {})
  await change("to a fresh one")
  await client.send("signs by the old key", client.account ?? "")
  client.key = fresh
  await client.send("signs by the fresh key", client.account ?? "")
}

interface Inner {
  readonly header?: object
  readonly payload?: object
  readonly by?: AccountKey
}

async function aboutTheEnd(client: RecordingClient): Promise<void> {
  const account = client.account ?? ""
  await client.send("deactivates the account", account, { status: "deactivated" })
  await client.send("reads the deactivated account", account)
  await client.send("orders as a deactivated account", client.directory.newOrder, dns("late.example.com"))
  await client.send("creates an account with its key", client.directory.newAccount, terms, { byKey: true })
}
