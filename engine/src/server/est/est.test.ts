import { X509Certificate } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  certificatesIn,
  derOf,
  device,
  deviceRequest,
  type EstMount,
  openEstMount,
} from "../../../testing/est-mount.ts"
import { cheapPasswordHash } from "../../../testing/cheap-password.ts"
import { certificateRequest } from "../../../testing/certificate-requests.ts"
import { testCertificate } from "../../../testing/client-certificates.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { isSamePublicKey, readPublicKey } from "../../x509/public-key.ts"
import { readPrivateKey } from "../../x509/private-key.ts"

const wellKnown = "/.well-known/est"

const leafOf = (response: Awaited<ReturnType<EstMount["send"]>>) => {
  const [leaf, ...others] = certificatesIn(response)
  expect(others).toEqual([])
  return new X509Certificate(leaf ?? "")
}
const countOf = async ({ world }: EstMount) => (await world.engine.pki("pki").certificates.search({})).items.length

describe.each([
  { at: wellKnown },
  { at: `${wellKnown}/printers` },
  { at: "/v1/pki/est" },
  { at: "/v1/pki/roles/web/est" },
])("EST at $at", ({ at }) => {
  test("issues a certificate for a CSR, which has the key and the names of the CSR", async () => {
    await using mount = await openEstMount()
    const { der, privateKey } = await deviceRequest()
    const response = await mount.send(`${at}/simpleenroll`, { body: der })
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("application/pkcs7-mime; smime-type=certs-only")
    expect(response.headers.get("content-transfer-encoding")).toBe("base64")
    const leaf = leafOf(response)
    expect(leaf.subjectAltName).toBe("DNS:printer.example.com")
    const spki = leaf.publicKey.export({ type: "spki", format: "der" })
    expect(isSamePublicKey(readPublicKey(spki), privateKey.publicKey)).toBe(true)
  })

  test("returns the chain of the authority without credentials", async () => {
    await using mount = await openEstMount()
    const response = await mount.send(`${at}/cacerts`, { basic: null })
    expect(response.status).toBe(200)
    expect(certificatesIn(response).map((der) => new X509Certificate(der).subject)).toEqual(["CN=Device Root"])
  })
})

describe("EST authenticates", () => {
  test.each([
    { when: "there are no credentials", basic: null, status: 401 },
    { when: "the password is wrong", basic: "printer:wrong", status: 401 },
    { when: "the user does not exist", basic: "scanner:password", status: 401 },
    { when: "the policies of the user do not grant the path", basic: "guest:password", status: 403 },
  ])("by password, and answers $status when $when", async ({ basic, status }) => {
    await using mount = await openEstMount()
    const { der } = await deviceRequest()
    const before = await countOf(mount)
    const response = await mount.send(`${wellKnown}/simpleenroll`, { body: der, basic })
    expect(response.status).toBe(status)
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? 'Basic realm="EST", charset="UTF-8"' : null)
    // Clients discard a challenge, and Bouncy Castle fails if it has a body.
    expect([response.headers.get("content-type"), response.text]).toEqual(
      status === 401 ? [null, ""] : ["text/plain; charset=utf-8", "permission denied\n"],
    )
    expect(await countOf(mount)).toBe(before)
  })

  test("no client by a service token", async () => {
    await using mount = await openEstMount()
    const { der } = await deviceRequest()
    const headers = { "x-vault-token": mount.world.rootToken }
    expect((await mount.send(`${wellKnown}/simpleenroll`, { body: der, basic: null, headers })).status).toBe(401)
  })

  test("with 503 when the auth method was disabled", async () => {
    await using mount = await openEstMount()
    await mount.world.engine.authMethods.disable("devices")
    const { der } = await deviceRequest()
    expect((await mount.send(`${wellKnown}/simpleenroll`, { body: der })).status).toBe(503)
  })
})

describe("EST rejects", () => {
  const pem = (der: Uint8Array) => Buffer.from(der).toString("base64")
  test.each([
    { what: "another media type", contentType: "application/json", status: 415 },
    { what: "no base64", body: "{}", status: 400 },
    { what: "an empty body", body: " \r\n", status: 400 },
    { what: "what is no CSR", body: "MAA=", status: 400 },
    { what: "a body that is too long", body: "A".repeat(200_000), status: 413 },
  ])("$what with $status, and issues nothing", async ({ body, contentType, status }) => {
    await using mount = await openEstMount()
    const before = await countOf(mount)
    const response = await mount.send(`${wellKnown}/simpleenroll`, {
      body: body ?? pem((await deviceRequest()).der),
      ...(contentType === undefined ? {} : { contentType }),
    })
    expect(response.status).toBe(status)
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(await countOf(mount)).toBe(before)
  })

  test("a CSR with another signature", async () => {
    await using mount = await openEstMount()
    const { der } = await deviceRequest()
    const changed = Uint8Array.from(der, (octet, at) => (at === der.length - 1 ? octet ^ 1 : octet))
    const response = await mount.send(`${wellKnown}/simpleenroll`, { body: changed })
    expect([response.status, response.text]).toEqual([400, "csr: request signature invalid\n"])
  })

  test("names that the role does not allow", async () => {
    await using mount = await openEstMount()
    const { der } = await deviceRequest("printer.example.org")
    const response = await mount.send(`${wellKnown}/simpleenroll`, { body: der })
    expect(response.status).toBe(400)
    expect(response.text).toContain("printer.example.org")
  })

  test.each([
    "/.well-known/est/simpleenroll",
    "/.well-known/est/printers/cacerts",
    "/.well-known/est/other/cacerts",
    "/.well-known/est/printers/other/cacerts",
    "/.well-known/est/other",
  ])("%s with 404 when EST is disabled or the path is not registered", async (path) => {
    await using mount = await openEstMount()
    await mount.configure({ enabled: false })
    expect((await mount.send(path)).status).toBe(404)
  })

  test("fullcmc with 404", async () => {
    await using mount = await openEstMount()
    expect((await mount.send(`${wellKnown}/fullcmc`, { body: "MAA=" })).status).toBe(404)
  })
})

test("EST accepts base64 with any line ends and without padding", async () => {
  await using mount = await openEstMount()
  const { der } = await deviceRequest()
  const text = Buffer.from(der).toString("base64").replace(/=+$/, "")
  for (const end of ["\r\n", "\n", "\r", " \t\n"]) {
    const body = (text.match(/.{1,60}/g) ?? []).join(end)
    expect((await mount.send(`${wellKnown}/simpleenroll`, { body })).status).toBe(200)
  }
})

test("EST signs the CSR as it is when the policy of the label is sign-verbatim", async () => {
  await using mount = await openEstMount()
  const { der } = await deviceRequest("anything.example.org")
  const response = await mount.send(`${wellKnown}/raw/simpleenroll`, { body: der })
  expect(leafOf(response).subjectAltName).toBe("DNS:anything.example.org")
})

test.each(["fleet", "fleet/printers", "50%", "a?b#c", "ä b"])(
  "a label leads to the external policy when its name is %j",
  async (name) => {
    await using mount = await openEstMount()
    await mount.configure({ labelToPathPolicy: { fleet: `external-policy:${name}` } })
    expect((await mount.send("/.well-known/est/fleet/cacerts")).status).toBe(200)
  },
)

describe("csrattrs", () => {
  test("ask for the key type of the role", async () => {
    await using mount = await openEstMount()
    const pki = mount.world.engine.pki("pki")
    await pki.roles.save("web", { allowedDomains: ["example.com"], keyType: "ec", keyBits: 384 })
    const response = await mount.send(`${wellKnown}/csrattrs`, { basic: null })
    expect(response.headers.get("content-type")).toBe("application/csrattrs")
    expect(Buffer.from(response.text, "base64").toString("hex")).toBe(
      "301e301206072a8648ce3d0201310706052b8104002206082a8648ce3d040303",
    )
  })

  test("are empty when the role accepts any key", async () => {
    await using mount = await openEstMount()
    const response = await mount.send(`${wellKnown}/csrattrs`, { basic: null })
    expect([response.status, response.text]).toEqual([204, ""])
  })
})

describe("re-enrolment", () => {
  const chainOf = (leaf: X509Certificate) => ({ chain: [new Uint8Array(leaf.raw)] })
  const enrolled = async (mount: EstMount) =>
    leafOf(await mount.send(`${wellKnown}/simpleenroll`, { body: (await deviceRequest()).der }))

  test("renews the certificate of the client for a new key", async () => {
    await using mount = await openEstMount()
    const before = await enrolled(mount)
    const { der } = await deviceRequest()
    const response = await mount.send(`${wellKnown}/simplereenroll`, { body: der, clientCertificate: chainOf(before) })
    expect(leafOf(response).subjectAltName).toBe(before.subjectAltName)
  })

  test("is rejected when the client presents no certificate", async () => {
    await using mount = await openEstMount()
    const response = await mount.send(`${wellKnown}/simplereenroll`, { body: (await deviceRequest()).der })
    expect(response.status).toBe(400)
    expect(response.text).toContain("client certificate")
  })

  test("is rejected when another authority issued the certificate", async () => {
    await using mount = await openEstMount()
    const { der: leaf } = testCertificate({ subject: "/CN=printer.example.com" })
    const { der } = await deviceRequest()
    const response = await mount.send(`${wellKnown}/simplereenroll`, {
      body: der,
      clientCertificate: { chain: [leaf] },
    })
    expect([response.status, response.text]).toEqual([403, "the client certificate was not issued by this mount\n"])
  })

  test("is rejected when the certificate has expired", async () => {
    const clock = manualClock()
    await using mount = await openEstMount({ runtime: { ...systemRuntime(), clock } })
    const before = await enrolled(mount)
    clock.advance(3_601_000)
    const { der } = await deviceRequest()
    const response = await mount.send(`${wellKnown}/simplereenroll`, { body: der, clientCertificate: chainOf(before) })
    expect([response.status, response.text]).toEqual([403, "the client certificate is not valid now\n"])
  })

  test("is rejected when the certificate is revoked", async () => {
    await using mount = await openEstMount()
    const before = await enrolled(mount)
    const serialNumber = before.serialNumber.toLowerCase().match(/../g)?.join(":") ?? ""
    await mount.world.engine.pki("pki").revocations.revoke({ serialNumber })
    const { der } = await deviceRequest()
    const response = await mount.send(`${wellKnown}/simplereenroll`, { body: der, clientCertificate: chainOf(before) })
    expect([response.status, response.text]).toEqual([403, "the client certificate is revoked\n"])
  })

  test.each([
    { what: "subject", name: "other.example.com", says: "subject of the certificate" },
    { what: "subjectAltName", name: undefined, says: "subjectAltName of the certificate" },
  ])("is rejected when the CSR has another $what", async ({ name, says }) => {
    await using mount = await openEstMount()
    const before = await enrolled(mount)
    const { der } =
      name === undefined
        ? {
            der: derOf(
              (await certificateRequest({ subject: [[{ type: "2.5.4.3", value: "printer.example.com" }]] })).csr,
            ),
          }
        : await deviceRequest(name)
    const response = await mount.send(`${wellKnown}/simplereenroll`, { body: der, clientCertificate: chainOf(before) })
    expect(response.status).toBe(400)
    expect(response.text).toContain(says)
  })
})

describe.each(["rsa", "ec", "ed25519"] as const)("serverkeygen for a role with keys of type %s", (keyType) => {
  test("returns a key and its certificate in two parts", async () => {
    await using mount = await openEstMount({ keyType })
    const role = { allowedDomains: ["example.com"], allowSubdomains: true, requireCn: false, ttlMs: 3_600_000 }
    await mount.world.engine.pki("pki").roles.save("web", { ...role, keyType, keyBits: 0 })
    const { der } = await deviceRequest()
    const response = await mount.send(`${wellKnown}/serverkeygen`, { body: der })
    expect(response.status).toBe(200)
    const [, boundary = ""] =
      /^multipart\/mixed; boundary=(\S+)$/.exec(response.headers.get("content-type") ?? "") ?? []
    const parts = response.text.split(`--${boundary}`).slice(1, -1)
    const [key, bundle] = parts.map((part) => {
      const [head = "", text = ""] = part.split("\r\n\r\n")
      return { type: /content-type: (.*)\r\n/i.exec(head)?.[1], der: Buffer.from(text, "base64") }
    })
    expect([key?.type, bundle?.type]).toEqual(["application/pkcs8", "application/pkcs7-mime; smime-type=certs-only"])
    const { publicKey } = readPrivateKey(key?.der ?? new Uint8Array(), "PKCS#8")
    const [leaf] = certificatesIn({ ...response, text: bundle?.der.toString("base64") ?? "" })
    const certificate = new X509Certificate(leaf ?? "")
    expect(publicKey.algorithm.type).toBe(keyType)
    const spki = certificate.publicKey.export({ type: "spki", format: "der" })
    expect(isSamePublicKey(readPublicKey(spki), publicKey)).toBe(true)
    expect(certificate.subjectAltName).toBe("DNS:printer.example.com")
  })
})

test("EST issues nothing by a role whose certificates are not stored", async () => {
  await using mount = await openEstMount()
  await mount.world.engine.pki("pki").roles.save("web", { allowAnyName: true, keyType: "any", noStore: true })
  const response = await mount.send(`${wellKnown}/simpleenroll`, { body: (await deviceRequest()).der })
  expect([response.status, response.text]).toEqual([
    400,
    "the role web has no_store, and EST requires stored certificates\n",
  ])
})

describe("requests that wait for an approval", () => {
  const waiting = async () => {
    const mount = await openEstMount()
    await mount.configure({ manualApproval: ["role:web"] })
    const { der } = await deviceRequest()
    return { mount, enroll: () => mount.send(`${wellKnown}/simpleenroll`, { body: der }) }
  }
  const listed = async ({ world }: EstMount) => world.engine.pki("pki").enrolments.list()

  test("are answered with 202 until they are approved, and then issued once", async () => {
    const { mount, enroll } = await waiting()
    await using _ = mount
    const before = await countOf(mount)
    const first = await enroll()
    expect([first.status, first.headers.get("retry-after"), first.text]).toEqual([202, "60", ""])
    expect((await enroll()).status).toBe(202)
    const [enrolment, ...others] = await listed(mount)
    expect(others).toEqual([])
    expect(enrolment).toMatchObject({ operation: "simpleenroll", policy: "role:web", state: "pending" })
    await mount.world.engine.pki("pki").enrolments.approve(enrolment?.id ?? "", {})
    const [one, other] = [await enroll(), await enroll()]
    expect([one.status, other.status]).toEqual([200, 200])
    expect(leafOf(other).serialNumber).toBe(leafOf(one).serialNumber)
    expect(await countOf(mount)).toBe(before + 1)
  })

  test("are rejected with the comment when they are denied", async () => {
    const { mount, enroll } = await waiting()
    await using _ = mount
    await enroll()
    const [enrolment] = await listed(mount)
    await mount.world.engine.pki("pki").enrolments.deny(enrolment?.id ?? "", { comment: "unknown device" })
    const response = await enroll()
    expect([response.status, response.text]).toEqual([403, "the request was denied: unknown device\n"])
  })

  test("are issued once when the client repeats the approved request at two servers at once", async () => {
    await using place = await defaultSharedKind.place()
    await using mount = await openEstMount({ url: place.url, jobs: false })
    await using other = await openTestEngine({ url: place.url, jobs: false })
    await mount.configure({ manualApproval: ["role:web"] })
    const { der } = await deviceRequest()
    const enroll = (world: TestEngine) => mount.send(`${wellKnown}/simpleenroll`, { body: der, world })
    await enroll(mount.world)
    const [enrolment] = await listed(mount)
    await mount.world.engine.pki("pki").enrolments.approve(enrolment?.id ?? "", {})
    const before = await countOf(mount)
    const answers = await Promise.all([mount.world, other, mount.world, other].map(enroll))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map((answer) => leafOf(answer).serialNumber)).size).toBe(1)
    expect(await countOf(mount)).toBe(before + 1)
  })

  test("wait separately for each client", async () => {
    const { mount, enroll } = await waiting()
    await using _ = mount
    await mount.world.engine.userpass("devices").users.save("scanner", {
      passwordHash: cheapPasswordHash,
      policies: ["devices"],
    })
    await enroll()
    const [enrolment] = await listed(mount)
    await mount.world.engine.pki("pki").enrolments.approve(enrolment?.id ?? "", {})
    const { der } = await deviceRequest()
    const other = await mount.send(`${wellKnown}/simpleenroll`, { body: der, basic: "scanner:password" })
    expect(other.status).toBe(202)
  })
})

test("the audit log names the client and its CSR, but neither password nor names in plain text", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-est-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const auditFile = join(folder, "audit.log")
  {
    await using mount = await openEstMount({ auditFile })
    await mount.send(`${wellKnown}/simpleenroll`, { body: (await deviceRequest()).der })
    await mount.send(`${wellKnown}/simpleenroll`, {
      body: (await deviceRequest()).der,
      basic: "printer:wrong-password",
    })
  }
  const text = await readFile(auditFile, "utf8")
  for (const secret of ["printer.example.com", "wrong-password", Buffer.from(device).toString("base64")])
    expect(text).not.toContain(secret)
  const entries = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ type, path }) => type === "request" && path === "/v1/pki/roles/web/est/simpleenroll")
  expect(entries.map(({ caller }) => caller)).toEqual([
    expect.objectContaining({ accessor: expect.stringMatching(/^auth_userpass_/), display_name: "devices-printer" }),
    expect.objectContaining({ kind: "anonymous" }),
  ])
  expect(entries[0]).toMatchObject({ data: { common_name: expect.stringMatching(/^hmac-sha256:/), key_bits: 256 } })
})

test("the name and the password of a client are in no error", async () => {
  await using mount = await openEstMount()
  const [name = "", password = ""] = device.split(":")
  const { text } = await mount.send(`${wellKnown}/simpleenroll`, { body: "MAA=", basic: `${name}:${password}x` })
  expect(text).not.toContain(password)
})

test("requests are counted by operation and outcome, and their logins by method and outcome", async () => {
  const metrics = recordedMetrics()
  await using mount = await openEstMount({ metrics })
  const enroll = async (request: object = {}, name = "printer.example.com") =>
    (await mount.send(`${wellKnown}/simpleenroll`, { body: (await deviceRequest(name)).der, ...request })).status
  expect([
    await enroll(),
    await enroll({ basic: null }),
    await enroll({ basic: "printer:wrong" }),
    await enroll({ basic: "guest:password" }),
    await enroll({}, "printer.example.org"),
    await enroll({ body: "MAA=" }),
    (await mount.send(`${wellKnown}/printers/cacerts`, { basic: null })).status,
    (await mount.send("/v1/pki/roles/none/est/cacerts", { basic: null })).status,
    (await mount.send(`${wellKnown}/csrattrs`, { basic: null })).status,
  ]).toEqual([200, 401, 401, 403, 400, 400, 200, 400, 204])
  await mount.configure({ manualApproval: ["*"] })
  expect(await enroll()).toBe(202)
  await mount.world.engine.authMethods.disable("devices")
  expect(await enroll()).toBe(503)
  const counted = (name: string) =>
    metrics
      .series(name)
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [...Object.values(labels), value].join(" "))
      .toSorted()
  expect(counted("chancery_est_requests_total")).toEqual([
    "cacerts answered 1",
    "cacerts refused 1",
    "csrattrs answered 1",
    "simpleenroll denied 1",
    "simpleenroll failed 1",
    "simpleenroll issued 1",
    "simpleenroll refused 2",
    "simpleenroll unauthenticated 2",
    "simpleenroll waiting 1",
  ])
  expect(counted("chancery_logins_total")).toEqual(["userpass success 5", "userpass wrong_credentials 1"])
})
