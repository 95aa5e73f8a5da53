// Certificates, CRLs and OCSP answers as the engine makes them, over all kinds of keys, roles and requests.
import { dayMs } from "../../engine/src/core/time.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import type { IssuedCertificate } from "../../engine/src/pki/certificates/certificates.ts"
import { lastInstant } from "../../engine/src/pki/issue/validity.ts"
import type { ServedPki } from "../../engine/src/pki/pki.ts"
import { allKeyAlgorithms } from "../../engine/src/testing/test-keys.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { chance, type Chance } from "../fuzz/chance.ts"
import { type Batch, type JudgedCertificate, pem, type Purpose } from "./batch.ts"
import { common, contentOf, csrFor } from "./csr.ts"
import type { Explanation } from "./explained.ts"
import { authorityWish, requestWish, roleWish, verbatimWish } from "./wishes.ts"

/** Certificates of one role. */
const requestsPerRole = 8

/** What the use of an authority's key costs decides how often it is used: one signature of 8192 bits takes 50 ms. */
const shareOf = (key: KeyAlgorithm): number => ("bits" in key && key.bits === 8192 ? 0.1 : 1)

export async function makeCorpus(engine: ServedEngine, seed: number): Promise<Batch> {
  const certificates: JudgedCertificate[] = []
  const authorities: Authority[] = []
  for (const [index, key] of allKeyAlgorithms.entries()) {
    const authority = await openAuthority(engine, key, chance(seed, index))
    authorities.push(authority)
    const share = shareOf(key)
    certificates.push(authority.judgedRoot)
    for (let role = 0; role < 26 * share; role += 1) certificates.push(...(await underRole(authority, role)))
    for (let number = 0; number < 40 * share; number += 1) certificates.push(await verbatim(authority, number))
    for (let number = 0; number < 20 * share; number += 1) certificates.push(await intermediate(authority, number))
  }
  for (const authority of authorities)
    for (const other of authorities) if (authority !== other) certificates.push(await crossed(authority, other))
  return { certificates, crls: [], answers: [] }
}

interface Authority {
  readonly key: KeyAlgorithm
  readonly name: string
  readonly pki: ServedPki
  readonly choice: Chance
  readonly root: Uint8Array
  readonly judgedRoot: JudgedCertificate
  /** A certificate may be valid for ever. */
  readonly isEndless: boolean
}

async function openAuthority(engine: ServedEngine, key: KeyAlgorithm, choice: Chance): Promise<Authority> {
  const name = describeKeyAlgorithm(key)
  const path = `judged-${name.toLowerCase().replaceAll(/\W+/g, "-")}`
  await engine.mounts.create({ path, config: { maxLeaseTtlMs: 20_000 * dayMs } })
  const pki = engine.pki(path)
  // Half of them end after 2050, which is written in another form, and half never.
  const isEndless = allKeyAlgorithms.indexOf(key) % 2 === 0
  const { certificate: root } = await pki.issuers.generateRoot({
    commonName: `Root with ${name}`,
    keyType: key.type,
    keyBits: "bits" in key ? key.bits : 0,
    ...(isEndless ? { notAfter: lastInstant } : { ttlMs: 10_000 * dayMs }),
  })
  const judgedRoot = { name: `root with ${name}`, der: root, issuers: [], purpose: "any", explained: explanations(key) }
  return { key, name, pki, choice, root, judgedRoot: { ...judgedRoot, purpose: "any" }, isEndless }
}

function judged(
  name: string,
  { certificate, caChain }: Pick<IssuedCertificate, "certificate" | "caChain">,
  purpose: Purpose,
  explained: readonly Explanation[],
): JudgedCertificate {
  // The chain of an authority begins with its own certificate.
  const issuers = Buffer.compare(caChain[0] ?? new Uint8Array(), certificate) === 0 ? caChain.slice(1) : caChain
  return { name, der: certificate, issuers, purpose, explained }
}

const explanations = (key: KeyAlgorithm): readonly Explanation[] =>
  "bits" in key && key.bits === 224 ? ["zlint: e_mp_ecdsa_pub_key_encoding_correct"] : []

async function underRole({ name, pki, choice, isEndless }: Authority, index: number): Promise<JudgedCertificate[]> {
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
            { ...request, csr: await csrFor(key, useCsrSans ? contentOf(request) : ignoredContent) },
            {},
            { clampTtl: false, commonNameFromCsr: true },
          )
    const label = `${how} under ${name}, role ${index}, ${number}, for ${describeKeyAlgorithm(key)}`
    made.push(judged(label, issued, purpose, [...explained, ...explanations(key)]))
  }
  return made
}

const ignoredContent = { subject: common("ignored.example.com"), extensions: [] }

const isSlow = (key: KeyAlgorithm): boolean => key.type === "rsa" && key.bits > 2048

async function verbatim({ name, pki, choice, isEndless }: Authority, number: number): Promise<JudgedCertificate> {
  const key = choice.of(allKeyAlgorithms.filter((each) => !isSlow(each)))
  const { content, request, purpose, explained } = verbatimWish(choice, number, { isEndless })
  const csr = await csrFor(key, content, { signatureBits: choice.of([256, 384, 512]), usePss: choice.oneIn(3) })
  const issued = await pki.certificates.signVerbatim(undefined, { ...request, csr })
  const label = `verbatim under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  return judged(label, issued, purpose, [...explained, ...explanations(key)])
}

async function intermediate({ name, pki, choice, isEndless }: Authority, number: number): Promise<JudgedCertificate> {
  const key = choice.of(allKeyAlgorithms)
  const { content, request, explained } = authorityWish(choice, number, { isEndless })
  const csr = await csrFor(key, content)
  const issued = await pki.certificates.signIntermediate({ ...request, csr })
  const label = `intermediate under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  return judged(label, issued, "crlsign", [...explained, ...explanations(key)])
}

/** The root of another authority, signed by this one, and so under both. */
async function crossed({ name, pki, root }: Authority, other: Authority): Promise<JudgedCertificate> {
  const { certificate } = await pki.certificates.signSelfIssued({ certificate: pem("CERTIFICATE", other.root) })
  return judged(
    `root with ${other.name} crossed by ${name}`,
    { certificate, caChain: [root] },
    "crlsign",
    explanations(other.key),
  )
}
