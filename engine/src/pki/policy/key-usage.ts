// Names of key usages and extended key usages in roles and requests, and their meaning in certificates.
import { oids } from "../../x509/asn1/oids.ts"
import type { KeyUsage } from "../../x509/extensions.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"

/** Usages that a list names, without duplicates and in a fixed order, and the unknown names. */
export interface ParsedUsages<T> {
  readonly usages: readonly T[]
  readonly unknown: readonly string[]
}

/** Parses names without the prefix `KeyUsage`, in any case. */
export const parseKeyUsages = (names: readonly string[]): ParsedUsages<KeyUsage> => parseUsages(keyUsages, names)

/** Parses names without the prefix `ExtKeyUsage`, in any case. The usages are object identifiers. */
export const parseExtendedKeyUsages = (names: readonly string[]): ParsedUsages<string> =>
  parseUsages(extendedKeyUsages, names)

/**
 * Returns the usages that an end entity's certificate may have for such a key. Signature keys do not encipher, and RSA keys do not
 * agree on keys (RFC 3279, section 2.3.1; RFC 8813, section 3; RFC 8410, section 5). keyCertSign is for CAs only (RFC 5280, section
 * 4.2.1.9).
 */
export function fittingKeyUsages(usages: readonly KeyUsage[], keyType: KeyType): readonly KeyUsage[] {
  return usages.filter((usage) => fitting[keyType].has(usage)).filter(isMeaningful)
}

/** Returns a warning for each given name whose usage the certificate does not get. */
export const unfittingWarnings = (
  names: readonly string[],
  granted: readonly KeyUsage[],
  keyType: KeyType,
): readonly string[] =>
  names.flatMap((name) => {
    const [usage] = parseKeyUsages([name]).usages
    if (usage === undefined || granted.includes(usage)) return []
    return usage === "keyCertSign"
      ? [`"key_usage" ${name} is only for CA certificates and is left out`]
      : [`"key_usage" ${name} does not apply to keys of type ${keyType} and is left out`]
  })

/** encipherOnly and decipherOnly qualify keyAgreement and mean nothing without it (RFC 5280, section 4.2.1.3). */
const isMeaningful = (usage: KeyUsage, _: number, all: readonly KeyUsage[]): boolean =>
  (usage !== "encipherOnly" && usage !== "decipherOnly") || all.includes("keyAgreement")

const signing = ["digitalSignature", "contentCommitment", "cRLSign"] as const
const fitting: Readonly<Record<KeyType, ReadonlySet<KeyUsage>>> = {
  rsa: new Set([...signing, "keyEncipherment", "dataEncipherment"]),
  ec: new Set([...signing, "keyAgreement", "encipherOnly", "decipherOnly"]),
  ed25519: new Set(signing),
}

const keyUsages: ReadonlyMap<string, KeyUsage> = new Map([
  ["digitalsignature", "digitalSignature"],
  ["contentcommitment", "contentCommitment"],
  ["keyencipherment", "keyEncipherment"],
  ["dataencipherment", "dataEncipherment"],
  ["keyagreement", "keyAgreement"],
  ["certsign", "keyCertSign"],
  ["crlsign", "cRLSign"],
  ["encipheronly", "encipherOnly"],
  ["decipheronly", "decipherOnly"],
])

const extendedKeyUsages: ReadonlyMap<string, string> = new Map([
  ["any", oids.anyExtendedKeyUsage],
  ["serverauth", oids.serverAuth],
  ["clientauth", oids.clientAuth],
  ["codesigning", oids.codeSigning],
  ["emailprotection", oids.emailProtection],
  ["ipsecendsystem", oids.ipsecEndSystem],
  ["ipsectunnel", oids.ipsecTunnel],
  ["ipsecuser", oids.ipsecUser],
  ["timestamping", oids.timeStamping],
  ["ocspsigning", oids.ocspSigning],
  ["microsoftservergatedcrypto", oids.microsoftServerGatedCrypto],
  ["netscapeservergatedcrypto", oids.netscapeServerGatedCrypto],
  ["microsoftcommercialcodesigning", oids.microsoftCommercialCodeSigning],
  ["microsoftkernelcodesigning", oids.microsoftKernelCodeSigning],
])

function parseUsages<T>(known: ReadonlyMap<string, T>, names: readonly string[]): ParsedUsages<T> {
  const requested = new Set(names.map(fold))
  return {
    usages: [...known].filter(([name]) => requested.has(name)).map(([, usage]) => usage),
    unknown: names.filter((name) => !known.has(fold(name))),
  }
}

const fold = (name: string): string => name.trim().toLowerCase()
