// Declared issuers: validation before any request.
import { describe, expect, test } from "vitest"
import { foreignRoot } from "../../testing/issuing-mount.ts"
import { pkiIssuerResource } from "./pki-issuer-kind.ts"

const faultsOf = (spec: object, open: readonly string[] = []) => [
  ...new Set(pkiIssuerResource.validate({ ...spec }, new Set(open)).map(({ field }) => field?.join("."))),
]

const root = { mount: "pki", name: "root", kind: "root", commonName: "Root" }
const intermediate = { mount: "pki", name: "issuing", kind: "intermediate", commonName: "Issuing CA" }
const elsewhere = foreignRoot()
const imported = { mount: "pki", name: "theirs", kind: "imported", bundle: elsewhere.certificate }

describe("an issuer", () => {
  test.each<{ spec: object; at: string[]; why: string }>([
    { spec: { ...root, kind: "leaf" }, at: ["kind"], why: "an unknown kind" },
    { spec: { ...root, kind: undefined }, at: ["kind"], why: "no word on what it is" },
    { spec: { ...root, mount: "a b" }, at: ["mount"], why: "a mount with a space" },
    { spec: { ...root, name: "default" }, at: ["name"], why: "the name that means another" },
    { spec: { ...root, name: "a b" }, at: ["name"], why: "a name with a space" },
    { spec: { ...root, keyName: "-" }, at: ["keyName"], why: "an invalid name of the key" },
    { spec: { ...root, commonName: undefined }, at: ["commonName"], why: "no subject" },
    { spec: { ...root, countries: ["Germany"] }, at: ["countries"], why: "a country in words" },
    { spec: { ...root, ttl: "soon" }, at: ["ttl"], why: "a lifetime in words" },
    { spec: { ...root, ttl: "1h", notAfter: "2040-01-01T00:00:00Z" }, at: ["notAfter"], why: "two ends" },
    { spec: { ...root, maxPathLength: -2 }, at: ["maxPathLength"], why: "a negative path length" },
    { spec: { ...root, permittedUriDomains: ["http://a"] }, at: ["permittedUriDomains"], why: "a URI for a domain" },
    { spec: { ...root, keyType: "dsa" }, at: ["keyType"], why: "an unknown type of key" },
    { spec: { ...root, keyType: "ec", keyBits: 2048 }, at: ["keyBits"], why: "a size of another type" },
    { spec: { ...root, signatureBits: 160 }, at: ["signatureBits"], why: "a digest of no use" },
    { spec: { ...root, leafNotAfterBehavior: "cut" }, at: ["leafNotAfterBehavior"], why: "an unknown behaviour" },
    { spec: { ...root, usage: ["signing"] }, at: ["usage.0"], why: "an unknown usage" },
    { spec: { ...root, manualChain: ["root"] }, at: ["manualChain"], why: "a name for an id" },
    {
      spec: { ...root, revocationSignatureAlgorithm: "MD5" },
      at: ["revocationSignatureAlgorithm"],
      why: "a broken digest",
    },
    { spec: { ...root, ocspServers: ["ocsp.test"] }, at: ["ocspServers"], why: "half an address" },
    { spec: { ...root, bundle: "x" }, at: ["bundle"], why: "a bundle for a root" },
    { spec: { ...root, parentIssuerRef: "x" }, at: ["parentIssuerRef"], why: "a parent for a root" },
    { spec: { ...root, common_name: "x" }, at: ["common_name"], why: "the API's word for a member" },
    { spec: { ...intermediate, parentMount: "a b" }, at: ["parentMount"], why: "a parent's mount with a space" },
    { spec: { ...intermediate, signedCertificate: "x" }, at: ["signedCertificate"], why: "no certificate" },
    {
      spec: { ...intermediate, parentMount: "root", signedCertificate: elsewhere.certificate },
      at: ["signedCertificate"],
      why: "a signed certificate and a parent",
    },
    { spec: { ...imported, bundle: undefined }, at: ["bundle"], why: "nothing to import" },
    { spec: { ...imported, bundle: elsewhere.key }, at: ["bundle"], why: "a key without a certificate" },
    { spec: { ...imported, bundle: "-----BEGIN CERTIFICATE-----\n" }, at: ["bundle"], why: "half a certificate" },
    {
      spec: { ...imported, commonName: "x", keyType: "ec" },
      at: ["commonName", "keyType"],
      why: "content members for an imported issuer",
    },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(faultsOf(spec)).toEqual(at)
  })

  test("is rejected without text of the private key in its bundle", () => {
    const broken = elsewhere.key.replace("END", "FIN")
    const [fault] = pkiIssuerResource.validate({ ...imported, bundle: broken })
    expect(fault?.field).toEqual(["bundle"])
    expect(fault?.detail).not.toContain(elsewhere.key.split("\n")[1])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: root, open: [] },
    { spec: { mount: "pki", name: "root", kind: "root" }, open: ["commonName"] },
    { spec: { ...root, keyBits: 384 }, open: ["keyType"] },
    { spec: { ...root, bundle: elsewhere.certificate, parentMount: "root" }, open: ["kind"] },
    { spec: { ...intermediate, parentMount: "root" }, open: ["signedCertificate"] },
    { spec: intermediate, open: [] },
    { spec: { mount: "pki", name: "theirs", kind: "imported" }, open: ["bundle"] },
    { spec: { ...imported, usage: ["crl-signing"], isDefault: true }, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(faultsOf(spec, open)).toEqual([])
  })
})
