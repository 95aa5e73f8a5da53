// Makes certificates, CSRs, CRLs and OCSP responses with the engine, over all kinds of keys, roles and requests.
import { dayMs } from "../../engine/src/core/time.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import type { IssuedCertificate } from "../../engine/src/pki/issuance/certificate-api.ts"
import { lastInstant } from "../../engine/src/pki/issuance/validity.ts"
import { valuesOf } from "../../engine/src/pki/names/subject.ts"
import type { ServedPki } from "../../engine/src/pki/mounts/pki.ts"
import type { PolicyServer } from "../../engine/testing/policy-server.ts"
import { allKeyAlgorithms } from "../../engine/testing/test-keys.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { chance, type Chance } from "../fuzz/chance.ts"
import {
  type Batch,
  type ValidatedAnswer,
  type ValidatedCertificate,
  type ValidatedCrl,
  type ValidatedRequest,
  pem,
  type Purpose,
} from "./batch.ts"
import { common, contentOf, csrFor } from "./csr.ts"
import { type Decision, decide, trustPolicyServer } from "./policy-decisions.ts"
import type { Explanation } from "./explanations.ts"
import { configureLists, type ListStyle, type Made, type Responder, revokeSome } from "./revocations.ts"
import { authorityExpectation, requestExpectation, roleExpectation, verbatimExpectation } from "./expectations.ts"

/** Certificates per role. */
const requestsPerRole = 8

/** Returns how much a key is used relative to others, by the cost of a signature: one with 8192 bits takes 50 ms. */
const shareOf = (key: KeyAlgorithm): number => ("bits" in key && key.bits === 8192 ? 0.1 : 1)

export async function makeCorpus(engine: ServedEngine, policyServer: PolicyServer, seed: number): Promise<Batch> {
  const batch = {
    certificates: [] as ValidatedCertificate[],
    crls: [] as ValidatedCrl[],
    answers: [] as ValidatedAnswer[],
    requests: [] as ValidatedRequest[],
  }
  const roots: Authority[] = []
  const intermediates: Authority[] = []
  for (const [index, key] of allKeyAlgorithms.entries()) {
    const choice = chance(seed, index)
    const root = await openRoot(engine, key, choice)
    roots.push(root)
    // Differs from the root's kind, so that chains are mixed.
    const below = allKeyAlgorithms[(index + 4) % allKeyAlgorithms.length]!
    const style = listStyles[index % listStyles.length]!
    const intermediate = await openIntermediate(engine, root, below, { isConstrained: index % 2 === 1, style })
    intermediates.push(intermediate)
    batch.requests.push(requestOf(intermediate))
  }
  for (const authority of [...intermediates, ...roots]) {
    const share = shareOf(authority.key)
    for (let role = 0; role < 13 * share; role += 1) authority.made.push(...(await underRole(authority, role)))
    for (let number = 0; number < 20 * share; number += 1) authority.made.push(await verbatim(authority, number))
    await trustPolicyServer(authority.pki, policyServer)
    for (let number = 0; number < 8 * share; number += 1) {
      const isRoot = roots.includes(authority)
      authority.made.push(await decided(authority, policyServer, { number, isRoot }))
    }
  }
  for (const [index, root] of roots.entries()) {
    for (let number = 0; number < 12 * shareOf(root.key); number += 1) root.made.push(await intermediate(root, number))
    const signedRequests: SignedRequest[] = []
    for (const other of intermediates) signedRequests.push(await crossSigned(other, root))
    const other = roots[(index + 1) % roots.length]!
    for (let number = 0; number < 10 * shareOf(other.key); number += 1)
      signedRequests.push(await signExistingKey(other, root, number))
    root.made.push(...signedRequests)
    batch.requests.push(...signedRequests.map(({ request }) => request))
    for (const other of roots) if (root !== other) root.made.push(await crossed(root, other))
  }
  for (const { itself, made, ...authority } of [...intermediates, ...roots]) {
    const { certificates, crls, answers } = await revokeSome(authority, made)
    batch.certificates.push(itself, ...certificates)
    batch.crls.push(...crls)
    batch.answers.push(...answers)
  }
  return batch
}

const listStyles: readonly ListStyle[] = ["complete", "sharded", "with deltas"]

/** A mount with one issuer. */
interface Authority {
  readonly key: KeyAlgorithm
  readonly name: string
  readonly pki: ServedPki
  readonly choice: Chance
  readonly style: ListStyle
  /** CSR of the intermediate, as DER; undefined for a root. */
  readonly csr: Uint8Array | undefined
  /** The CA's own certificate. */
  readonly itself: ValidatedCertificate
  /** The CA's certificate, and those above it. */
  readonly chain: readonly Uint8Array[]
  readonly responders: readonly Responder[]
  /** Known findings caused by the CA's own key. */
  readonly explained: readonly Explanation[]
  readonly explainedAnswers: (responder: Responder) => readonly Explanation[]
  /** All certificates issued by the CA. */
  readonly made: Made[]
  /** True if certificates may have no expiry. */
  readonly isEndless: boolean
  /** True if the CA has name constraints. */
  readonly isConstrained: boolean
}

async function openRoot(engine: ServedEngine, key: KeyAlgorithm, choice: Chance): Promise<Authority> {
  const name = `root with ${describeKeyAlgorithm(key)}`
  const pki = await mounted(engine, name)
  const address = `http://authorities.example.com/${pathOf(name)}`
  await configureLists(pki, { style: "complete", address })
  // Half of the roots expire after 2050, which needs another encoding (GeneralizedTime), and half never expire.
  const isEndless = allKeyAlgorithms.indexOf(key) % 2 === 0
  const { certificate } = await pki.issuers.generateRoot({
    commonName: name,
    ...keyFields(key),
    ...(isEndless ? { notAfter: lastInstant } : { ttlMs: 10_000 * dayMs }),
  })
  const itself = validated(name, { certificate, caChain: [certificate] }, "crlsign", explanations(key))
  return {
    key,
    name,
    pki,
    choice,
    style: "complete",
    csr: undefined,
    itself,
    chain: [certificate],
    responders: [{}, { ocspDelegatedResponder: true }],
    explained: explanations(key),
    explainedAnswers: (responder) => unusualAnswers(key, responder),
    made: [],
    isEndless,
    isConstrained: false,
  }
}

async function openIntermediate(
  engine: ServedEngine,
  root: Authority,
  key: KeyAlgorithm,
  { isConstrained, style }: { readonly isConstrained: boolean; readonly style: ListStyle },
): Promise<Authority> {
  const name = `${isConstrained ? "constrained " : ""}intermediate with ${describeKeyAlgorithm(key)}, ${root.name}`
  const pki = await mounted(engine, name)
  const address = `http://authorities.example.com/${pathOf(name)}`
  await pki.settings.changeCluster({ aiaPath: address })
  await pki.settings.changeUrls({
    issuingCertificates: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/der"],
    ocspServers: ["{{cluster_aia_path}}/ocsp"],
    enableTemplating: true,
  })
  await configureLists(pki, { style, address })
  const { csr } = await pki.issuers.generateIntermediate({ commonName: name, ...keyFields(key) })
  const signed = await root.pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    commonName: name.slice(0, 64),
    maxPathLength: 0,
    ...(root.isEndless ? { notAfter: lastInstant } : { ttlMs: 9_000 * dayMs }),
    ...(isConstrained ? constraints : {}),
  })
  await pki.issuers.import([signed.certificate, signed.issuingCa].map((der) => pem("CERTIFICATE", der)).join(""))
  if (signsListsByPss(key)) await pki.issuers.update("default", { revocationSignatureAlgorithm: "SHA384WithRSAPSS" })
  const itself = validated(name, signed, "crlsign", explanations(key))
  // The intermediate has a status, because the root publishes CRLs as well.
  return {
    key,
    name,
    pki,
    choice: root.choice,
    style,
    csr,
    itself: { ...itself, status: "good" },
    chain: [signed.certificate, ...root.chain],
    responders: [responders[allKeyAlgorithms.indexOf(key) % responders.length]!],
    explained: explanations(key),
    explainedAnswers: (responder) => unusualAnswers(key, responder),
    made: [],
    isEndless: root.isEndless,
    isConstrained,
  }
}

/** OCSP settings: responses signed by the issuer itself, or by a delegated responder's key. */
const responders = [
  {},
  { ocspDelegatedResponder: true },
  { ocspDelegatedResponder: true, ocspResponderKeyType: "ec" },
  { ocspDelegatedResponder: true, ocspResponderKeyType: "ed25519" },
] as const satisfies readonly Responder[]

/** Returns the known findings for responses that a delegated responder signs with an algorithm that zlint does not know. */
function unusualAnswers(key: KeyAlgorithm, { ocspDelegatedResponder, ocspResponderKeyType }: Responder) {
  const type = ocspResponderKeyType || key.type
  const isUnusual = type === "ed25519" || (type === "rsa" && signsListsByPss(key))
  return ocspDelegatedResponder === true && isUnusual ? (["zlint: unknown signature algorithm"] as const) : []
}

/** Returns true for keys whose CRLs are signed with RSA-PSS, a setting of operators. */
const signsListsByPss = (key: KeyAlgorithm): boolean => key.type === "rsa" && key.bits > 2048

/** Name constraints that permit every requested name. */
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

function validated(
  name: string,
  { certificate, caChain }: Pick<IssuedCertificate, "certificate" | "caChain">,
  purpose: Purpose,
  explained: readonly Explanation[],
): ValidatedCertificate {
  // The chain of a CA begins with its own certificate.
  const issuers = Buffer.compare(caChain[0] ?? new Uint8Array(), certificate) === 0 ? caChain.slice(1) : caChain
  return { name, der: certificate, issuers, purpose, explained }
}

const explanations = (key: KeyAlgorithm): readonly Explanation[] =>
  "bits" in key && key.bits === 224 ? ["zlint: e_mp_ecdsa_pub_key_encoding_correct"] : []

/** Returns the known findings for common names that GnuTLS mistakes for host names. */
const misread = ({ isConstrained }: Authority, commonName = ""): readonly Explanation[] =>
  isConstrained && /[ @]/.test(commonName) ? ["gnutls: The certificate chain violates the signer's constraints."] : []

async function underRole(authority: Authority, index: number): Promise<Made[]> {
  const { name, pki, choice, isEndless } = authority
  const key = choice.of(allKeyAlgorithms)
  const { role, purpose, explained } = roleExpectation(choice, key)
  const useCsrSans = choice.oneIn(2)
  await pki.roles.save(`role-${index}`, { ...role, useCsrSans, useCsrCommonName: useCsrSans })
  // Signing needs a new CSR for each certificate if the CSR's names are used, so slow keys are excluded from that.
  const how = choice.of(isSlow(key) && useCsrSans ? ["issued"] : ["issued", "signed"])
  const made: Made[] = []
  for (let number = 0; number < requestsPerRole; number += 1) {
    const request = requestExpectation(choice, number, { isEndless })
    const issued =
      how === "issued"
        ? await pki.certificates.issue(`role-${index}`, request)
        : await pki.certificates.sign(
            `role-${index}`,
            { ...request, csr: await (useCsrSans ? csrFor(key, contentOf(request)) : anyCsr(key)) },
            {},
            { isCommonNameOptional: true },
          )
    const label = `${how} under ${name}, role ${index}, ${number}, for ${describeKeyAlgorithm(key)}`
    const all = [...explained, ...explanations(key), ...misread(authority, request.commonName)]
    made.push({ certificate: validated(label, issued, purpose, all), serialNumber: issued.serialNumber })
  }
  return made
}

/** Returns one CSR per kind of key, because only its key is used. */
function anyCsr(key: KeyAlgorithm): Promise<string> {
  const name = describeKeyAlgorithm(key)
  const csr = anyCsrs.get(name) ?? csrFor(key, { subject: common("ignored.example.com"), extensions: [] })
  anyCsrs.set(name, csr)
  return csr
}

const anyCsrs = new Map<string, Promise<string>>()

const isSlow = (key: KeyAlgorithm): boolean => key.type === "rsa" && key.bits > 2048

async function verbatim(authority: Authority, number: number): Promise<Made> {
  const { name, pki, choice, isEndless } = authority
  const key = choice.of(allKeyAlgorithms.filter((each) => !isSlow(each)))
  const { content, request, purpose, explained } = verbatimExpectation(choice, number, { isEndless })
  const csr = await csrFor(key, content, { signatureBits: choice.of([256, 384, 512]), usePss: choice.oneIn(3) })
  const issued = await pki.certificates.signVerbatim(undefined, { ...request, csr })
  const label = `verbatim under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  const [commonName] = valuesOf(content.subject, oids.commonName)
  const all = [...explained, ...explanations(key), ...misread(authority, commonName)]
  return { certificate: validated(label, issued, purpose, all), serialNumber: issued.serialNumber }
}

async function intermediate({ name, pki, choice, isEndless }: Authority, number: number): Promise<Made> {
  const key = choice.of(allKeyAlgorithms)
  const { content, request, explained } = authorityExpectation(choice, number, { isEndless })
  const csr = await csrFor(key, content)
  const issued = await pki.certificates.signIntermediate({ ...request, csr })
  const label = `intermediate under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  const certificate = validated(label, issued, "crlsign", [...explained, ...explanations(key)])
  return { certificate, serialNumber: issued.serialNumber }
}

function requestOf({ name, csr }: Authority): ValidatedRequest {
  if (csr === undefined) throw new Error(`${name} has no CSR`)
  return { name: `request of ${name}`, der: csr }
}

/** A signed certificate with the CSR that the engine generated for it. */
interface SignedRequest extends Made {
  readonly request: ValidatedRequest
}

/** Generates a CSR for a CA's existing key, with all kinds of options, and has another CA sign it. */
async function signExistingKey(
  { key, name, pki, choice }: Authority,
  root: Authority,
  number: number,
): Promise<SignedRequest> {
  const { request: expectation, explained } = authorityExpectation(choice, number, root)
  const { notAfter: _end, ttlMs: _ttl, ...options } = expectation
  const { csr } = await pki.issuers.generateIntermediate({
    ...options,
    keySource: "existing",
    addBasicConstraints: choice.oneIn(2),
    ...(choice.oneIn(3) ? { keyUsage: ["DigitalSignature", "CertSign", "CRLSign"] } : {}),
  })
  const signed = await root.pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    useCsrValues: true,
    ttlMs: 1_000 * dayMs,
  })
  const label = `signed for ${name}, ${number}, under ${root.name}`
  const certificate = validated(label, signed, "crlsign", [...explained, ...explanations(key)])
  return { certificate, serialNumber: signed.serialNumber, request: { name: `request ${label}`, der: csr } }
}

/** Issues a certificate by decision of an external policy service. */
async function decided(
  authority: Authority,
  server: PolicyServer,
  { number, isRoot }: { readonly number: number; readonly isRoot: boolean },
): Promise<Made> {
  const { name, pki, choice, isEndless } = authority
  const key = choice.of(allKeyAlgorithms.filter((each) => !isSlow(each)))
  const mode: Decision["mode"] = choice.of(isRoot ? ["issue", "sign", "ica"] : ["issue", "sign"])
  const decision = decide(choice, { mode, number, isEndless })
  const issued = await decision.ask(pki, server, key)
  const label = `decided elsewhere (${mode}) under ${name}, ${number}, for ${describeKeyAlgorithm(key)}`
  const [commonName] = valuesOf(decision.subject, oids.commonName)
  const all = [...decision.explained, ...explanations(key), ...misread(authority, commonName)]
  const purpose = mode === "ica" ? "crlsign" : "any"
  return { certificate: validated(label, issued, purpose, all), serialNumber: issued.serialNumber }
}

/** Makes one root an intermediate of another, with the same key and name. */
async function crossSigned({ key, name, pki }: Authority, root: Authority): Promise<SignedRequest> {
  const input = { keySource: "existing", commonName: name } as const
  const { csr } = await pki.issuers.generateIntermediate(input, "intermediate/cross-sign")
  const signed = await root.pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    useCsrValues: true,
    ttlMs: 1_000 * dayMs,
  })
  const label = `${name} and ${root.name}`
  const certificate = validated(label, signed, "crlsign", explanations(key))
  return { certificate, serialNumber: signed.serialNumber, request: { name: `request of ${label}`, der: csr } }
}

/** Cross-signs the root of another CA, so that it chains to both. */
async function crossed(root: Authority, other: Authority): Promise<Made> {
  const selfIssued = pem("CERTIFICATE", other.itself.der)
  const { certificate, issuingCa } = await root.pki.certificates.signSelfIssued({ certificate: selfIssued })
  const name = `${other.name} crossed by ${root.name}`
  return {
    certificate: validated(name, { certificate, caChain: [issuingCa] }, "crlsign", explanations(other.key)),
    serialNumber: undefined,
  }
}
