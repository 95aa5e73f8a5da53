import { expect, test } from "vitest"
import { oids } from "../../x509/asn1/oids.ts"
import { csrFacts } from "./csr.ts"

test("the names of a CSR are read by type, without omissions", () => {
  const subjectName = [[{ type: oids.commonName, value: "example.com" }]]
  const key = { type: "ed25519" } as const
  const facts = csrFacts(
    {
      subjectName,
      extensionValues: {
        subjectAltName: [
          { kind: "dns", value: "a.example" },
          { kind: "email", value: "me@example.com" },
          { kind: "uri", value: "urn:x:y" },
          { kind: "ip", octets: Uint8Array.of(192, 0, 2, 1) },
          { kind: "ip", octets: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2) },
          { kind: "other", oid: "1.2.3", value: "x" },
          { kind: "directory", name: Uint8Array.of(0x30, 0) },
          { kind: "registered-id", oid: "1.2.3" },
          { kind: "unsupported", der: Uint8Array.of(0xa5, 0) },
        ],
        basicConstraints: { isCa: false },
      },
    },
    key,
  )
  expect(facts).toEqual({
    subject: subjectName,
    dnsNames: ["a.example"],
    emails: ["me@example.com"],
    ips: ["192.0.2.1", "192.0.2.2"],
    uris: ["urn:x:y"],
    otherNames: [{ oid: "1.2.3", value: "x" }],
    otherKinds: ["directoryName", "registeredID", "otherName that is not UTF8 text, x400Address or ediPartyName"],
    hasBasicConstraints: true,
    key,
  })
})

test("a CSR without extensions has no names", () => {
  expect(csrFacts({ subjectName: [], extensionValues: {} }, { type: "rsa", bits: 2048 })).toMatchObject({
    dnsNames: [],
    otherKinds: [],
    hasBasicConstraints: false,
  })
})
