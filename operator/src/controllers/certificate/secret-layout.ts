// Content of a certificate's Secret. The Secret is written as a whole, and only if it differs.
import { isDeepStrictEqual } from "node:util"
import { type PrivateKey, writePem } from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { labels } from "../../kube/owned-objects.ts"
import { annotations } from "./annotations.ts"
import { formatOf, type KeystorePasswords, keystoresFor, storeNames, storeTypesOf } from "./keystores.ts"
import { type StoredCertificate, isSelfIssued } from "./stored-certificate.ts"
import { keyPem } from "./keys.ts"
import { alternativeTexts, commonNameIn } from "./names.ts"
import type { WrittenFacts } from "./policies.ts"

export interface SecretContent {
  readonly certificate: KubernetesObject
  readonly spec: CertificateSpec
  readonly stored: StoredCertificate
  readonly role: string
  readonly authority: string
  readonly revision: number
  /** Empty if no renewal was requested. */
  readonly renewRequest: string
  readonly passwords: KeystorePasswords
}

const chainName = "tls.crt"

/**
 * Returns the wanted Secret. `present` is the existing one; its `type` is immutable and kept. The default type is `kubernetes.io/tls`.
 * `data` is base64.
 */
export async function secretFor(
  content: SecretContent,
  present: KubernetesObject | undefined,
): Promise<KubernetesObject> {
  const { certificate, spec, stored } = content
  const stores = await keystoresFor(content, present)
  const data = { ...encoded(textsFor(spec, stored)), ...stores.data }
  return shellOf(certificate, spec, { ...writtenAs(content), ...stores.annotations }, data, present)
}

function shellOf(
  { metadata: { name, namespace, uid } }: KubernetesObject,
  spec: CertificateSpec,
  own: Readonly<Record<string, string>>,
  data: Readonly<Record<string, string>>,
  present: KubernetesObject | undefined,
): KubernetesObject {
  const owner = {
    apiVersion: "chancery.dev/v1alpha1",
    kind: "Certificate",
    name,
    uid,
    controller: true,
    blockOwnerDeletion: false,
  }
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: spec.secretName,
      ...(namespace === undefined ? {} : { namespace }),
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels: { ...spec.secretTemplate?.labels, ...labels },
      annotations: { ...spec.secretTemplate?.annotations, ...own },
      ...(spec.secretDeletionPolicy === "Delete" ? { ownerReferences: [owner] } : {}),
    },
    // The API server requires `tls.key` in Secrets of the type kubernetes.io/tls.
    type: present?.["type"] ?? (spec.csr === undefined ? "kubernetes.io/tls" : "Opaque"),
    data,
  }
}

/** Data for a Secret without a certificate. */
interface RehearsalData {
  /** Undefined if the engine generates the key. */
  readonly key: PrivateKey | undefined
  /** DER: the issuer's chain, in place of the chain to come. */
  readonly chain: readonly Uint8Array[]
}

/** Returns the Secret without the certificate, for a dry run against admission policies, quotas and permissions. */
export function rehearsalOf(
  content: Omit<SecretContent, "stored" | "passwords">,
  { key, chain }: RehearsalData,
  present: KubernetesObject | undefined,
): KubernetesObject {
  const { certificate, spec } = content
  const pem = chain.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("") || "pending\n"
  const keyText = key === undefined ? "pending\n" : `${keyPem(key, spec.privateKey)}\n`
  const formats = new Set(spec.additionalOutputFormats?.map(({ type }) => type))
  const texts = {
    ...(spec.csr === undefined ? { "tls.key": keyText } : {}),
    [chainName]: pem,
    "ca.crt": pem,
    ...(formats.has("DER") ? { "key.der": "pending" } : {}),
    ...(formats.has("CombinedPEM") ? { "tls-combined.pem": `${keyText}\n${pem}` } : {}),
    ...(formats.has("FullChain") ? { "fullchain.pem": pem } : {}),
    ...Object.fromEntries(
      storeTypesOf(spec).flatMap((type) => Object.values(storeNames[type]).map((name) => [name, "pending"])),
    ),
  }
  const named = {
    [annotations.commonName]: spec.commonName ?? "",
    [annotations.alternativeNames]: [spec.dnsNames, spec.emailAddresses, spec.ipAddresses, spec.uris]
      .flatMap((names) => names ?? [])
      .join(","),
    [annotations.serialNumber]: "pending",
    ...(formats.has("PKCS12") ? { [annotations.stores]: "pending" } : {}),
  }
  return shellOf(certificate, spec, { ...aboutOf(content), ...named }, encoded(texts), present)
}

function writtenAs({ stored, ...about }: Omit<SecretContent, "passwords">): Record<string, string> {
  return {
    ...aboutOf(about),
    [annotations.commonName]: commonNameIn(stored.leaf),
    [annotations.alternativeNames]: alternativeTexts(stored.values).join(","),
    [annotations.serialNumber]: stored.serialNumber,
  }
}

function aboutOf({ certificate, spec, ...facts }: Omit<SecretContent, "stored" | "passwords">): Record<string, string> {
  const { name, uid = "" } = certificate.metadata
  return {
    [annotations.certificateName]: name,
    [annotations.certificateUid]: uid,
    [annotations.issuerGroup]: spec.issuerRef.group,
    [annotations.issuerKind]: spec.issuerRef.kind,
    [annotations.issuerName]: spec.issuerRef.name,
    [annotations.role]: facts.role,
    [annotations.authority]: facts.authority,
    [annotations.revision]: String(facts.revision),
    ...(facts.renewRequest === "" ? {} : { [annotations.renewRequest]: facts.renewRequest }),
  }
}

export function writtenIn(secret: KubernetesObject | undefined): WrittenFacts | undefined {
  const found = secret?.metadata.annotations ?? {}
  const certificateName = found[annotations.certificateName]
  if (certificateName === undefined) return undefined
  return {
    certificateName,
    issuerGroup: found[annotations.issuerGroup] ?? "",
    issuerKind: found[annotations.issuerKind] ?? "",
    issuerName: found[annotations.issuerName] ?? "",
    role: found[annotations.role] ?? "",
    authority: found[annotations.authority] ?? "",
  }
}

/** Returns 0 if the Secret has no revision. */
export function revisionIn(secret: KubernetesObject | undefined): number {
  const text = secret?.metadata.annotations?.[annotations.revision] ?? ""
  return /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0
}

export const serialNumberIn = (secret: KubernetesObject | undefined): string | undefined =>
  secret?.metadata.annotations?.[annotations.serialNumber]

/** Returns an empty string if the Secret has no renewal request. */
export const renewRequestIn = (secret: KubernetesObject | undefined): string =>
  secret?.metadata.annotations?.[annotations.renewRequest] ?? ""

function textsFor(spec: CertificateSpec, stored: StoredCertificate): Record<string, string | Uint8Array> {
  const pem = (certificates: readonly Uint8Array[]) =>
    certificates.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")
  const chain = pem(stored.chain)
  return {
    ...(spec.csr === undefined && stored.privateKey !== undefined ? keyTexts(spec, stored.privateKey, chain) : {}),
    [chainName]: chain,
    "ca.crt": pem(stored.authorities),
    ...(formatOf(spec, "FullChain") === undefined ? {} : { "fullchain.pem": pem(fullChain(stored)) }),
  }
}

function keyTexts(spec: CertificateSpec, privateKey: PrivateKey, chain: string): Record<string, string | Uint8Array> {
  const key = `${keyPem(privateKey, spec.privateKey)}\n`
  return {
    "tls.key": key,
    ...(formatOf(spec, "DER") === undefined ? {} : { "key.der": privateKey.der("pkcs8") }),
    ...(formatOf(spec, "CombinedPEM") === undefined ? {} : { "tls-combined.pem": `${key}\n${chain}` }),
  }
}

/** If the chain ends below the root, its last certificate may be the one in `ca.crt`. It is not repeated. */
function fullChain({ chain, authorities }: StoredCertificate): readonly Uint8Array[] {
  const present = new Set(chain.map(hexOf))
  return [...chain, ...authorities.filter((der) => !present.has(hexOf(der)))]
}

const hexOf = (der: Uint8Array): string => Buffer.from(der).toString("hex")

const encoded = (data: Readonly<Record<string, string | Uint8Array>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, content]) => [name, Buffer.from(content).toString("base64")]))

/** Returns whether the Secret contains everything wanted. Data, labels and annotations of other writers do not matter. */
export function isAsWanted(wanted: KubernetesObject, present: KubernetesObject | undefined): boolean {
  if (present === undefined) return false
  const within = (some: unknown, all: unknown) =>
    Object.entries((some ?? {}) as Record<string, unknown>).every(
      ([name, value]) => ((all ?? {}) as Record<string, unknown>)[name] === value,
    )
  const ours = (object: KubernetesObject) => Object.keys(object["data"] ?? {}).filter((name) => ownKeys.has(name))
  return (
    within(wanted["data"], present["data"]) &&
    isDeepStrictEqual(ours(present).toSorted(), ours(wanted).toSorted()) &&
    within(wanted.metadata.labels, present.metadata.labels) &&
    within(wanted.metadata.annotations, present.metadata.annotations) &&
    isDeepStrictEqual(ownersAmong(wanted), ownersAmong(present))
  )
}

const ownersAmong = ({ metadata }: KubernetesObject): readonly unknown[] =>
  ((metadata["ownerReferences"] ?? []) as readonly { readonly apiVersion: string; readonly uid: string }[])
    .filter(({ apiVersion }) => apiVersion.startsWith("chancery.dev/"))
    .map(({ uid }) => uid)

/** Keys of the operator. Those of output formats that the spec no longer lists are removed. */
const ownKeys = new Set([
  "tls.key",
  chainName,
  "ca.crt",
  "key.der",
  "tls-combined.pem",
  "fullchain.pem",
  ...Object.values(storeNames).flatMap((names) => Object.values(names)),
])

/**
 * Splits the engine's answer: the chain without the root, and the root for `ca.crt`. Without a root, `ca.crt` is the topmost certificate.
 */
export function splitChain(
  leaf: Uint8Array,
  issuingCa: Uint8Array,
  caChain: readonly Uint8Array[],
): { readonly chain: readonly Uint8Array[]; readonly authorities: readonly Uint8Array[] } {
  const above = caChain.length > 0 ? caChain : [issuingCa]
  const intermediates = above.filter((der) => !isSelfIssued(der))
  const [root] = above.filter(isSelfIssued).slice(-1)
  return { chain: [leaf, ...intermediates], authorities: [root ?? intermediates.at(-1) ?? issuingCa] }
}
