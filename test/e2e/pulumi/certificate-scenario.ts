// Certificates from creation to destruction, with the real Pulumi engine.
import { createPrivateKey, X509Certificate } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as pulumi from "@pulumi/pulumi"
import {
  PkiCertificate,
  type PkiCertificateArgs,
  PkiIntermediate,
  PkiRevocation,
  PkiSignedCertificate,
} from "@chancery/pulumi"
import { expect } from "vitest"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import { hourMs } from "../../../engine/src/core/time.ts"
import type { Pki } from "../../../engine/src/pki/mounts/pki.ts"
import { parseCertificate } from "../../../engine/src/x509/certificate.ts"
import { writePem } from "../../../engine/src/x509/pem.ts"
import type { TestStack } from "./stack.ts"

/** Creates a mount at `pki` with a root and the role `web`. */
export async function prepareAuthority({ engine }: TestStack): Promise<Pki> {
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 8_760 * hourMs } })
  const pki = engine.pki("pki")
  await pki.issuers.generateRoot({
    commonName: "Root",
    keyType: "ec",
    issuerName: "root",
    ttlMs: 8_000 * hourMs,
  })
  await pki.roles.save("web", { allowAnyName: true, keyType: "ec" })
  return pki
}

/** Exports of a program that tests read. */
interface Seen {
  serialNumber?: string
  privateKey?: string | null
  isKeySecret?: boolean
}

export const declareCertificate =
  (args: Partial<PkiCertificateArgs>, seen: Seen = {}) =>
  async () => {
    const { privateKey, serialNumber } = new PkiCertificate("site", { role: "web", commonName: "www.test", ...args })
    privateKey.apply((known) => {
      seen.privateKey = known
    })
    serialNumber.apply((known) => {
      seen.serialNumber = known
    })
    seen.isKeySecret = await pulumi.isSecret(privateKey)
  }

const statusOf = async (pki: Pki, serialNumber = ""): Promise<string | undefined> =>
  (await pki.certificates.search({ role: "web" })).items.find((one) => one.serialNumber === serialNumber)?.status

export async function certificateScenario(stack: TestStack): Promise<void> {
  const pki = await prepareAuthority(stack)
  const [first, again, renewed]: [Seen, Seen, Seen] = [{}, {}, {}]
  const declared = { ttl: "2h", onDestroy: "revoke" } as const

  expect((await stack.preview(declareCertificate(declared))).operations).toEqual({ site: "create" })
  expect((await pki.certificates.search({ role: "web" })).items).toEqual([])
  await stack.up(declareCertificate(declared, first))
  expect(first).toMatchObject({ privateKey: expect.stringContaining("PRIVATE KEY"), isKeySecret: true })
  const { certificate } = await pki.certificates.get(first.serialNumber ?? "")
  expect(new X509Certificate(certificate).checkPrivateKey(keyOf(first))).toBe(true)
  expect((await stack.up(declareCertificate({ ...declared, ttl: "120m" }, again))).operations).toEqual({ site: "same" })
  expect(again.serialNumber).toBe(first.serialNumber)
  await stack.refresh()
  expect((await stack.preview(declareCertificate(declared))).operations).toEqual({ site: "same" })

  // The declaration is unchanged; the preview shows a replacement from the time at which the renewal is scheduled.
  const soon = { ...declared, renewBefore: "7190s" }
  const due: Seen = {}
  await stack.up(declareCertificate({ ...soon, altNames: ["two.test"] }, due))
  const { notAfter } = parseCertificate((await pki.certificates.get(due.serialNumber ?? "")).certificate)
  await sleep(Math.max(0, notAfter - 7_190_000 - systemRuntime().clock.now()))
  expect((await stack.preview(declareCertificate({ ...soon, altNames: ["two.test"] }))).operations).toEqual({
    site: "replace",
  })
  expect(await statusOf(pki, due.serialNumber)).toBe("valid")
  const run = await stack.up(declareCertificate({ ...soon, altNames: ["two.test"] }, renewed))
  expect(run.operations).toEqual({ site: "replace" })
  expect(renewed.serialNumber).not.toBe(due.serialNumber)
  expect([await statusOf(pki, due.serialNumber), await statusOf(pki, renewed.serialNumber)]).toEqual([
    "revoked",
    "valid",
  ])

  // A revoked certificate is replaced.
  await pki.revocations.revoke({ serialNumber: renewed.serialNumber ?? "" })
  await stack.refresh()
  const { renewBefore: _due, ...lasting } = { ...soon, altNames: ["two.test"] }
  expect((await stack.preview(declareCertificate(lasting))).operations).toEqual({ site: "replace" })
  expect((await stack.up(declareCertificate(lasting))).operations).toEqual({ site: "replace" })

  // In every format, the key is in the state, but encrypted.
  for (const format of ["pem_bundle", "der", "pem"] as const) {
    const seen: Seen = {}
    await stack.up(declareCertificate({ ...declared, format, onDestroy: "revokeWithKey" }, seen))
    const state = await stack.state()
    expect(state).toContain("v1.pkiCertificate;")
    expect(state).not.toContain("PRIVATE KEY")
    expect(state).not.toContain((seen.privateKey ?? "").slice(40, 90))
    expect(state).not.toContain(stack.token)
  }
  await stack.destroy()
  const { items } = await pki.certificates.search({ role: "web" })
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(["revoked"]))
}

const keyOf = ({ privateKey }: Seen) => createPrivateKey(privateKey ?? "")

export async function signedScenario(stack: TestStack): Promise<void> {
  const pki = await prepareAuthority(stack)
  await stack.engine.mounts.create({ path: "below" })
  const below = stack.engine.pki("below")
  const { csr } = await below.issuers.generateIntermediate({ commonName: "api.test", keyType: "ec" })
  const issued = await pki.certificates.issue("web", { commonName: "old.test" })
  const key = issued.privateKey?.pem("pkcs8") ?? ""
  const program = (ttl: string) => async () => {
    const request = writePem("CERTIFICATE REQUEST", csr)
    const signed = new PkiSignedCertificate("signed", {
      role: "web",
      commonName: "api.test",
      csr: request,
      ttl,
      onDestroy: "revoke",
    })
    new PkiSignedCertificate("verbatim", { verbatim: true, csr: request, keyUsages: ["DigitalSignature"] })
    new PkiIntermediate("issuing", { csr: request, commonName: "Issuing CA", maxPathLength: 0, ttl: "1000h" })
    new PkiRevocation("gone", { certificate: writePem("CERTIFICATE", issued.certificate), privateKey: key })
    new PkiRevocation("gone-too", { serialNumber: signed.serialNumber, reason: "superseded" })
  }
  const all = (operation: string) =>
    Object.fromEntries(["signed", "verbatim", "issuing", "gone", "gone-too"].map((name) => [name, operation]))
  expect((await stack.up(program("1h"))).operations).toEqual(all("create"))
  expect((await stack.up(program("1h"))).operations).toEqual(all("same"))
  expect((await pki.certificates.get(issued.serialNumber)).revokedAt).not.toBeNull()
  const changed = await stack.up(program("2h"))
  expect(changed.operations).toEqual({ ...all("same"), signed: "replace", "gone-too": "replace" })
  const state = await stack.state()
  expect(state).not.toContain("PRIVATE KEY")
  expect(state).not.toContain(key.split("\n")[1])
  await stack.destroy()
  expect((await pki.revocations.list()).length).toBe(3)
}
