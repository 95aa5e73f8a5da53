// Key stores and trust stores of a certificate's Secret, and their passwords.
import { createHmac } from "node:crypto"
import {
  type PrivateKey,
  writeJavaKeyStore,
  writeJavaTrustStore,
  writeKeyStore,
  writeTrustStore,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import { type KubernetesObject, type ObjectKey, type Resource, secrets } from "../../kube/kubernetes-object.ts"
import type { NamedObjects } from "../../kube/named-objects.ts"
import type { Index } from "../../kube/object-store.ts"
import { inNamespaceOf } from "../../kube/owned-objects.ts"
import { stalled } from "../reconcile-result.ts"
import { annotations } from "./annotations.ts"
import type { StoredCertificate } from "./stored-certificate.ts"

type OutputFormat = NonNullable<CertificateSpec["additionalOutputFormats"]>[number]

export const storeNames = {
  PKCS12: { keys: "keystore.p12", trust: "truststore.p12" },
  JKS: { keys: "keystore.jks", trust: "truststore.jks" },
} as const
type StoreType = keyof typeof storeNames
const storeTypes = ["PKCS12", "JKS"] as const

/** Passwords of the formats in the spec that have one. */
export type KeystorePasswords = Readonly<Partial<Record<StoreType, string>>>

export const formatOf = (spec: CertificateSpec, type: OutputFormat["type"]): OutputFormat | undefined =>
  spec.additionalOutputFormats?.find((format) => format.type === type)

/** Returns the types of stores that the spec lists. */
export const storeTypesOf = (spec: CertificateSpec): readonly StoreType[] =>
  storeTypes.filter((type) => formatOf(spec, type) !== undefined)

const defaultPassword = "changeit"
const defaultAlias = "certificate"

/** Returns the passwords. Throws `NotReadyError` if a Secret with a password is missing or its value is no password. */
export async function keystorePasswords(
  spec: CertificateSpec,
  object: KubernetesObject,
  named: (resource: Resource) => Pick<NamedObjects, "get">,
  signal: AbortSignal,
): Promise<KeystorePasswords> {
  const passwords: Partial<Record<StoreType, string>> = {}
  for (const type of storeTypesOf(spec)) {
    const { password = defaultPassword, passwordSecretRef: ref } = formatOf(spec, type) ?? {}
    const source = ref === undefined ? undefined : await named(secrets).get(inNamespaceOf(object, ref.name), signal)
    passwords[type] = ref === undefined ? password : passwordIn(source, `the password of ${type}`, ref)
  }
  return passwords
}

/** As the field `password`; programs encode other characters differently. */
const passwordPattern = /^[ -~]{1,128}$/

function passwordIn(
  source: KubernetesObject | undefined,
  what: string,
  { name, key }: NonNullable<OutputFormat["passwordSecretRef"]>,
): string {
  if (source === undefined)
    throw stalled("SecretMissing", `There is no Secret ${name} with ${what}. The present certificate stays unchanged.`)
  const data = (source["data"] ?? {}) as Readonly<Record<string, string>>
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined
  if (encoded === undefined)
    throw stalled(
      "SecretKeyMissing",
      `The Secret ${name} has no value for ${key}, ${what}. The present certificate stays unchanged.`,
    )
  const password = Buffer.from(encoded, "base64").toString("latin1")
  if (!passwordPattern.test(password))
    throw stalled(
      "InvalidSpec",
      `The value of ${key} in the Secret ${name}, ${what}, must be 1 to 128 printable ASCII characters, without a newline at its end.`,
    )
  return password
}

/** Returns the keys of the Secrets with passwords. The spec may not match the schema. */
export const passwordSecretsOf: Index = (object): readonly ObjectKey[] => {
  const { additionalOutputFormats } = (object["spec"] ?? {}) as Partial<CertificateSpec>
  const names = (Array.isArray(additionalOutputFormats) ? additionalOutputFormats : []).flatMap(
    (format: Partial<OutputFormat>) => {
      const name: unknown = format?.passwordSecretRef?.name
      return typeof name === "string" ? [inNamespaceOf(object, name)] : []
    },
  )
  return [...new Set(names)]
}

export interface Keystores {
  readonly annotations: Readonly<Record<string, string>>
  /** Base64. */
  readonly data: Readonly<Record<string, string>>
}

export interface KeystoreContent {
  readonly spec: CertificateSpec
  readonly stored: StoredCertificate
  readonly passwords: KeystorePasswords
}

/** Returns the stores. Those of `present` are reused if their input is unchanged. */
export async function keystoresFor(
  content: KeystoreContent,
  present: KubernetesObject | undefined,
): Promise<Keystores> {
  const pkcs12 = await pkcs12For(content, present)
  return { annotations: pkcs12.annotations, data: { ...pkcs12.data, ...javaStoresFor(content) } }
}

/** PKCS #12 stores have random salts, so an annotation with a digest of their input tells whether they are up to date. */
async function pkcs12For(
  { spec, stored, passwords: { PKCS12: password } }: KeystoreContent,
  present: KubernetesObject | undefined,
): Promise<Keystores> {
  const format = formatOf(spec, "PKCS12")
  const { privateKey, chain } = stored
  if (format === undefined || password === undefined || privateKey === undefined) return { annotations: {}, data: {} }
  const { alias = defaultAlias } = format
  const names = storeNames.PKCS12
  const source = sourceDigest(privateKey, stored, alias, password)
  const written = { [annotations.stores]: source }
  const data = (present?.["data"] ?? {}) as Readonly<Record<string, string>>
  const [keys, trust] = [data[names.keys], data[names.trust]]
  if (present?.metadata.annotations?.[annotations.stores] === source && keys !== undefined && trust !== undefined)
    return { annotations: written, data: { [names.keys]: keys, [names.trust]: trust } }
  return {
    annotations: written,
    data: {
      [names.keys]: base64(await writeKeyStore({ privateKey, chain, alias }, password)),
      [names.trust]: base64(await writeTrustStore(trustedIn(stored), password)),
    },
  }
}

/** The private key is the key of the digest, because readers of annotations could otherwise test guesses of the password. */
const sourceDigest = (
  privateKey: PrivateKey,
  { chain, authorities }: StoredCertificate,
  alias: string,
  password: string,
): string =>
  createHmac("sha256", privateKey.der("pkcs8"))
    .update(Buffer.concat([Buffer.from(`${password}\n${alias}\n`), ...chain, ...authorities]))
    .digest("hex")

/** The same input gives the same bytes, so these stores are written again and compared. */
function javaStoresFor({ spec, stored, passwords: { JKS: password } }: KeystoreContent): Record<string, string> {
  const format = formatOf(spec, "JKS")
  const { privateKey, chain, leaf } = stored
  if (format === undefined || password === undefined || privateKey === undefined) return {}
  const { alias = defaultAlias } = format
  const names = storeNames.JKS
  return {
    [names.keys]: base64(writeJavaKeyStore({ privateKey, chain, alias }, leaf.notBefore, password)),
    [names.trust]: base64(writeJavaTrustStore(trustedIn(stored), leaf.notBefore, password)),
  }
}

const trustedIn = ({ authorities }: StoredCertificate) =>
  authorities.map((certificate, index) => ({ certificate, alias: `ca-${index}` }))

const base64 = (octets: Uint8Array): string => Buffer.from(octets).toString("base64")
