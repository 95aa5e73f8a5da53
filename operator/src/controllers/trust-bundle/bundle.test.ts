import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { signedRequest, writePem } from "@chancery/engine/x509"
import { certificateSpec, issuingEngine, type IssuingEngine } from "../../../testing/issuing-engine.ts"
import { keyPem, keysOfThisProcess } from "../certificate/keys.ts"
import { assembleBundle, BundleFault } from "./bundle.ts"

const dayMs = 86_400_000
let issuer: IssuingEngine
let root = ""
let other = ""
let leaf = ""
let key = ""
let request = ""

beforeAll(async () => {
  issuer = await issuingEngine()
  root = writePem("CERTIFICATE", issuer.root)
  const next = await issuer.engine.pki("pki").issuers.generateRoot({ commonName: "Other Root", ttlMs: 10 * dayMs })
  other = writePem("CERTIFICATE", next.certificate)
  const issued = await issuer.issue(certificateSpec())
  leaf = writePem("CERTIFICATE", issued.chain[0] ?? new Uint8Array())
  key = keyPem(issued.privateKey!, { encoding: "PKCS8" })
  const own = await keysOfThisProcess.generate({ type: "ec", bits: 256 })
  request = writePem("CERTIFICATE REQUEST", await signedRequest(own, { subject: [], extensions: [] }))
})
afterAll(() => issuer[Symbol.asyncDispose]())

const sources = (...pems: readonly string[]) => pems.map((pem, index) => ({ field: `spec.sources[${index}].pem`, pem }))
const now = () => Date.now()
const count = (pem: string) => pem.split("BEGIN CERTIFICATE").length - 1
const faultOf = (...pems: readonly string[]): string => {
  try {
    assembleBundle(sources(...pems), now())
    return ""
  } catch (error) {
    if (error instanceof BundleFault) return `${error.reason}: ${error.message}`
    throw error
  }
}

describe("a bundle", () => {
  test("has each certificate once, in an order that does not depend on the sources", () => {
    const one = assembleBundle(sources(`# comment\n${root}\n`, `${other}\n${root}\n`), now())
    const same = assembleBundle(sources(other, root), now())
    expect(one).toEqual(same)
    expect(one.certificates).toBe(2)
    expect(count(one.pem)).toBe(2)
    expect(one.pem).toContain(`${root}\n`)
  })

  test("leaves expired certificates out, and counts them", () => {
    const later = now() + 11 * dayMs
    const bundle = assembleBundle(sources(root, other, other), later)
    expect(bundle).toMatchObject({ certificates: 1, expired: 1 })
    expect(bundle.pem).toBe(`${root}\n`)
    expect(bundle.notAfter).toBeGreaterThan(later)
  })

  test("refuses everything that is not a CA certificate, and names the source", () => {
    const cases = [
      [[root, leaf], "SourceInvalid: spec.sources[1].pem certificate 1 (CN=www.example.com) is not a CA certificate"],
      [[`${root}\n${key}`], "SourceInvalid: spec.sources[0].pem must not contain a private key"],
      [
        [root, request],
        "SourceInvalid: spec.sources[1].pem must contain only certificates; block 1 is a CERTIFICATE REQUEST",
      ],
      [[root.slice(0, -10)], "SourceInvalid: spec.sources[0].pem cannot be read: "],
      [[root.replace(/\n.{20}/, "\n!!!!")], "SourceInvalid: spec.sources[0].pem cannot be read: "],
      [["no certificates"], "BundleEmpty: The sources have no certificates. The former bundle stays."],
    ] as const
    for (const [pems, message] of cases) expect(faultOf(...pems)).toContain(message)
    for (const [pems] of cases) expect(faultOf(...pems)).not.toContain(key.split("\n")[1])
  })

  test("is never empty or too large", () => {
    const late = () => assembleBundle(sources(other), now() + 11 * dayMs)
    expect(late).toThrow("All certificates of the sources have expired. The former bundle stays.")
    expect(faultOf("x".repeat(1_000_001))).toContain("cannot be read")
  })
})
