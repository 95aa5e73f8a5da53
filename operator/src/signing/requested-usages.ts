// Usages as cert-manager and the certificates API of Kubernetes name them. Both have the same names (Kubernetes API reference, "KeyUsage";
// cert-manager API reference, "KeyUsage").
import { type KeyUsage, oids } from "@chancery/engine/x509"

const keyUsageNames: Readonly<Record<string, KeyUsage>> = {
  signing: "digitalSignature",
  "digital signature": "digitalSignature",
  "content commitment": "contentCommitment",
  "key encipherment": "keyEncipherment",
  "key agreement": "keyAgreement",
  "data encipherment": "dataEncipherment",
  "cert sign": "keyCertSign",
  "crl sign": "cRLSign",
  "encipher only": "encipherOnly",
  "decipher only": "decipherOnly",
}

const extendedKeyUsageNames: Readonly<Record<string, string>> = {
  any: oids.anyExtendedKeyUsage,
  "server auth": oids.serverAuth,
  "client auth": oids.clientAuth,
  "code signing": oids.codeSigning,
  "email protection": oids.emailProtection,
  "s/mime": oids.emailProtection,
  "ipsec end system": oids.ipsecEndSystem,
  "ipsec tunnel": oids.ipsecTunnel,
  "ipsec user": oids.ipsecUser,
  timestamping: oids.timeStamping,
  "ocsp signing": oids.ocspSigning,
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
}

/** Usages that a role gives. Key usages are names, extended ones are object identifiers. */
export interface GrantedUsages {
  readonly keyUsages: readonly KeyUsage[]
  readonly extendedKeyUsages: readonly string[]
}

/** Returns the requested usages that are not granted, as they were written. A name that no certificate can have is never granted. */
export function usagesBeyond(
  requested: readonly string[],
  { keyUsages, extendedKeyUsages }: GrantedUsages,
): readonly string[] {
  const isGranted = (name: string): boolean => {
    const keyUsage = keyUsageNames[name]
    const extended = extendedKeyUsageNames[name]
    if (keyUsage !== undefined) return keyUsages.includes(keyUsage)
    return extended !== undefined && extendedKeyUsages.includes(extended)
  }
  return [...new Set(requested)].filter((name) => !isGranted(name))
}
