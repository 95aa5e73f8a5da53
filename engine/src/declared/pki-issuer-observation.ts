// Observation of an issuer whose key is in a mount.
import { invalid, isEngineError } from "../core/errors.ts"
import { formatInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { IssuerSummary, IssuerView } from "../pki/issuers/issuer-api.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { valuesOf } from "../pki/names/subject.ts"
import { oids } from "../x509/asn1/oids.ts"
import { type Certificate, parseCertificate } from "../x509/certificate.ts"
import { readPublicKey } from "../x509/public-key.ts"
import type { Known } from "./declared-resource.ts"
import { isSelfIssued } from "./pki-issuance.ts"
import { type ObservedPkiIssuer, observedPkiIssuer } from "./pki-issuer.ts"
import { fixedNames, type PkiIssuerSpec, settingDefaults } from "./pki-issuer-spec.ts"

type Unsigned<Issuer> = { readonly [Name in keyof Issuer]: Issuer[Name] | null }

/** Observation of an issuer. Declared members of the request are added to it. Members of the certificate are null until it is signed. */
export interface ObservedPkiAuthority
  extends
    Unsigned<Pick<ObservedPkiIssuer, "issuerId" | "certificate">>,
    Omit<ObservedPkiIssuer, "issuerId" | "certificate" | "issuerName"> {
  /** Empty if it has none. */
  readonly name: string
  /** Null if it has none, or the mount does not have the key. */
  readonly keyName: string | null
  /** CSR (PEM) for another authority. Null if no signature is pending. */
  readonly csr: string | null
  /** Hex octets joined by ":". */
  readonly serialNumber: string | null
  /** ISO 8601. */
  readonly expiration: string | null
  readonly isDefault: boolean
}

export async function observeIssuer(
  engine: Engine,
  id: string,
  spec: Partial<PkiIssuerSpec>,
  { before }: Known<ObservedPkiAuthority>,
): Promise<ObservedPkiAuthority | undefined> {
  const { mount, reference } = issuerPlaceOf(id)
  const pki = engine.pki(mount)
  try {
    const issuers = await pki.issuers.list()
    if (!reference.startsWith("key-")) {
      const summary = issuers.find((one) => one.id === reference)
      return summary === undefined ? undefined : await observedIssuer(pki, mount, summary, spec, before)
    }
    const own = issuers.filter(({ keyId }) => keyId === reference)
    const summary =
      own.find((one) => one.id === before.issuerId) ?? own.find(({ name }) => name === spec.name) ?? own.at(-1)
    if (summary !== undefined) return await observedIssuer(pki, mount, summary, spec, before)
    const { name } = await pki.keys.get(reference)
    return unsigned(mount, { keyId: reference, keyName: name, csr: before.csr ?? null }, spec)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

const declaredContent = (spec: object): object =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => fixedNames.includes(name)))

export async function observedIssuer(
  pki: Pki,
  mount: string,
  { id, isDefault, serialNumber }: IssuerSummary,
  spec: Partial<PkiIssuerSpec>,
  { csr = null }: Partial<ObservedPkiAuthority>,
): Promise<ObservedPkiAuthority> {
  const view = await pki.issuers.get(id)
  const { issuerName, ...observed } = observedPkiIssuer(mount, view)
  const keyName = view.keyId === null ? null : (await pki.keys.get(view.keyId)).name
  const certificate = parseCertificate(view.certificate)
  return {
    ...saidBy(certificate),
    ...declaredContent(spec),
    ...observed,
    // The chain begins with the issuer itself, which specs leave out.
    manualChain: observed.manualChain.slice(1),
    name: issuerName ?? "",
    keyName,
    csr,
    serialNumber,
    expiration: formatInstant(certificate.notAfter),
    isDefault,
  }
}

/** Returns declared members as the certificate has them, so that a program that imports the issuer finds no differences. */
function saidBy({ subjectName, subjectPublicKeyInfo }: Certificate): object {
  const { algorithm } = readPublicKey(subjectPublicKeyInfo)
  const values = (type: string) => valuesOf(subjectName, type)
  return {
    keyType: algorithm.type,
    ...("bits" in algorithm ? { keyBits: algorithm.bits } : {}),
    commonName: values(oids.commonName)[0] ?? "",
    countries: values(oids.countryName),
    organizations: values(oids.organizationName),
    organizationalUnits: values(oids.organizationalUnitName),
    localities: values(oids.localityName),
    provinces: values(oids.stateOrProvinceName),
    streetAddresses: values(oids.streetAddress),
    postalCodes: values(oids.postalCode),
    subjectSerialNumber: values(oids.serialNumber)[0] ?? "",
  }
}

/**
 * Returns the observation of an intermediate without a certificate. Without the parent members, the next update finds a difference and has
 * it signed.
 */
export function unsigned(
  mount: string,
  { keyId, keyName, csr }: { readonly keyId: string; readonly keyName: string | null; readonly csr: string | null },
  spec: Partial<PkiIssuerSpec>,
): ObservedPkiAuthority {
  const { parentMount: _mount, parentIssuerRef: _ref, ...content } = spec
  return {
    ...declaredContent(content),
    mount,
    issuerId: null,
    name: spec.name ?? "",
    keyId,
    keyName,
    csr,
    certificate: null,
    caChain: [],
    usage: [],
    ...settingDefaults,
    serialNumber: null,
    expiration: null,
    revokedAt: null,
    isDefault: false,
  }
}

/** Returns whether the issuer has issued certificates other than its own. */
export async function hasIssued(
  pki: Pki,
  { id, certificate }: IssuerView,
  status: readonly "valid"[] = [],
): Promise<boolean> {
  const { items } = await pki.certificates.search({ issuerRef: id, status }, { limit: 2 })
  const own = isSelfIssued(certificate) ? hexOf(parseCertificate(certificate).serialNumber) : ""
  return items.some(({ serialNumber }) => serialNumber !== own)
}

/** Formats octets like serial numbers: hex joined by ":". */
export const hexOf = (octets: Uint8Array): string =>
  Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(":")

export function issuerPlaceOf(id: string): { readonly mount: string; readonly reference: string } {
  const [, mount, reference] = /^(.+)\/((?:iss|key)-\w+)$/.exec(id) ?? []
  if (mount === undefined || reference === undefined)
    throw invalid([{ field: ["id"], detail: `id of an issuer must be MOUNT/ISSUER_ID or MOUNT/KEY_ID, not "${id}"` }])
  return { mount, reference }
}
