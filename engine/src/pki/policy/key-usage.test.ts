import { expect, test } from "vitest"
import { keyUsages } from "../../x509/extensions.ts"
import { fittingKeyUsages, parseExtendedKeyUsages, parseKeyUsages } from "./key-usage.ts"

test.each([
  {
    names: ["DigitalSignature", "KeyAgreement"],
    usages: ["digitalSignature", "keyAgreement"],
    why: "the names of roles",
  },
  {
    names: ["KEYAGREEMENT", " digitalsignature "],
    usages: ["digitalSignature", "keyAgreement"],
    why: "another letter case",
  },
  { names: ["CertSign", "CRLSign"], usages: ["keyCertSign", "cRLSign"], why: "two names that differ from RFC 5280" },
  { names: ["CRLSign", "crlsign"], usages: ["cRLSign"], why: "duplicates" },
  { names: [], usages: [], why: "none" },
])("key usages $names are $usages: $why", ({ names, usages }) => {
  expect(parseKeyUsages(names)).toEqual({ usages, unknown: [] })
})

test("unknown names are returned separately", () => {
  expect(parseKeyUsages(["KeyUsageCRLSign", "CRLSign"])).toEqual({ usages: ["cRLSign"], unknown: ["KeyUsageCRLSign"] })
  expect(parseExtendedKeyUsages(["ServerAuth", "web"])).toEqual({ usages: ["1.3.6.1.5.5.7.3.1"], unknown: ["web"] })
})

test("every key usage has a name", () => {
  const names =
    "DigitalSignature ContentCommitment KeyEncipherment DataEncipherment KeyAgreement CertSign CRLSign EncipherOnly DecipherOnly"
  expect(parseKeyUsages(names.split(" ")).usages).toEqual(keyUsages)
})

test("the extended key usages that roles may name", () => {
  const names =
    "Any ServerAuth ClientAuth CodeSigning EmailProtection IPSECEndSystem IPSECTunnel IPSECUser TimeStamping OCSPSigning " +
    "MicrosoftServerGatedCrypto NetscapeServerGatedCrypto MicrosoftCommercialCodeSigning MicrosoftKernelCodeSigning"
  const { usages, unknown } = parseExtendedKeyUsages(names.split(" "))
  expect(unknown).toEqual([])
  expect(usages).toEqual([
    "2.5.29.37.0",
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((last) => `1.3.6.1.5.5.7.3.${last}`),
    "1.3.6.1.4.1.311.10.3.3",
    "2.16.840.1.113730.4.1",
    "1.3.6.1.4.1.311.2.1.22",
    "1.3.6.1.4.1.311.61.1.1",
  ])
})

test.each([
  { keyType: "rsa", fitting: ["digitalSignature", "keyEncipherment"], why: "RSA has no key agreement (RFC 3279)" },
  { keyType: "ec", fitting: ["digitalSignature", "keyAgreement"], why: "an EC key has no encipherment (RFC 8813)" },
  { keyType: "ed25519", fitting: ["digitalSignature"], why: "Ed25519 only signs (RFC 8410)" },
] as const)("the default usages for $keyType are $fitting: $why", ({ keyType, fitting }) => {
  const { usages } = parseKeyUsages(["DigitalSignature", "KeyAgreement", "KeyEncipherment"])
  expect(fittingKeyUsages(usages, keyType)).toEqual(fitting)
})

test("an end entity has no CA usages, and encipherOnly and decipherOnly require keyAgreement", () => {
  expect(fittingKeyUsages(["keyCertSign", "cRLSign"], "rsa")).toEqual(["cRLSign"])
  expect(fittingKeyUsages(["keyAgreement", "encipherOnly"], "ec")).toEqual(["keyAgreement", "encipherOnly"])
  expect(fittingKeyUsages(["digitalSignature", "decipherOnly"], "ec")).toEqual(["digitalSignature"])
})
