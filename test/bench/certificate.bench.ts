// Building, signing and encoding a certificate with our writer, relative to `pkijs` with the same content. Also our two steps without the
// signature, and the cost of hostile input. All in processor time, so that other programs do not count.
import { generateKeyPairSync, sign, webcrypto } from "node:crypto"
import * as asn1js from "asn1js"
import * as pkijs from "pkijs"
import { MalformedDer } from "../../engine/src/x509/asn1/malformed-der.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { encode, objectIdentifier, sequence } from "../../engine/src/x509/asn1/writer.ts"
import { assembleCertificate, encodeTbsCertificate, parseCertificate } from "../../engine/src/x509/certificate.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
  parseCertificationRequest,
} from "../../engine/src/x509/certification-request.ts"
import { authorityInfoAccess, crlDistributionPoints } from "../../engine/src/x509/distribution-points.ts"
import {
  authorityKeyIdentifier,
  extendedKeyUsage,
  keyUsage,
  parseExtensionValues,
  subjectAltName,
  subjectKeyIdentifier,
} from "../../engine/src/x509/extensions.ts"
import { encodeName } from "../../engine/src/x509/name.ts"
import { hostileShapes } from "../x509/hostile-shapes.ts"
import { median, report, target } from "./figures.ts"

const rounds = 7
const roundMs = 200

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
const subjectPublicKeyInfo = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }))
const ecdsaWithSha256 = encode(sequence([objectIdentifier(oids.ecdsaWithSha256)]))
const identifier = new Uint8Array(20).fill(7)
const serialNumber = new Uint8Array(20).fill(0x55)
const notBefore = Date.parse("2026-01-01T00:00:00Z")
const notAfter = Date.parse("2026-02-01T00:00:00Z")
const issuerUrl = "http://pki.example.com/v1/pki/issuer/default"
const names = ["www.example.com", "example.com", "api.example.com"]

// Values that an issuer reuses between certificates.
const issuer = encodeName([[{ type: oids.commonName, value: "Example Issuing CA" }]])
const ofIssuer = [
  authorityKeyIdentifier(identifier),
  authorityInfoAccess({ ocspServers: [`${issuerUrl}/ocsp`], issuingCertificates: [`${issuerUrl}/der`] }),
  crlDistributionPoints([[`${issuerUrl}/crl`]]),
]
const ofRole = [keyUsage(["digitalSignature", "keyAgreement"]), extendedKeyUsage([oids.serverAuth, oids.clientAuth])]

function ourTbs(): Uint8Array {
  return encodeTbsCertificate({
    serialNumber,
    signatureAlgorithm: ecdsaWithSha256,
    issuer,
    notBefore,
    notAfter,
    subject: encodeName([
      [{ type: oids.organizationName, value: "Example" }],
      [{ type: oids.commonName, value: "www.example.com" }],
    ]),
    subjectPublicKeyInfo,
    extensions: [
      ...ofRole,
      subjectKeyIdentifier(identifier),
      ...ofIssuer,
      subjectAltName(
        names.map((value) => ({ kind: "dns", value })),
        { critical: false },
      ),
    ],
  })
}

function ourCertificate(): Uint8Array {
  const tbs = ourTbs()
  return assembleCertificate(tbs, ecdsaWithSha256, sign("sha256", tbs, privateKey))
}

const webKey = await webcrypto.subtle.importKey(
  "pkcs8",
  privateKey.export({ format: "der", type: "pkcs8" }),
  { name: "ECDSA", namedCurve: "P-256" },
  false,
  ["sign"],
)
const theirKey = pkijs.PublicKeyInfo.fromBER(subjectPublicKeyInfo)

const attribute = (type: string, value: string) =>
  new pkijs.AttributeTypeAndValue({ type, value: new asn1js.PrintableString({ value }) })

const extension = (extnID: string, critical: boolean, value: { toBER(): ArrayBuffer }) =>
  new pkijs.Extension({ extnID, critical, extnValue: value.toBER() })

const uri = (value: string) => new pkijs.GeneralName({ type: 6, value })

async function theirCertificate(): Promise<Uint8Array> {
  const certificate = new pkijs.Certificate()
  certificate.version = 2
  certificate.serialNumber = new asn1js.Integer({ valueHex: serialNumber })
  certificate.issuer.typesAndValues.push(attribute(oids.commonName, "Example Issuing CA"))
  certificate.subject.typesAndValues.push(
    attribute(oids.organizationName, "Example"),
    attribute(oids.commonName, "www.example.com"),
  )
  certificate.notBefore.value = new Date(notBefore)
  certificate.notAfter.value = new Date(notAfter)
  certificate.subjectPublicKeyInfo = theirKey
  const keyIdentifier = new asn1js.OctetString({ valueHex: identifier })
  const accessDescriptions = [
    new pkijs.AccessDescription({ accessMethod: oids.ocspAccess, accessLocation: uri(`${issuerUrl}/ocsp`) }),
    new pkijs.AccessDescription({ accessMethod: oids.caIssuersAccess, accessLocation: uri(`${issuerUrl}/der`) }),
  ]
  const distributionPoints = [new pkijs.DistributionPoint({ distributionPoint: [uri(`${issuerUrl}/crl`)] })]
  const altNames = names.map((value) => new pkijs.GeneralName({ type: 2, value }))
  certificate.extensions = [
    extension(oids.keyUsage, true, new asn1js.BitString({ valueHex: Uint8Array.of(0x88), unusedBits: 3 })),
    extension(
      oids.extendedKeyUsage,
      false,
      new pkijs.ExtKeyUsage({ keyPurposes: [oids.serverAuth, oids.clientAuth] }).toSchema(),
    ),
    extension(oids.subjectKeyIdentifier, false, keyIdentifier),
    extension(oids.authorityKeyIdentifier, false, new pkijs.AuthorityKeyIdentifier({ keyIdentifier }).toSchema()),
    extension(oids.authorityInfoAccess, false, new pkijs.InfoAccess({ accessDescriptions }).toSchema()),
    extension(oids.crlDistributionPoints, false, new pkijs.CRLDistributionPoints({ distributionPoints }).toSchema()),
    extension(oids.subjectAltName, false, new pkijs.AltName({ altNames }).toSchema()),
  ]
  await certificate.sign(webKey, "SHA-256")
  return new Uint8Array(certificate.toSchema(true).toBER())
}

const request = ((): Uint8Array => {
  const info = encodeCertificationRequestInfo({
    subject: encodeName([[{ type: oids.commonName, value: "www.example.com" }]]),
    subjectPublicKeyInfo,
    extensions: [
      ...ofRole,
      subjectAltName(
        names.map((value) => ({ kind: "dns", value })),
        { critical: false },
      ),
    ],
  })
  return assembleCertificationRequest(info, ecdsaWithSha256, sign("sha256", info, privateKey))
})()

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns calls per second. */
async function rate(call: () => unknown): Promise<number> {
  let count = 0
  let spent = 0
  for (const began = processorMs(); spent < roundMs; spent = processorMs() - began)
    for (let batch = 0; batch < 16; batch += 1) {
      const result = call()
      if (result instanceof Promise) await result
      count += 1
    }
  return count / (spent / 1000)
}

const measured = {
  "certificates, ours": ourCertificate,
  "certificates, pkijs": theirCertificate,
  "signatures alone, P-256": () => sign("sha256", request, privateKey),
  "TBSCertificates with assembly, ours": () => assembleCertificate(ourTbs(), ecdsaWithSha256, identifier),
  "requests read with their extensions, ours": () => parseCertificationRequest(request),
}
const rates = new Map(Object.keys(measured).map((name) => [name, [] as number[]]))
// The first round warms up.
for (let round = 0; round <= rounds; round += 1)
  for (const [name, call] of Object.entries(measured)) {
    const found = await rate(call)
    if (round > 0) rates.get(name)?.push(found)
  }

if (
  parseCertificate(ourCertificate()).extensions.length !== parseCertificate(await theirCertificate()).extensions.length
)
  throw new Error("The two certificates have different extensions.")
for (const [name, found] of rates) report(name, median(found), "/s")
const of = (name: keyof typeof measured) => rates.get(name) ?? []
target(
  "our certificates / those of pkijs",
  median(of("certificates, ours").map((ours, round) => ours / (of("certificates, pkijs")[round] ?? Number.NaN))),
  { atLeast: 10 },
)
target(
  "a TBSCertificate written and assembled",
  1e6 / median(of("TBSCertificates with assembly, ours")),
  { atMost: 15 },
  "µs",
)
target(
  "a request read with its extensions",
  1e6 / median(of("requests read with their extensions, ours")),
  { atMost: 30 },
  "µs",
)

let slowest = { what: "none", ms: 0 }
for (const { what, document, der } of hostileShapes()) {
  const began = processorMs()
  try {
    if (document === "request") parseCertificationRequest(der)
    else parseExtensionValues(parseCertificate(der).extensions)
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error
  }
  const ms = processorMs() - began
  if (ms > slowest.ms) slowest = { what: `${what} in a ${document}`, ms }
}
target(`the slowest of 64 KiB of hostile input (${slowest.what})`, slowest.ms, { atMost: 50 }, "ms")
