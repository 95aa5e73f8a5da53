// The names by which roles and requests ask for key usages and extended key usages, and what they become in a certificate.
import type { KeyType } from "./key-strength.ts"

/** The bits of RFC 5280, section 4.2.1.3, by their names there; nonRepudiation under its newer name. */
export type KeyUsage =
  | "digitalSignature"
  | "contentCommitment"
  | "keyEncipherment"
  | "dataEncipherment"
  | "keyAgreement"
  | "keyCertSign"
  | "cRLSign"
  | "encipherOnly"
  | "decipherOnly"

/** What a list of names means, each once, in a fixed order, and the names that mean nothing. */
export interface ParsedUsages<T> {
  readonly usages: readonly T[]
  readonly unknown: readonly string[]
}

/** Names without the prefix `KeyUsage`, in any case. */
export const parseKeyUsages = (names: readonly string[]): ParsedUsages<KeyUsage> => parseUsages(keyUsages, names)

/** Names without the prefix `ExtKeyUsage`, in any case; the usages are object identifiers. */
export const parseExtendedKeyUsages = (names: readonly string[]): ParsedUsages<string> =>
  parseUsages(extendedKeyUsages, names)

/**
 * Those that a certificate of an end entity may have for such a key: a signature key enciphers nothing, RSA agrees on
 * nothing (RFC 3279, section 2.3.1; RFC 8813, section 3; RFC 8410, section 5), and keyCertSign is for CAs alone
 * (RFC 5280, section 4.2.1.9).
 */
export function fittingKeyUsages(usages: readonly KeyUsage[], keyType: KeyType): readonly KeyUsage[] {
  return usages.filter((usage) => fitting[keyType].has(usage)).filter(isMeaningful)
}

/** The last two say more about keyAgreement and mean nothing without it (RFC 5280, section 4.2.1.3). */
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
  ["any", "2.5.29.37.0"],
  ["serverauth", "1.3.6.1.5.5.7.3.1"],
  ["clientauth", "1.3.6.1.5.5.7.3.2"],
  ["codesigning", "1.3.6.1.5.5.7.3.3"],
  ["emailprotection", "1.3.6.1.5.5.7.3.4"],
  ["ipsecendsystem", "1.3.6.1.5.5.7.3.5"],
  ["ipsectunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsecuser", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocspsigning", "1.3.6.1.5.5.7.3.9"],
  ["microsoftservergatedcrypto", "1.3.6.1.4.1.311.10.3.3"],
  ["netscapeservergatedcrypto", "2.16.840.1.113730.4.1"],
  ["microsoftcommercialcodesigning", "1.3.6.1.4.1.311.2.1.22"],
  ["microsoftkernelcodesigning", "1.3.6.1.4.1.311.61.1.1"],
])

function parseUsages<T>(known: ReadonlyMap<string, T>, names: readonly string[]): ParsedUsages<T> {
  const asked = new Set(names.map(fold))
  return {
    usages: [...known].filter(([name]) => asked.has(name)).map(([, usage]) => usage),
    unknown: names.filter((name) => !known.has(fold(name))),
  }
}

const fold = (name: string): string => name.trim().toLowerCase()
