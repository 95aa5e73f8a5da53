import { execFile, execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { openTestEngine, origin, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
let now = Date.now()
const folder = mkdtempSync(join(tmpdir(), "chancery-ocsp-"))
beforeAll(async () => {
  world = await openTestEngine({ runtime: { ...systemRuntime(), clock: { now: () => now } } })
})
// OpenSSL verifies with the system clock.
beforeEach(() => {
  now = Date.now()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
})

const file = (name: string) => join(folder, name)
const openssl = (...args: string[]): string =>
  execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
/** Runs openssl and returns its standard output and error. */
async function opensslSays(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)("openssl", args)
  return `${stdout}${stderr}`
}

let mounts = 0
interface NewMount {
  readonly keyType?: "rsa" | "ec" | "ed25519"
}

/** A mount with a root and a role for any name. */
async function newMount({ keyType = "ec" }: NewMount = {}) {
  const path = `m${(mounts += 1)}`
  await world.engine.mounts.create({ path })
  const { issuers, roles } = world.engine.pki(path)
  const root = await issuers.generateRoot({ commonName: `Root of ${path}`, keyType, ttlMs: 2_000_000_000 })
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const ask = (method: string, below: string, body?: unknown) =>
    world.pki(method, `/${path}/${below}`, body === undefined ? {} : { body })
  const issue = async (): Promise<string> =>
    (await ask("POST", "issue/any", { common_name: "www.example.com" })).body.data.serial_number
  const ca = file(`${path}.pem`)
  writeFileSync(ca, new X509Certificate(root.certificate).toString())

  /** Builds a request with OpenSSL, without a nonce unless `args` ask for one. */
  const request = (serials: readonly string[], ...args: string[]): Buffer => {
    const named = serials.flatMap((serial) => ["-serial", `0x${serial.replaceAll(":", "")}`])
    openssl("ocsp", "-issuer", ca, "-no_nonce", ...args, ...named, "-reqout", file("q.der"))
    return readFileSync(file("q.der"))
  }
  const send = (path: string, method: string, body?: Uint8Array, headers: Record<string, string> = {}) =>
    world.app.fetch(
      new Request(`${origin}/v1${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/ocsp-request" }), ...headers },
        ...(body === undefined ? {} : { body: Uint8Array.from(body) }),
      }),
    )
  const post = (body: Uint8Array, below = "ocsp") => send(`/${path}/${below}`, "POST", body)
  const get = (base64: string, headers?: Record<string, string>) =>
    send(`/${path}/ocsp/${base64}`, "GET", undefined, headers)
  /** Verifies the signature of an answer to these serial numbers with OpenSSL, and returns what OpenSSL prints. */
  const judged = async (answer: Response, serials: readonly string[], ...args: string[]) => {
    writeFileSync(file("a.der"), Buffer.from(await answer.arrayBuffer()))
    const named = serials.flatMap((serial) => ["-serial", `0x${serial.replaceAll(":", "")}`])
    const says = await opensslSays(
      ...["ocsp", "-no_nonce", "-respin", file("a.der"), "-resp_text", "-issuer", ca, "-CAfile", ca],
      ...args,
      ...named,
    )
    expect(says).toContain("Response verify OK")
    return { says, statuses: [...says.matchAll(/^0x[0-9a-f]+: (\w+)/gim)].map(([, status]) => status) }
  }
  return { path, root, ca, ask, issue, request, post, get, judged }
}

const statusOf = async (answer: Response): Promise<number> => {
  const der = Buffer.from(await answer.arrayBuffer())
  expect(der.subarray(0, 4).toString("hex")).toBe("30030a01")
  return der[4] ?? -1
}
const unauthorized = 6
const malformed = 1

describe("the status of a certificate is", () => {
  test.each(["ec", "rsa", "ed25519"] as const)(
    "good, then revoked, and unknown if it was not issued, for OpenSSL, with an issuer key of %s",
    async (keyType) => {
      const { ask, issue, request, post, judged } = await newMount({ keyType })
      const serial = await issue()
      const asked = [serial, "0a:0b"]
      const answer = await post(request(asked))
      expect(answer.status).toBe(200)
      expect(answer.headers.get("content-type")).toBe("application/ocsp-response")
      expect((await judged(answer, asked)).statuses).toEqual(["good", "unknown"])
      await ask("POST", "revoke", { serial_number: serial, reason: "keyCompromise" })
      const { statuses, says } = await judged(await post(request(asked)), asked)
      expect(statuses).toEqual(["revoked", "unknown"])
      expect(says).toContain("Reason: keyCompromise")
    },
  )

  test("revoked in the first response after its revocation, although a response was cached", async () => {
    const { ask, issue, request, post, judged } = await newMount()
    const [serial, other] = [await issue(), await issue()]
    const [question, unmoved] = [request([serial]), request([other])]
    const before = Buffer.from(await (await post(unmoved)).arrayBuffer())
    expect((await judged(await post(question), [serial])).statuses).toEqual(["good"])
    await ask("POST", "revoke", { serial_number: serial })
    const { statuses, says } = await judged(await post(question), [serial])
    expect(statuses).toEqual(["revoked"])
    expect(says).not.toContain("Reason:")
    expect(Buffer.from(await (await post(unmoved)).arrayBuffer())).toEqual(before)
  })

  test.each(["-sha1", "-sha256", "-sha384", "-sha512"])("known by the %s hashes of its issuer", async (digest) => {
    const { issue, request, post, judged } = await newMount()
    const serial = await issue()
    expect((await judged(await post(request([serial], digest)), [serial], digest)).statuses).toEqual(["good"])
  })

  test("good for its issuer, and unknown for another issuer of the mount", async () => {
    const { root, issue, request, post, judged, path } = await newMount()
    expect((await judged(await post(request([root.serialNumber])), [root.serialNumber])).statuses).toEqual(["good"])
    const { issuers } = world.engine.pki(path)
    const other = await issuers.generateRoot({ commonName: `Root of ${path}`, keyType: "ec", ttlMs: 2_000_000_000 })
    const serial = await issue()
    const statuses = (await judged(await post(request([serial, other.serialNumber])), [serial, other.serialNumber]))
      .statuses
    expect(statuses).toEqual(["good", "unknown"])
  })
})

describe("a nonce", () => {
  test("is returned, and the response must not be cached", async () => {
    const { issue, request, get, judged, ca } = await newMount()
    const serial = await issue()
    const question = request([serial], "-nonce")
    const nonce = /OCSP Nonce:\s*(\w+)/.exec(openssl("ocsp", "-reqin", file("q.der"), "-req_text", "-issuer", ca))?.[1]
    const answer = await get(encodeURIComponent(question.toString("base64")))
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("etag")).toBeNull()
    expect(nonce).toMatch(/^0410/)
    expect((await judged(answer, [serial])).says).toContain(nonce)
  })
})

describe("a GET request", () => {
  test("may be escaped, unescaped, or preceded by a second slash", async () => {
    const { issue, request, get, judged } = await newMount()
    const serial = await issue()
    const base64 = request([serial]).toString("base64")
    for (const written of [base64, encodeURIComponent(base64), `/${base64}`, base64.replace(/=+$/, "")])
      expect((await judged(await get(written), [serial])).statuses).toEqual(["good"])
  })

  test("may contain two consecutive slashes", async () => {
    const { get, request } = await newMount()
    // A serial number of 0xff bytes encodes to base64 with consecutive slashes.
    const base64 = request(["7f:ff:ff:ff:ff:ff:ff:ff"]).toString("base64")
    expect(base64).toContain("//")
    const der = Buffer.from(await (await get(base64)).arrayBuffer())
    expect([...der.subarray(0, 2)]).toEqual([0x30, 0x82])
  })

  test("is answered with cache headers, and with 304 for a known ETag", async () => {
    const { ask, issue, request, get } = await newMount()
    await ask("POST", "config/crl", { ocsp_expiry: "1h" })
    const serial = await issue()
    const base64 = encodeURIComponent(request([serial]).toString("base64"))
    const first = await get(base64)
    const { etag, "cache-control": caching, expires, "last-modified": modified } = Object.fromEntries(first.headers)
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
    const seconds = Number(/^max-age=(\d+), public, no-transform, must-revalidate$/.exec(caching ?? "")?.[1])
    expect(seconds).toBeGreaterThan(1_790)
    expect(seconds).toBeLessThanOrEqual(1_800)
    expect(Date.parse(expires ?? "") - Date.parse(modified ?? "")).toBe(3_600_000)
    const again = await get(base64, { "if-none-match": etag ?? "" })
    expect({ status: again.status, length: (await again.arrayBuffer()).byteLength }).toEqual({ status: 304, length: 0 })
    now += 1_000_000
    expect((await get(base64)).headers.get("etag")).toBe(etag)
    now += 1_000_000
    expect((await get(base64)).headers.get("etag")).not.toBe(etag)
  })

  test("is answered with no-store when the response has no nextUpdate", async () => {
    const { ask, issue, request, get, judged } = await newMount()
    await ask("POST", "config/crl", { ocsp_expiry: "0s" })
    const serial = await issue()
    const answer = await get(encodeURIComponent(request([serial]).toString("base64")))
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect((await judged(answer, [serial])).says).not.toContain("Next Update")
  })

  test.each([
    ["empty", ""],
    ["no base64", "x"],
    ["wrongly escaped", "%"],
    ["a zero", "%00"],
    ["an empty SEQUENCE", "MAA="],
    ["cut off", "MA=="],
    ["too long", "A".repeat(20_000)],
  ])("that is %s is malformed, with the status 200", async (_name, text) => {
    const { get } = await newMount()
    const answer = await get(text)
    expect(answer.status).toBe(200)
    expect(await statusOf(answer)).toBe(malformed)
  })
})

describe("the responder does not answer", () => {
  test("for an issuer of another mount", async () => {
    const [here, there] = [await newMount(), await newMount()]
    const answer = await here.post(there.request(["01"]))
    expect(answer.status).toBe(200)
    expect(await statusOf(answer)).toBe(unauthorized)
  })

  test("when OCSP is disabled for the mount or the issuer", async () => {
    const { path, ask, request, post, root } = await newMount()
    await ask("POST", "config/crl", { ocsp_disable: true })
    expect(await statusOf(await post(request(["01"])))).toBe(unauthorized)
    await ask("POST", "config/crl", { ocsp_disable: false })
    await world.engine.pki(path).issuers.update(root.issuerId, { usage: ["issuing-certificates", "crl-signing"] })
    expect(await statusOf(await post(request(["01"])))).toBe(unauthorized)
  })

  test("to an invalid request, or one that is too long", async () => {
    const { post } = await newMount()
    for (const body of ["", "{}", "0".repeat(10_000)])
      expect(await statusOf(await post(Buffer.from(body)))).toBe(malformed)
  })
})

describe("a delegated responder", () => {
  /** Returns the responder certificate of the answer that OpenSSL verified last. */
  const responder = () => {
    const [pem = ""] =
      /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(
        openssl("ocsp", "-no_nonce", "-noverify", "-respin", file("a.der"), "-resp_text"),
      ) ?? []
    return new X509Certificate(pem)
  }

  test.each(["", "rsa", "ec", "ed25519"])("has a key of the kind %j that is set, and is believed", async (type) => {
    const { ask, issue, request, post, judged } = await newMount()
    const set = { ocsp_delegated_responder: true, ocsp_responder_key_type: type, ocsp_responder_ttl: "48h" }
    expect((await ask("POST", "config/crl", set)).body.data).toMatchObject(set)
    const serial = await issue()
    expect((await judged(await post(request([serial])), [serial])).statuses).toEqual(["good"])
    const one = responder()
    expect(one.publicKey.asymmetricKeyType).toBe(type || "ec")
    expect(one.keyUsage).toEqual(["1.3.6.1.5.5.7.3.9"])
    expect(openssl("x509", "-noout", "-text", "-in", pemOf(one))).toMatch(/Key Usage: critical\s+Digital Signature\s/)
    expect(openssl("x509", "-noout", "-text", "-in", pemOf(one))).toContain("OCSP No Check")
    expect((await judged(await post(request(["0b"])), ["0b"])).statuses).toEqual(["unknown"])
    expect(responder().serialNumber).toBe(one.serialNumber)
  })

  test("is reused until half of its lifetime is over", async () => {
    const { ask, request, post } = await newMount()
    await ask("POST", "config/crl", { ocsp_delegated_responder: true, ocsp_responder_ttl: "24h" })
    const answeredBy = async () => {
      writeFileSync(file("a.der"), Buffer.from(await (await post(request(["01"]))).arrayBuffer()))
      return responder().serialNumber
    }
    const first = await answeredBy()
    now += 11 * 3_600_000
    expect(await answeredBy()).toBe(first)
    now += 3_600_000
    expect(await answeredBy()).not.toBe(first)
  })

  test("is used when the issuer's key usage has no digitalSignature", async () => {
    const { path, request, post, judged, ca } = await newMount()
    openssl(
      ...[
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        file("k.pem"),
        "-out",
        ca,
        "-subj",
        "/O=Old/CN=CA",
      ],
      ...["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-days", "30"],
    )
    const bundle = readFileSync(ca, "utf8") + readFileSync(file("k.pem"), "utf8")
    await world.engine.pki(path).issuers.import(bundle)
    const serial = new X509Certificate(readFileSync(ca)).serialNumber
    expect((await judged(await post(request([serial])), [serial])).statuses).toEqual(["good"])
    expect(responder().subject).toBe("O=Old\nCN=OCSP responder")
  })

  test("is the same on every server of a store", async () => {
    await using place = await defaultSharedKind.place()
    const { url } = place
    await using one = await openTestEngine({ url })
    await using other = await openTestEngine({ url })
    await one.engine.mounts.create({ path: "pki" })
    const pki = one.engine.pki("pki")
    const { certificate } = await pki.issuers.generateRoot({ commonName: "Shared", keyType: "ec" })
    await pki.crls.configure({ ocspDelegatedResponder: true })
    writeFileSync(file("shared.pem"), new X509Certificate(certificate).toString())
    const serials: string[] = []
    for (const { app } of [one, other]) {
      openssl("ocsp", "-issuer", file("shared.pem"), "-serial", "9", "-reqout", file("q.der"))
      const body = Uint8Array.from(readFileSync(file("q.der")))
      const answer = await app.fetch(new Request(`${origin}/v1/pki/ocsp`, { method: "POST", body }))
      writeFileSync(file("a.der"), Buffer.from(await answer.arrayBuffer()))
      serials.push(responder().serialNumber)
    }
    expect(new Set(serials).size).toBe(1)
  })

  function pemOf(certificate: X509Certificate): string {
    writeFileSync(file("responder.pem"), certificate.toString())
    return file("responder.pem")
  }
})

test("the unified paths are the same responder", async () => {
  const { issue, request, post, judged } = await newMount()
  const serial = await issue()
  expect((await judged(await post(request([serial]), "unified-ocsp"), [serial])).statuses).toEqual(["good"])
})

describe("[F-P11] serial numbers without a record", () => {
  const setting = async ({ ask }: Mount) => (await ask("GET", "config/crl")).body.data.ocsp_unknown_serials
  const statusIn = async ({ post, request, judged }: Mount, serial: string) =>
    (await judged(await post(request([serial])), [serial])).statuses
  const writeNoStore = async ({ ask }: Mount, method = "POST") =>
    (await ask(method, "roles/fleeting", { allow_any_name: true, key_type: "ec", ttl: "1h", no_store: true })).body
  const issueUnrecorded = async ({ ask }: Mount): Promise<string> =>
    (await ask("POST", "issue/fleeting", { common_name: "www.example.com" })).body.data.serial_number
  type Mount = Awaited<ReturnType<typeof newMount>>

  test("are good, with a warning, in a mount with generated keys and a role with no_store", async () => {
    const mount = await newMount()
    expect(await setting(mount)).toBe("unknown")
    expect(await statusIn(mount, "0a:0b")).toEqual(["unknown"])
    expect((await writeNoStore(mount)).warnings).toMatch(/ocsp_unknown_serials in config\/crl is "good" from now on/)
    expect(await setting(mount)).toBe("good")
    const serial = await issueUnrecorded(mount)
    expect(await statusIn(mount, serial)).toEqual(["good"])
    // Recorded certificates keep their status, revoked or not.
    const recorded = await mount.issue()
    await mount.ask("POST", "revoke", { serial_number: recorded })
    expect(await statusIn(mount, recorded)).toEqual(["revoked"])
    expect((await writeNoStore(mount)).warnings).toMatch(/ocsp_unknown_serials in config\/crl is "good"/)
  })

  test("of another issuer of the mount stay unknown", async () => {
    const mount = await newMount()
    await writeNoStore(mount)
    await mount.ask("POST", "root/generate/internal", { common_name: "Other", key_type: "ec", issuer_name: "other" })
    const { body } = await mount.ask("POST", "issuer/other/issue/any", { common_name: "www.example.com" })
    expect(await statusIn(mount, body.data.serial_number)).toEqual(["unknown"])
  })

  test("follow the setting once it is written", async () => {
    const mount = await newMount()
    await mount.ask("POST", "config/crl", { ocsp_unknown_serials: "unknown" })
    expect((await writeNoStore(mount)).warnings).toMatch(/unless ocsp_unknown_serials in config\/crl is set to "good"/)
    expect(await setting(mount)).toBe("unknown")
    const serial = await issueUnrecorded(mount)
    expect(await statusIn(mount, serial)).toEqual(["unknown"])
    await mount.ask("POST", "config/crl", { ocsp_unknown_serials: "good" })
    expect(await statusIn(mount, serial)).toEqual(["good"])
    const refused = await mount.ask("POST", "config/crl", { ocsp_unknown_serials: "revoked" })
    expect([refused.status, refused.body.errors[0]]).toEqual([
      400,
      '"ocsp_unknown_serials" must be "good" or "unknown"',
    ])
  })

  test.each(["issuers/import/bundle", "config/ca", "keys/import"])(
    "are unknown after %s, with a warning, until the setting is written",
    async (path) => {
      const mount = await newMount()
      await writeNoStore(mount)
      const key = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
      const imported = await mount.ask("POST", path, { pem_bundle: key })
      expect(imported.body.warnings).toMatch(/ocsp_unknown_serials in config\/crl is "unknown".*certs\/import/)
      expect(await setting(mount)).toBe("unknown")
      expect((await writeNoStore(mount)).warnings).toMatch(/is set to "good"/)
      expect(await setting(mount)).toBe("unknown")
      // Importing the same key again adds no key.
      expect((await mount.ask("POST", path, { pem_bundle: key })).body.warnings).not.toMatch(/ocsp_unknown_serials/)
      await mount.ask("POST", "config/crl", { ocsp_unknown_serials: "good" })
      const next = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
      expect((await mount.ask("POST", path, { pem_bundle: next })).body.warnings).toMatch(/is "good".*certs\/import/)
      expect(await setting(mount)).toBe("good")
    },
  )

  test("are unknown when the first key was imported, and good when the role preceded all keys", async () => {
    const imported = await newMount()
    await imported.ask("DELETE", "root")
    const key = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    await imported.ask("POST", "keys/import", { pem_bundle: key })
    await writeNoStore(imported)
    expect(await setting(imported)).toBe("unknown")
    await world.engine.mounts.create({ path: "role-first" })
    const { roles, crls } = world.engine.pki("role-first")
    const { warnings } = await roles.save("fleeting", { noStore: true })
    expect(warnings.join()).toMatch(/is "good" from now on/)
    expect((await crls.settings()).ocspUnknownSerials).toBe("good")
  })
})
