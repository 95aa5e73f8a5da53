// CRLs that OpenSSL, GnuTLS and Go make with one of our keys are signed again, with the same entries.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { parseCertificateList } from "../../engine/src/x509/certificate-list.ts"
import { readPem, writePem } from "../../engine/src/x509/pem.ts"
import { crlsFolder, goProgram } from "../toolchain/go-modules.ts"
import { certtool, openssl } from "../toolchain/validators.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { run } from "./run.ts"

const programs = {
  OpenSSL: await publicProgram(openssl),
  GnuTLS: await publicProgram(certtool),
  Go: await goProgram(crlsFolder),
}

const keys = [
  { key_type: "rsa", key_bits: 2048 },
  { key_type: "ec", key_bits: 256 },
  { key_type: "ec", key_bits: 521 },
  { key_type: "ed25519", key_bits: 0 },
]

/** Writes a file in the test's folder and returns its path. */
type Write = (name: string, text: string) => Promise<string>

interface Authority {
  readonly certificate: string
  readonly key: string
  /** An issued certificate, for programs that cannot put a bare serial number on a CRL. */
  readonly leaf: string
  readonly leafSerial: string
}

/** A CRL with the serial numbers in hexadecimal. */
interface Made {
  readonly pem: string
  readonly serials: readonly string[]
}

describe.each(Object.entries(programs))("%s", (name, program) => {
  describe.skipIf(program === undefined).each(keys)("with a key of $key_type $key_bits", (key) => {
    let testEngine: TestEngine
    let folder: string
    let lists: readonly Made[]
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "chancery-crls-"))
      testEngine = await openTestEngine({ keyGenerator: testKeyGenerator })
      const write: Write = async (file, text) => {
        await writeFile(join(folder, file), text)
        return join(folder, file)
      }
      lists = await makers[name as keyof typeof programs](program ?? "", await prepared(testEngine, key, write), write)
    })
    afterAll(async () => {
      await testEngine[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    })

    test("creates CRLs that can be re-signed", async () => {
      expect(lists.length).toBeGreaterThan(1)
      for (const { pem, serials } of lists) {
        const { status, body } = await resign(testEngine, [pem])
        expect([status, body.errors]).toEqual([200, undefined])
        expect(serialsIn(body.data.crl)).toEqual(serials)
      }
      const { body } = await resign(
        testEngine,
        lists.map(({ pem }) => pem),
      )
      expect(serialsIn(body.data.crl).toSorted()).toEqual(
        [...new Set(lists.flatMap(({ serials }) => serials))].toSorted(),
      )
    })
  })
})

const resign = (testEngine: TestEngine, crls: readonly string[]) =>
  testEngine.pki("POST", "/pki/issuer/default/resign-crls", { body: { crls, crl_number: 100 } })

function serialsIn(pem: string): readonly string[] {
  const [block] = readPem(pem, 1_000_000)
  return parseCertificateList(block?.bytes ?? new Uint8Array()).entries.map(({ serialNumber }) =>
    Buffer.from(serialNumber).toString("hex"),
  )
}

async function prepared(testEngine: TestEngine, key: (typeof keys)[number], write: Write): Promise<Authority> {
  await testEngine.engine.mounts.create({ path: "pki" })
  const root = await testEngine.pki("POST", "/pki/root/generate/exported", {
    body: { common_name: "Müller & Söhne", organization: "Example", private_key_format: "pkcs8", ...key },
  })
  const { certificate, private_key: privateKey } = root.body.data
  await testEngine.engine.pki("pki").roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const leaf = await testEngine.pki("POST", "/pki/issue/web", { body: { common_name: "leaf.example.com" } })
  return {
    certificate: await write("authority.pem", certificate),
    key: await write("key.pem", privateKey),
    leaf: await write("leaf.pem", leaf.body.data.certificate),
    leafSerial: String(leaf.body.data.serial_number).replaceAll(":", ""),
  }
}

const makers: Readonly<
  Record<keyof typeof programs, (program: string, authority: Authority, write: Write) => Promise<readonly Made[]>>
> = {
  async OpenSSL(program, { certificate, key }, write) {
    const entry = (serial: string, revoked: string) =>
      ["R", "491231235959Z", revoked, serial, "unknown", "/CN=entry"].join("\t")
    const made: Made[] = []
    for (const [name, extensions, entries, serials] of [
      ["first", [], [], []],
      [
        "old",
        [],
        [entry("0A", "250101000000Z"), entry("0102030405060708", "990101000000Z")],
        ["0a", "0102030405060708"],
      ],
      [
        "new",
        ["crl_extensions=extensions", "[extensions]", "authorityKeyIdentifier=keyid:always,issuer:always"],
        [
          entry("0B", "250101000000Z,keyCompromise"),
          entry("0C", "250101000000Z,keyTime,20240101000000Z"),
          entry("0D", "250101000000Z,holdInstruction,holdInstructionReject"),
        ],
        ["0b", "0c", "0d"],
      ],
    ] as const) {
      const database = await write(`${name}-index`, entries.map((line) => `${line}\n`).join(""))
      const configuration = await write(
        `${name}.conf`,
        [
          "[ca]",
          "default_ca=this",
          "[this]",
          `database=${database}`,
          `crlnumber=${await write(`${name}-number`, "1000\n")}`,
          "default_md=default",
          "default_crl_days=30",
          ...extensions,
          "",
        ].join("\n"),
      )
      const { code, stdout, stderr } = await run(program, [
        ...["ca", "-config", configuration, "-gencrl", "-cert", certificate, "-keyfile", key],
      ])
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""])
      made.push({ pem: onlyBlock(stdout), serials })
    }
    return made
  },

  async GnuTLS(program, { certificate, key, leaf, leafSerial }, write) {
    const made: Made[] = []
    for (const [name, lines, revoked] of [
      ["empty", ["crl_next_update = 30", "crl_number = 5"], []],
      [
        "full",
        [
          "crl_next_update = 30000",
          "crl_number = 0x0102030405060708090a",
          'crl_revocation_date = "2024-02-29 12:00:00"',
        ],
        [leaf],
      ],
    ] as const) {
      const template = await write(`${name}.template`, lines.map((line) => `${line}\n`).join(""))
      const { code, stdout, stderr } = await run(program, [
        ...["--generate-crl", "--load-ca-privkey", key, "--load-ca-certificate", certificate, "--template", template],
        ...revoked.flatMap((file) => ["--load-certificate", file]),
      ])
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""])
      made.push({ pem: onlyBlock(stdout), serials: revoked.length === 0 ? [] : [leafSerial] })
    }
    return made
  },

  async Go(program, { certificate, key }) {
    const { code, stdout, stderr } = await run(program, [certificate, key])
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""])
    const serials = [[], ["01", "02", "03", "04"], ["05"]]
    return readPem(stdout, 1_000_000).map(({ bytes }, index) => ({
      pem: writePem("X509 CRL", bytes),
      serials: serials[index] ?? [],
    }))
  },
}

/** Returns the PEM block, because some programs print the CRL as text before it. */
const onlyBlock = (text: string): string => /-----BEGIN X509 CRL-----[^]*-----END X509 CRL-----/.exec(text)?.[0] ?? ""
