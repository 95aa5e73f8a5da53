import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { sha256 } from "../../x509/digest.ts"
import { readPem } from "../../x509/pem.ts"

/** Creates a CA of OpenSSL (`openssl ca`) with its index of certificates. */
function opensslAuthority(crlNumber = "1000") {
  const folder = mkdtempSync(join(tmpdir(), "chancery-ca-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: "pipe" })
  writeFileSync(
    file("ca.cnf"),
    `[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
crlnumber = crlnumber
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign,digitalSignature
subjectKeyIdentifier = hash
`,
  )
  writeFileSync(file("index.txt"), "")
  writeFileSync(file("serial"), "1001\n")
  writeFileSync(file("crlnumber"), `${crlNumber}\n`)
  openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "ca.key")
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    "ca.key",
    "-days",
    "60",
    "-subj",
    "/CN=Old",
    "-config",
    "ca.cnf",
    "-extensions",
    "authority",
    "-out",
    "ca.pem",
  )
  let issuedCount = 0
  const issue = (): string => {
    const name = `leaf${(issuedCount += 1)}`
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", `${name}.key`)
    openssl("req", "-new", "-key", `${name}.key`, "-subj", `/CN=${name}.example.com`, "-out", `${name}.csr`)
    openssl("ca", "-batch", "-notext", "-config", "ca.cnf", "-in", `${name}.csr`, "-out", `${name}.pem`)
    return name
  }
  const pem = (name: string): string => readFileSync(file(`${name}.pem`), "utf8")
  return {
    file,
    openssl,
    issue,
    pem,
    key: () => readFileSync(file("ca.key"), "utf8"),
    serialOf: (name: string) => new X509Certificate(pem(name)).serialNumber.toLowerCase().replaceAll(/..(?=.)/g, "$&:"),
    revoke: (name: string, ...more: string[]) => openssl("ca", "-config", "ca.cnf", "-revoke", `${name}.pem`, ...more),
    crl: (): string => openssl("ca", "-config", "ca.cnf", "-gencrl"),
  }
}

type OpensslAuthority = ReturnType<typeof opensslAuthority>

async function movedTo(world: TestEngine, old: OpensslAuthority): Promise<void> {
  await world.engine.mounts.create({ path: "pki" })
  await done(world, "issuers/import/bundle", { pem_bundle: `${old.pem("ca")}\n${old.key()}` })
}

async function done(world: TestEngine, path: string, body: object) {
  const answer = await world.pki("POST", `/pki/${path}`, { body })
  expect([path, answer.status, answer.body?.errors]).toEqual([path, 200, undefined])
  return answer.body
}

const listOf = async (world: TestEngine) => parseCertificateList((await world.pki("GET", "/pki/crl")).bytes)

/** Returns the OCSP status that OpenSSL reads, after verifying the signature. */
async function ocspStatus(world: TestEngine, old: OpensslAuthority, name: string): Promise<string> {
  const asked = ["ocsp", "-issuer", "ca.pem", "-cert", `${name}.pem`, "-no_nonce"]
  old.openssl(...asked, "-reqout", "question.der")
  const body = Uint8Array.from(readFileSync(old.file("question.der")))
  const headers = { "content-type": "application/ocsp-request" }
  writeFileSync(old.file("answer.der"), (await world.pki("POST", "/pki/ocsp", { token: null, body, headers })).bytes)
  const said = old.openssl(...asked, "-respin", "answer.der", "-CAfile", "ca.pem")
  return new RegExp(`^${name}\\.pem: (.*)$`, "m").exec(said)?.[1] ?? said
}

test("[F-P16] importing certificates and a CRL preserves times, reasons and serial numbers", async () => {
  await using world = await openTestEngine()
  const old = opensslAuthority()
  const [live, superseded, lost, unknown] = [old.issue(), old.issue(), old.issue(), old.issue()]
  old.revoke(superseded, "-crl_reason", "superseded")
  old.revoke(lost, "-crl_compromise", "20260102030405Z")
  old.revoke(unknown)
  const crl = old.crl()
  const before = parseCertificateList(readPem(crl, 65_536)[0]?.bytes ?? new Uint8Array())
  await movedTo(world, old)
  // The mount publishes a CRL of its own before the old CRL is imported.
  expect((await listOf(world)).entries).toEqual([])

  const first = await done(world, "certs/import", {
    certificates: [old.pem(live), Buffer.from(new X509Certificate(old.pem(superseded)).raw).toString("base64")],
  })
  expect(first.data).toEqual({
    imported_serial_numbers: [live, superseded].map(old.serialOf),
    existing_serial_numbers: [],
  })
  expect(await ocspStatus(world, old, live)).toBe("good")
  expect(await ocspStatus(world, old, lost)).toBe("unknown")

  const imported = await done(world, "issuer/default/crl/import", { crl })
  expect(imported.data).toEqual({ imported_count: 3, existing_count: 0, crl_number: before.number })
  const after = await listOf(world)
  expect(after.entries).toEqual(before.entries)
  expect(after.number).toBeGreaterThan(before.number ?? 0)
  expect(await ocspStatus(world, old, superseded)).toBe("revoked")
  expect(await ocspStatus(world, old, unknown)).toBe("revoked")
  const { revocation_time: time } = (await world.pki("GET", `/pki/cert/${old.serialOf(superseded)}`)).body.data
  expect(time * 1_000).toBe(before.entries[0]?.revokedAt)

  // A certificate that is imported after the CRL that lists it is revoked, and keeps its own expiry.
  const digest = sha256(new X509Certificate(old.pem(lost)).publicKey.export({ type: "spki", format: "der" }))
  expect((await world.pki("GET", `/sys/blocked-keys/${digest}`)).status).toBe(404)
  await done(world, "certs/import", { pem_bundle: `${old.pem(live)}\n${old.pem(lost)}` })
  expect((await world.pki("GET", `/sys/blocked-keys/${digest}`)).status).toBe(200)
  const found = await world.pki("GET", "/pki/certs/search?list=true&status=revoked")
  expect(Object.keys(found.body.data.key_info).toSorted()).toEqual([superseded, lost].map(old.serialOf).toSorted())

  // Repeating the imports changes nothing.
  const again = await done(world, "issuer/default/crl/import", { crl })
  expect(again.data).toEqual({ imported_count: 0, existing_count: 3, crl_number: before.number })
  const repeated = await done(world, "certs/import", { certificates: [live, lost].map(old.pem) })
  expect(repeated.data).toEqual({
    imported_serial_numbers: [],
    existing_serial_numbers: [live, lost].map(old.serialOf),
  })
  // An imported certificate can be revoked like any other.
  await done(world, "revoke", { serial_number: old.serialOf(live) })
  expect((await listOf(world)).entries).toHaveLength(4)
})

test("[F-P16] the next CRL has a higher number than any imported CRL", async () => {
  await using world = await openTestEngine()
  // 2^52 in hexadecimal, higher than a CRL number that is derived from the time in milliseconds.
  const old = opensslAuthority("10000000000000")
  old.revoke(old.issue())
  await movedTo(world, old)
  expect((await listOf(world)).number).toBeLessThan(2 ** 52)
  const { data } = await done(world, "issuer/default/crl/import", { crl: old.crl() })
  expect(data.crl_number).toBe(2 ** 52)
  expect((await listOf(world)).number).toBe(2 ** 52 + 1)
  await world.pki("GET", "/pki/crl/rotate")
  expect((await listOf(world)).number).toBe(2 ** 52 + 2)
})

test("[F-P16] an import is rejected as a whole when no issuer of the mount signed an entry", async () => {
  await using world = await openTestEngine()
  const [old, other] = [opensslAuthority(), opensslAuthority()]
  const [name, stranger] = [old.issue(), other.issue()]
  old.revoke(name)
  other.revoke(stranger)
  await movedTo(world, old)
  const refused = async (path: string, body: object) => {
    const answer = await world.pki("POST", `/pki/${path}`, { body })
    return [answer.status, answer.headers.get("x-error-fields"), answer.body.errors?.[0]]
  }
  expect(await refused("certs/import", { certificates: [old.pem(name), other.pem(stranger), "?"] })).toEqual([
    400,
    "certificates/1,certificates/2",
    expect.stringMatching(/^certificate 2 is refused: unable to verify signature/),
  ])
  expect((await world.pki("GET", `/pki/cert/${old.serialOf(name)}`)).status).toBe(404)
  for (const [body, problem] of [
    [{}, /^certificates is required/],
    [{ pem_bundle: old.key() }, /must not be a PEM block with the label EC PRIVATE KEY/],
    [
      { certificates: Array.from({ length: 501 }, () => old.pem(name)) },
      /must not have more than 500 entries; got 501/,
    ],
  ] as const)
    expect(await refused("certs/import", body)).toEqual([400, expect.anything(), expect.stringMatching(problem)])
  for (const [crl, problem] of [
    ["", /^crl is required/],
    ["nonsense", /^crl cannot be read/],
    [other.crl(), /^crl must be signed by this issuer/],
  ] as const)
    expect(await refused("issuer/default/crl/import", { crl })).toEqual([400, "crl", expect.stringMatching(problem)])
  expect((await world.pki("POST", "/pki/issuer/missing/crl/import", { body: { crl: old.crl() } })).status).toBe(404)
  // A different certificate with the serial number of a stored one.
  await done(world, "certs/import", { certificates: [old.pem(name)] })
  writeFileSync(old.file("serial"), "1001\n")
  writeFileSync(old.file("index.txt"), "")
  expect(await refused("certs/import", { certificates: [old.pem(old.issue())] })).toEqual([
    400,
    null,
    expect.stringMatching(/another certificate of this mount has the serial number/),
  ])
})

test("[F-P16] an import revokes certificates on hold, with a warning, and listed issuers of the mount", async () => {
  await using world = await openTestEngine()
  const old = opensslAuthority()
  const held = old.issue()
  old.revoke(held, "-crl_hold", "holdInstructionReject")
  await movedTo(world, old)
  const { csr, key_id: key } = (
    await done(world, "intermediate/generate/internal", { common_name: "Below", key_type: "ec" })
  ).data
  writeFileSync(old.file("below.csr"), csr)
  old.openssl(
    "ca",
    "-batch",
    "-notext",
    "-config",
    "ca.cnf",
    "-extensions",
    "authority",
    "-in",
    "below.csr",
    "-out",
    "below.pem",
  )
  const { imported_issuers: issuers } = (await done(world, "issuers/import/cert", { pem_bundle: old.pem("below") }))
    .data
  expect(key).toBeDefined()
  old.revoke("below", "-crl_reason", "cessationOfOperation")
  const answer = await done(world, "issuer/default/crl/import", { crl: old.crl() })
  expect(answer.data.imported_count).toBe(2)
  expect(answer.warnings).toMatch(/^1 certificates on hold are revoked now/)
  expect((await world.pki("GET", `/pki/issuer/${issuers[0]}`)).body.data).toMatchObject({ revoked: true })
})
