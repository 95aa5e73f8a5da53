// Certificates, CRLs and OCSP answers as the engine makes them, over all kinds of keys, roles and requests.
import { dayMs } from "../../engine/src/core/time.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import type { IssuedCertificate } from "../../engine/src/pki/certificates/certificates.ts"
import { lastInstant } from "../../engine/src/pki/issue/validity.ts"
import { valuesOf } from "../../engine/src/pki/names/subject.ts"
import type { ServedPki } from "../../engine/src/pki/pki.ts"
import { ocspQuestion } from "../../engine/src/testing/ocsp-question.ts"
import { allKeyAlgorithms } from "../../engine/src/testing/test-keys.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { serialNumberOctets } from "../../engine/src/x509/serial-number.ts"
import { chance, type Chance } from "../fuzz/chance.ts"
import { type Batch, type JudgedAnswer, type JudgedCertificate, pem, type Purpose } from "./batch.ts"
import { common, contentOf, csrFor } from "./csr.ts"
import type { Explanation } from "./explained.ts"
import { authorityWish, requestWish, roleWish, verbatimWish } from "./wishes.ts"

/** Certificates of one role. */
const requestsPerRole = 8

/** What the use of an authority's key costs decides how often it is used: one signature of 8192 bits takes 50 ms. */
const shareOf = (key: KeyAlgorithm): number => ("bits" in key && key.bits === 8192 ? 0.1 : 1)

export async function makeCorpus(engine: ServedEngine, seed: number): Promise<Batch> {
  const certificates: JudgedCertificate[] = []
  const answers: JudgedAnswer[] = []
  const roots: Authority[] = []
  for (const [index, key] of allKeyAlgorithms.entries()) {
    const choice = chance(seed, index)
    const root = await openRoot(engine, key, choice)
    roots.push(root)
    // Of another kind than its root's, so that chains are mixed.
    const below = allKeyAlgorithms[(index + 4) % allKeyAlgorithms.length]!
    const issuing = await openIntermediate(engine, root, below, { isConstrained: index % 2 === 1 })
    for (const authority of [root, issuing]) {
      const share = shareOf(authority.key)
      certificates.push(authority.itself)
      for (let role = 0; role < 13 * share; role += 1) certificates.push(...(await underRole(authority, role)))
      for (let number = 0; number < 20 * share; number += 1) certificates.push(await verbatim(authority, number))
      answers.push(...(await answersOf(authority)))
    }
    for (let number = 0; number < 12 * shareOf(key); number += 1) certificates.push(await intermediate(root, number))
    for (const other of roots) if (other !== root) certificates.push(await crossSigned(issuing, other))
  }
  for (const root of roots) for (const other of roots) if (root !== other) certificates.push(await crossed(root, other))
  return { certificates, crls: [], answers }
}

/** By the issuer itself, and by a key that it has answer in its place. */
async function answersOf(authority: Authority): Promise<JudgedAnswer[]> {
  const { name, pki, itself } = authority
  const issuers = [itself.der, ...itself.issuers]
  await pki.roles.save("asked", { allowAnyName: true, keyType: "any", enforceHostnames: false })
  const answers: JudgedAnswer[] = []
  for (const ocspDelegatedResponder of [false, true]) {
    await pki.crls.configure({ ocspDelegatedResponder })
    for (const status of ["good", "revoked", "unknown"] as const) {
      const csr = await anyCsr(smallKey)
      const { serialNumber: text, certificate } = await pki.certificates.sign("asked", {
        commonName: "asked.example.com",
        csr,
        ttlMs: dayMs,
      })
      if (status === "revoked") await pki.revocations.revoke({ serialNumber: text, reason: "superseded" })
      const serialNumber = status === "unknown" ? Uint8Array.of(7) : serialNumberOctets(text)
      // The judges ask by no other.
      const question = { digest: "sha1", issuer: itself.der, serialNumber } as const
      const request = ocspQuestion(status === "good" ? question : { ...question, nonce: Buffer.alloc(16, status) })
      const { der } = await pki.ocsp.answer(request)
      answers.push({
        name: `${status} of ${name}${ocspDelegatedResponder ? ", delegated" : ""}`,
        der,
        request,
        serialNumber: BigInt(`0x${Buffer.from(serialNumber).toString("hex")}`),
        issuers,
        status,
        ...(status === "unknown" ? {} : { certificate }),
        explained:
          authority.key.type === "ed25519" && ocspDelegatedResponder ? ["zlint: unknown signature algorithm"] : [],
      })
    }
  }
  return answers
}

const smallKey: KeyAlgorithm = { type: "ec", bits: 256 }

/** A mount and its only issuer. */
interface Authority {
  readonly key: KeyAlgorithm
  readonly name: string
  readonly pki: ServedPki
  readonly choice: Chance
  /** Its own certificate. */
  readonly itself: JudgedCertificate
  /** A certificate may be valid for ever. */
  readonly isEndless: boolean
  /** Only some names may be in certificates. */
  readonly isConstrained: boolean
}

async function openRoot(engine: ServedEngine, key: KeyAlgorithm, choice: Chance): Promise<Authority> {
  const name = `root with ${describeKeyAlgorithm(key)}`
  const pki = await mounted(engine, name)
  // Half of them end after 2050, which is written in another form, and half never.
  const isEndless = allKeyAlgorithms.indexOf(key) % 2 === 0
  const { certificate } = await pki.issuers.generateRoot({
    commonName: name,
    ...keyFields(key),
    ...(isEndless ? { notAfter: lastInstant } : { ttlMs: 10_000 * dayMs }),
  })
  const itself = judged(name, { certificate, caChain: [certificate] }, "crlsign", explanations(key))
  return { key, name, pki, choice, itself, isEndless, isConstrained: false }
}

async function openIntermediate(
  engine: ServedEngine,
  root: Authority,
  key: KeyAlgorithm,
  { isConstrained }: { readonly isConstrained: boolean },
): Promise<Authority> {
  const name = `${isConstrained ? "constrained " : ""}intermediate with ${describeKeyAlgorithm(key)}, ${root.name}`
  const pki = await mounted(engine, name)
  const address = `http://authorities.example.com/${pathOf(name)}`
  await pki.settings.changeCluster({ aiaPath: address })
  await pki.settings.changeUrls({
    issuingCertificates: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/der"],
    crlDistributionPoints: [`${address}/crl`],
    ocspServers: ["{{cluster_aia_path}}/ocsp"],
    enableTemplating: true,
  })
  const { csr } = await pki.issuers.generateIntermediate({ commonName: name, ...keyFields(key) })
  const signed = await root.pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    commonName: name.slice(0, 64),
    maxPathLength: 0,
    ...(root.isEndless ? { notAfter: lastInstant } : { ttlMs: 9_000 * dayMs }),
    ...(isConstrained ? constraints : {}),
  })
  await pki.issuers.import([signed.certificate, signed.issuingCa].map((der) => pem("CERTIFICATE", der)).join(""))
  const itself = judged(name, signed, "crlsign", explanations(key))
  return { key, name, pki, choice: root.choice, itself, isEndless: root.isEndless, isConstrained }
}

/** All that is wished for lies inside of them. */
const constraints = {
  permittedDnsDomains: ["example.com", "localhost"],
  excludedDnsDomains: ["secret.example.com"],
  permittedEmailAddresses: ["example.com", ".example.com"],
  excludedEmailAddresses: ["root@example.com"],
  excludedIpRanges: ["10.1.0.0/16", "2001:db8:1::/48"],
}

async function mounted(engine: ServedEngine, name: string): Promise<ServedPki> {
  const path = pathOf(name)
  await engine.mounts.create({ path, config: { maxLeaseTtlMs: 20_000 * dayMs } })
  return engine.pki(path)
}

const pathOf = (name: string): string => name.toLowerCase().replaceAll(/\W+/g, "-")

const keyFields = (key: KeyAlgorithm) => ({ keyType: key.type, keyBits: "bits" in key ? key.bits : 0 })

function judged(
  name: string,
  { certificate, caChain }: Pick<IssuedCertificate, "certificate" | "caChain">,
  purpose: Purpose,
  explained: readonly Explanation[],
): JudgedCertificate {
  // The chain of an authority begins with itself.
  const issuers = Buffer.compare(caChain[0] ?? new Uint8Array(), certificate) === 0 ? caChain.slice(1) : caChain
  return { name, der: certificate, issuers, purpose, explained }
}

const explanations = (key: KeyAlgorithm): readonly Explanation[] =>
  "bits" in key && key.bits === 224 ? ["zlint: e_mp_ecdsa_pub_key_encoding_correct"] : []

/** Common names that are taken for host names and are none. */
const misread = ({ isConstrained }: Authority, commonName = ""): readonly Explanation[] =>
  isConstrained && /[ @]/.test(commonName) ? ["gnutls: The certificate chain violates the signer's constraints."] : []

async function underRole(authority: Authority, index: number): Promise<JudgedCertificate[]> {
  const { name, pki, choice, isEndless } = authority
  const key = choice.of(allKeyAlgorithms)
  const { role, purpose, explained } = roleWish(choice, key)
  const useCsrSans = choice.oneIn(2)
  await pki.roles.save(`role-${index}`, { ...role, useCsrSans, useCsrCommonName: useCsrSans })
  // A CSR with names of its own for each certificate is signed with a key that is quick at it.
  const how = choice.of(isSlow(key) && useCsrSans ? ["issued"] : ["issued", "signed"])
  const made: JudgedCertificate[] = []
  for (let number = 0; number < requestsPerRole; number += 1) {
    const request = requestWish(choice, number, { isEndless })
    const issued =
      how === "issued"
        ? await pki.certificates.issue(`role-${index}`, request)
        : await pki.certificates.sign(
            `role-${index}`,
            { ...request, csr: await (useCsrSans ? csrFor(key, contentOf(request)) : anyCsr(key)) },
            {},
            { clampTtl: false, commonNameFromCsr: true },
          )
    const label = `${how} under ${name}, role ${index}, ${number}, for ${describeKeyAlgorithm(key)}`
    made.push(
      judged(label, issued, purpose, [...explained, ...explanations(key), ...misread(authority, request.commonName)]),
    )
  }
  return made
}

/** Of which only the key counts: one for each is enough. */
function anyCsr(key: KeyAlgorithm): Promise<string> {
  const name = describeKeyAlgorithm(key)
  const csr = anyCsrs.get(name) ?? csrFor(key, { subject: common("ignored.example.com"), extensions: [] })
  anyCsrs.set(name, csr)
  return csr
}

const anyCsrs = new Map<string, Promise<string>>()

const isSlow = (key: KeyAlgorithm): boolean => key.type === "rsa" && key.bits > 2048

async function verbatim(authority: Authority, number: number): Promise<JudgedCertificate> {
  const { name, pki, choice, isEndless } = authority
  const key = choice.of(allKeyAlgorithms.filter((each) => !isSlow(each)))
  const { content, request, purpose, explained } = verbatimWish(choice, number, { isEndless })
  const csr = await csrFor(key, content, { signatureBits: choice.of([256, 384, 512]), usePss: choice.oneIn(3) })
  const issued = await pki.certificates.signVerbatim(undefined, { ...request, csr })
  const label = `verbatim under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  const [commonName] = valuesOf(content.subject, oids.commonName)
  return judged(label, issued, purpose, [...explained, ...explanations(key), ...misread(authority, commonName)])
}

async function intermediate({ name, pki, choice, isEndless }: Authority, number: number): Promise<JudgedCertificate> {
  const key = choice.of(allKeyAlgorithms)
  const { content, request, explained } = authorityWish(choice, number, { isEndless })
  const csr = await csrFor(key, content)
  const issued = await pki.certificates.signIntermediate({ ...request, csr })
  const label = `intermediate under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  return judged(label, issued, "crlsign", [...explained, ...explanations(key)])
}

/** An intermediate of one root under another, with the same key and name. */
async function crossSigned({ key, name, pki }: Authority, root: Authority): Promise<JudgedCertificate> {
  const input = { keySource: "existing", commonName: name } as const
  const { csr } = await pki.issuers.generateIntermediate(input, "intermediate/cross-sign")
  const signed = await root.pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    useCsrValues: true,
    ttlMs: 1_000 * dayMs,
  })
  return judged(`${name} and ${root.name}`, signed, "crlsign", explanations(key))
}

/** The root of another authority, signed by this one, and so under both. */
async function crossed(root: Authority, other: Authority): Promise<JudgedCertificate> {
  const selfIssued = pem("CERTIFICATE", other.itself.der)
  const { certificate, issuingCa } = await root.pki.certificates.signSelfIssued({ certificate: selfIssued })
  const name = `${other.name} crossed by ${root.name}`
  return judged(name, { certificate, caChain: [issuingCa] }, "crlsign", explanations(other.key))
}
