// The same certificates and keys make the same mount, in any order of import and if imported repeatedly.
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { dayMs } from "../../core/time.ts"
import { type IssuingMount, issuingMount } from "../../../testing/issuing-mount.ts"
import { writePem } from "../../x509/pem.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { formatName } from "../../x509/name.ts"
import type { ServedPki } from "../mounts/pki.ts"

const ec = { keyType: "ec" } as const
const pem = (der: Uint8Array) => writePem("CERTIFICATE", der)

let mount: IssuingMount
let pieces: readonly string[]
beforeAll(async () => {
  mount = await issuingMount()
  pieces = await hierarchy()
})
afterAll(() => mount[Symbol.asyncDispose]())

let count = 0
async function newMount(): Promise<ServedPki> {
  const path = `order-${(count += 1)}`
  await mount.world.engine.mounts.create({ path, config: { maxLeaseTtlMs: 365 * dayMs } })
  return mount.world.engine.pki(path)
}

/** Creates two roots, an intermediate signed by both, and one below it. Returns all certificates, and the keys of all but one root. */
async function hierarchy(): Promise<readonly string[]> {
  const [one, other, below] = [await newMount(), await newMount(), await newMount()]
  const exported = { ...ec, keySource: "exported" } as const
  const oneRoot = await one.issuers.generateRoot({ ...exported, commonName: "One", ttlMs: 30 * dayMs })
  const otherRoot = await other.issuers.generateRoot({ ...ec, commonName: "Other", ttlMs: 30 * dayMs })
  const csrRequest = await below.issuers.generateIntermediate({ ...exported, commonName: "CA" })
  const request = { csr: writePem("CERTIFICATE REQUEST", csrRequest.csr), commonName: "CA", ttlMs: 20 * dayMs }
  const byOne = await one.certificates.signIntermediate(request)
  const byOther = await other.certificates.signIntermediate({ ...request, ttlMs: 10 * dayMs })
  await below.issuers.import(pem(byOne.certificate))
  const deeper = await below.issuers.generateIntermediate({ ...exported, commonName: "Deeper", keyName: "deeper" })
  const deep = await below.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", deeper.csr),
    commonName: "Deeper",
    ttlMs: dayMs,
  })
  return [
    ...[oneRoot, otherRoot, byOne, byOther, deep].map(({ certificate }) => pem(certificate)),
    ...[oneRoot, csrRequest, deeper].map(({ privateKey }) => privateKey?.pem("pkcs8") ?? ""),
  ]
}

/** Returns the content of a mount without its generated names and ids. */
async function contents({ issuers, keys }: ServedPki) {
  const name = (der: Uint8Array) => {
    const { issuerName, subjectName } = parseCertificate(der)
    return `${formatName(subjectName)} by ${formatName(issuerName)}`
  }
  const found = await Promise.all((await issuers.list()).map(({ id }) => issuers.get(id)))
  const stored = found.map(({ certificate, keyId, caChain }) => ({
    certificate: name(certificate),
    hasKey: keyId !== null,
    chain: caChain.map(name),
  }))
  return {
    issuers: stored.toSorted((a, b) => (a.certificate < b.certificate ? -1 : 1)),
    keyCount: (await keys.list()).length,
  }
}

test("imports in any order, in one bundle or several, once or repeatedly, give the same mount", async () => {
  const expected = {
    issuers: [
      { certificate: "CN=CA by CN=One", hasKey: true, chain: ["CN=CA by CN=One", "CN=One by CN=One"] },
      { certificate: "CN=CA by CN=Other", hasKey: true, chain: ["CN=CA by CN=Other", "CN=Other by CN=Other"] },
      {
        certificate: "CN=Deeper by CN=CA",
        hasKey: true,
        // Of two possible chains, the one with the longer validity.
        chain: ["CN=Deeper by CN=CA", "CN=CA by CN=One", "CN=One by CN=One"],
      },
      { certificate: "CN=One by CN=One", hasKey: true, chain: ["CN=One by CN=One"] },
      { certificate: "CN=Other by CN=Other", hasKey: false, chain: ["CN=Other by CN=Other"] },
    ],
    keyCount: 3,
  }
  const indexes = pieces.map((_, at) => at)
  const order = fc.shuffledSubarray(indexes, { minLength: indexes.length })
  const again = fc.array(fc.nat(indexes.length - 1), { maxLength: 4 })
  const cuts = fc.array(fc.boolean(), { minLength: indexes.length + 4, maxLength: indexes.length + 4 })
  await fc.assert(
    fc.asyncProperty(order, again, cuts, async (order, again, cuts) => {
      const pki = await newMount()
      const all = [...order, ...again].map((at) => pieces[at] ?? "")
      const bundles: string[][] = [[]]
      for (const [at, piece] of all.entries()) {
        if (cuts[at] === true) bundles.push([])
        bundles.at(-1)?.push(piece)
      }
      for (const bundle of bundles) if (bundle.length > 0) await pki.issuers.import(bundle.join("\n"))
      expect(await contents(pki)).toEqual(expected)
      const { default: id } = await pki.settings.issuers()
      expect(await pki.issuers.get(id ?? "none")).toMatchObject({ keyId: expect.any(String) })
    }),
    { numRuns: 25 },
  )
})
