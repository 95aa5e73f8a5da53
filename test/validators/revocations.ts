// CRLs and OCSP responses of the engine about revoked and unrevoked certificates.
import { hourMs } from "../../engine/src/core/time.ts"
import type { ServedPki } from "../../engine/src/pki/mounts/pki.ts"
import type { CrlSettingsPatch } from "../../engine/src/pki/crl/crl-settings.ts"
import { revocationReasonNames } from "../../engine/src/pki/revocation/revocation.ts"
import { ocspQuestion } from "../../engine/testing/ocsp-question.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { DerReader } from "../../engine/src/x509/asn1/reader.ts"
import { contextConstructed } from "../../engine/src/x509/asn1/tag.ts"
import { type SerialNumber, serialNumberOctets } from "../../engine/src/x509/serial-number.ts"
import type { Chance } from "../fuzz/chance.ts"
import { type Batch, type ValidatedAnswer, type ValidatedCertificate, type ValidatedCrl, pem } from "./batch.ts"
import type { Explanation } from "./explanations.ts"

/** Kind of CRLs that a mount publishes. */
export type ListStyle = "complete" | "sharded" | "with deltas"

export interface Made {
  readonly certificate: ValidatedCertificate
  /** Undefined if the certificate is not stored and cannot be revoked by its serial number. */
  readonly serialNumber: SerialNumber | undefined
}

const shardCount = 4

/** Settings for the key that signs OCSP responses. */
export type Responder = Pick<CrlSettingsPatch, "ocspDelegatedResponder" | "ocspResponderKeyType">

/** Configures the CRLs. Call it before anything is issued, because certificates contain the URLs of the CRLs. */
export async function configureLists(
  pki: ServedPki,
  { style, address }: { readonly style: ListStyle; readonly address: string },
): Promise<void> {
  await pki.settings.changeUrls({
    crlDistributionPoints: [`${address}/crl`],
    ...(style === "with deltas" ? { deltaCrlDistributionPoints: [`${address}/delta`] } : {}),
  })
  await pki.crls.configure({
    ...(style === "sharded" ? { shards: shardCount } : {}),
    ...(style === "with deltas" ? { autoRebuild: true, enableDelta: true } : {}),
  })
}

interface RevokedMount {
  readonly name: string
  readonly pki: ServedPki
  readonly choice: Chance
  readonly style: ListStyle
  /** The issuing certificate, and those above it. */
  readonly chain: readonly Uint8Array[]
  /** OCSP settings to test in order. */
  readonly responders: readonly Responder[]
  /** Known findings about certificates that the mount's key signs. */
  readonly explained: readonly Explanation[]
  readonly explainedAnswers: (responder: Responder) => readonly Explanation[]
}

/** One of this many certificates is revoked. */
const revokedShare = 8

/** Revokes some certificates of a mount, and gets all kinds of CRLs and OCSP responses about them. */
export async function revokeSome(mount: RevokedMount, made: readonly Made[]): Promise<Omit<Batch, "requests">> {
  const { pki, choice, style } = mount
  const chosen = made.filter(({ serialNumber }) => serialNumber !== undefined && choice.oneIn(revokedShare))
  const late = style === "with deltas" ? chosen.splice(Math.ceil(chosen.length / 2)) : []
  const revoke = async (certificates: readonly Made[]) => {
    for (const { serialNumber = "" } of certificates)
      await pki.revocations.revoke({ serialNumber, reason: choice.of(revocationReasonNames) })
  }
  await revoke(chosen)
  if (style === "with deltas") await pki.crls.rotate()
  await revoke(late)
  if (style === "with deltas") await pki.crls.rotateDelta()
  const statusOf = (each: Made): NonNullable<ValidatedCertificate["status"]> =>
    chosen.includes(each) ? "revoked" : late.includes(each) ? "revoked by a delta" : "good"
  const certificates = made.map((each): ValidatedCertificate => ({ ...each.certificate, status: statusOf(each) }))
  const answers: ValidatedAnswer[] = []
  for (const responder of mount.responders) {
    await pki.crls.configure({ ocspDelegatedResponder: false, ocspResponderKeyType: "", ...responder })
    const responses = await answersOf(mount, responder, made, (each) =>
      statusOf(each) === "good" ? "good" : "revoked",
    )
    answers.push(...responses)
    certificates.push(...respondersIn(mount, responder, responses))
  }
  return { certificates, crls: [...(await listsOf(mount)), ...(await listsOnDemand(mount, chosen))], answers }
}

/** Returns the certificates of delegated responders, which are part of the responses. */
function respondersIn(
  { name, chain, explained }: RevokedMount,
  responder: Responder,
  answers: readonly ValidatedAnswer[],
): readonly ValidatedCertificate[] {
  const found = new Map(answers.flatMap(({ der }) => certificatesIn(der)).map((der) => [hex(der), der]))
  if (found.size !== (responder.ocspDelegatedResponder === true ? 1 : 0))
    throw new Error(`${name} has ${found.size} responders`)
  return [...found.values()].map((der): ValidatedCertificate => ({
    name: `responder of ${name}`,
    der,
    issuers: chain,
    purpose: "ocsphelper",
    explained,
    status: "good",
  }))
}

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

/** Parses an OCSPResponse (RFC 6960, section 4.2.1). */
function certificatesIn(response: Uint8Array): readonly Uint8Array[] {
  const outer = new DerReader(response, "OCSP response").sequence("OCSPResponse")
  outer.value("responseStatus")
  const bytes = outer.enter(contextConstructed(0), "responseBytes").sequence("responseBytes")
  bytes.oid("responseType")
  const basic = new DerReader(bytes.octetString("response"), "OCSP response").sequence("BasicOCSPResponse")
  for (const field of ["tbsResponseData", "signatureAlgorithm", "signature"]) basic.value(field)
  const list = basic.optional(0, "certs")?.sequence("certs")
  if (list === undefined) return []
  const certificates: Uint8Array[] = []
  while (!list.done) certificates.push(list.value("certificate"))
  return certificates
}

async function listsOf(mount: RevokedMount): Promise<ValidatedCrl[]> {
  const shards = Array.from({ length: shardCount }, (_, index) => ({ shard: { count: shardCount, index } }))
  const choices =
    mount.style === "sharded" ? [{}, ...shards] : mount.style === "with deltas" ? [{}, { delta: true }] : [{}]
  const lists: ValidatedCrl[] = []
  for (const [index, choice] of choices.entries()) {
    const crl = await mount.pki.crls.get(choice)
    if (crl === undefined) throw new Error(`${mount.name} has no list for ${JSON.stringify(choice)}`)
    const list = listed(mount, `list ${index} of ${mount.name}`, crl.der)
    lists.push("delta" in choice ? { ...list, isDelta: true } : list)
  }
  return lists
}

/** Returns CRLs that operators assemble and have signed. */
async function listsOnDemand(mount: RevokedMount, revoked: readonly Made[]): Promise<ValidatedCrl[]> {
  const { name, pki } = mount
  const complete = await pki.crls.get()
  const numbers = { crlNumber: 1_000_000, deltaCrlBaseNumber: -1, nextUpdateMs: 72 * hourMs }
  const resigned = await pki.crls.resign("default", { ...numbers, crls: [pem("X509 CRL", complete!.der)] })
  const free = await pki.crls.signRevocationList("default", {
    ...numbers,
    deltaCrlBaseNumber: 999_999,
    revokedCertificates: revoked.slice(0, 3).map(({ serialNumber = "" }) => ({
      serialNumber,
      revokedAt: Date.UTC(2026, 0, 1),
      extensions: [{ oid: oids.crlReason, critical: false, value: Uint8Array.of(0x0a, 1, 1) }],
    })),
    extensions: [],
  })
  return [
    { ...listed(mount, `list of ${name}, signed again`, resigned.der), isMadeUp: true },
    { ...listed(mount, `list of ${name}, made up`, free.der), isMadeUp: true },
  ]
}

const listed = ({ chain, explained }: RevokedMount, name: string, der: Uint8Array): ValidatedCrl => ({
  name,
  der,
  issuers: chain,
  explained,
})

const answersPerStatus = 3

async function answersOf(
  mount: RevokedMount,
  responder: Responder,
  made: readonly Made[],
  statusOf: (made: Made) => "good" | "revoked",
): Promise<ValidatedAnswer[]> {
  const withSerial = made.filter(({ serialNumber }) => serialNumber !== undefined)
  const statuses = (["good", "revoked"] as const).flatMap((status) =>
    withSerial.filter((each) => statusOf(each) === status).slice(0, answersPerStatus),
  )
  const answers: ValidatedAnswer[] = []
  for (const each of statuses)
    answers.push(await answered(mount, responder, each.serialNumber!, each.certificate.der, statusOf(each)))
  return [...answers, await answered(mount, responder, "0a:0b:0c" as SerialNumber, undefined, "unknown")]
}

async function answered(
  { name, pki, choice, chain, explainedAnswers }: RevokedMount,
  responder: Responder,
  serialNumber: SerialNumber,
  certificate: Uint8Array | undefined,
  status: ValidatedAnswer["status"],
): Promise<ValidatedAnswer> {
  const digest = choice.of(["sha1", "sha1", "sha256"] as const)
  const nonce = choice.oneIn(2) ? choice.bytes(choice.of([1, 16, 32, 128])) : undefined
  const request = ocspQuestion({
    digest,
    issuer: chain[0]!,
    serialNumber: serialNumberOctets(serialNumber),
    ...(nonce === undefined ? {} : { nonce }),
  })
  const { der } = await pki.ocsp.answer(request)
  return {
    name: `answer of ${name} about ${serialNumber}, ${JSON.stringify(responder)}`,
    der,
    issuers: chain,
    explained: explainedAnswers(responder),
    request,
    digest,
    serialNumber: BigInt(`0x${serialNumber.replaceAll(":", "")}`),
    ...(certificate === undefined ? {} : { certificate }),
    status,
  }
}
