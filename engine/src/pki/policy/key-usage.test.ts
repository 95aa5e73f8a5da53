import { expect, test } from "vitest"
import { keyUsages } from "../../x509/extensions.ts"
import { fittingKeyUsages, parseExtendedKeyUsages, parseKeyUsages } from "./key-usage.ts"

test.each([
  {
    names: ["DigitalSignature", "KeyAgreement"],
    usages: ["digitalSignature", "keyAgreement"],
    why: "as roles say them",
  },
  { names: ["KEYAGREEMENT", " digitalsignature "], usages: ["digitalSignature", "keyAgreement"], why: "in any case" },
  { names: ["CertSign", "CRLSign"], usages: ["keyCertSign", "cRLSign"], why: "two that RFC 5280 calls otherwise" },
  { names: ["CRLSign", "crlsign"], usages: ["cRLSign"], why: "once" },
  { names: [], usages: [], why: "none" },
])("key usages $names are $usages: $why", ({ names, usages }) => {
  expect(parseKeyUsages(names)).toEqual({ usages, unknown: [] })
})

test("what no one knows is told apart", () => {
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
  { keyType: "rsa", fitting: ["digitalSignature", "keyEncipherment"], why: "RSA agrees on nothing (RFC 3279)" },
  { keyType: "ec", fitting: ["digitalSignature", "keyAgreement"], why: "an EC key enciphers nothing (RFC 8813)" },
  { keyType: "ed25519", fitting: ["digitalSignature"], why: "Ed25519 only signs (RFC 8410)" },
] as const)("of a role's defaults $keyType has $fitting: $why", ({ keyType, fitting }) => {
  const { usages } = parseKeyUsages(["DigitalSignature", "KeyAgreement", "KeyEncipherment"])
  expect(fittingKeyUsages(usages, keyType)).toEqual(fitting)
})

test("what an authority does is no usage of an end entity, and what says more about keyAgreement needs it", () => {
  expect(fittingKeyUsages(["keyCertSign", "cRLSign"], "rsa")).toEqual(["cRLSign"])
  expect(fittingKeyUsages(["keyAgreement", "encipherOnly"], "ec")).toEqual(["keyAgreement", "encipherOnly"])
  expect(fittingKeyUsages(["digitalSignature", "decipherOnly"], "ec")).toEqual(["digitalSignature"])
})
