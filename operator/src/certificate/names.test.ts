import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateSpec, issuingEngine, type IssuingEngine } from "../testing/issuing-engine.ts"
import { commonNameOf, differingFields } from "./names.ts"

let issuer: IssuingEngine
beforeAll(async () => {
  issuer = await issuingEngine()
})
afterAll(() => issuer[Symbol.asyncDispose]())

test.each([
  { spec: { commonName: "web", dnsNames: ["a.example.com"] }, is: "web" },
  { spec: { dnsNames: ["b.example.com", "a.example.com"] }, is: "b.example.com" },
  { spec: { dnsNames: undefined, emailAddresses: ["a@example.com"], uris: ["urn:x:1"] }, is: "a@example.com" },
  { spec: { dnsNames: undefined, userIDs: ["alice"], ipAddresses: ["10.0.0.1"] }, is: "alice" },
  { spec: { dnsNames: undefined, ipAddresses: ["10.0.0.1"] }, is: "10.0.0.1" },
  { spec: { dnsNames: undefined, uris: ["urn:x:1"] }, is: "urn:x:1" },
])("is asked for under the common name $is", ({ spec, is }) => {
  expect(commonNameOf(certificateSpec(spec))).toBe(is)
})

const everything = {
  commonName: "Web Server",
  dnsNames: ["www.example.com", "*.api.example.com"],
  ipAddresses: ["10.0.0.1", "2001:DB8::1"],
  uris: ["spiffe://example.com/web"],
  emailAddresses: ["Ops@example.com"],
  userIDs: ["alice"],
  otherNames: [{ oid: "1.3.6.1.4.1.311.20.2.3", utf8Value: "alice@example.com" }],
  usages: ["digitalSignature", "serverAuth", "clientAuth"],
}

describe("of a certificate that was issued for a spec", () => {
  test.each<{ spec: Record<string, unknown>; other: Record<string, unknown>; fields: string[]; why: string }>([
    { spec: everything, other: {}, fields: [], why: "all is as asked for" },
    {
      spec: everything,
      other: { dnsNames: ["WWW.example.com", "*.api.example.com"] },
      fields: [],
      why: "case is no matter",
    },
    {
      spec: everything,
      other: { ipAddresses: ["2001:db8:0::1", "10.0.0.1"] },
      fields: [],
      why: "nor order, nor spelling",
    },
    { spec: everything, other: { commonName: undefined }, fields: [], why: "any common name will do" },
    { spec: everything, other: { usages: undefined }, fields: [], why: "more usages than needed" },
    { spec: everything, other: { commonName: "web server" }, fields: ["commonName"], why: "another common name" },
    { spec: everything, other: { dnsNames: ["www.example.com"] }, fields: ["dnsNames"], why: "one name too many" },
    { spec: everything, other: { dnsNames: undefined }, fields: ["dnsNames"], why: "names where none are wanted" },
    { spec: everything, other: { ipAddresses: ["10.0.0.2"] }, fields: ["ipAddresses"], why: "another address" },
    { spec: everything, other: { uris: ["spiffe://example.com/Web"] }, fields: ["uris"], why: "another URI" },
    {
      spec: everything,
      other: { emailAddresses: ["dev@example.com"] },
      fields: ["emailAddresses"],
      why: "another mailbox",
    },
    { spec: everything, other: { userIDs: ["alice", "bob"] }, fields: ["userIDs"], why: "a user id is missing" },
    { spec: everything, other: { otherNames: undefined }, fields: ["otherNames"], why: "an other name too many" },
    { spec: everything, other: { usages: ["codeSigning"] }, fields: ["usages"], why: "a purpose is missing" },
    { spec: everything, other: { usages: ["dataEncipherment"] }, fields: ["usages"], why: "a usage is missing" },
    { spec: { commonName: "a.example.com" }, other: {}, fields: [], why: "the engine may add the common name" },
    {
      spec: { commonName: "a.example.com", dnsNames: ["a.example.com", "b.example.com"] },
      other: { dnsNames: ["b.example.com"], excludeCNFromSANs: true },
      fields: ["dnsNames"],
      why: "the common name is to stay out",
    },
  ])("the fields that $other makes differ are $fields: $why", async ({ spec, other, fields }) => {
    const { leaf, values } = await issuer.issue(certificateSpec(spec))
    expect(differingFields(certificateSpec({ ...spec, ...other }), leaf, values)).toEqual(fields)
  })

  test("nothing differs, whatever it asks for", async () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
    const names = <Value>(value: fc.Arbitrary<Value>) =>
      fc.option(fc.uniqueArray(value, { minLength: 1, maxLength: 3 }), { nil: undefined })
    const specs = fc.record({
      commonName: fc.option(
        label.map((name) => `${name}.example.com`),
        { nil: undefined },
      ),
      dnsNames: names(label.map((name) => `${name}.example.com`)),
      ipAddresses: names(fc.oneof(fc.ipV4(), fc.ipV6())),
      uris: names(label.map((name) => `spiffe://example.com/${name}`)),
      emailAddresses: names(label.map((name) => `${name}@example.com`)),
      userIDs: names(label),
      excludeCNFromSANs: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(specs, async (given) => {
        fc.pre(Object.values(given).some((value) => typeof value === "string" || Array.isArray(value)))
        const spec = certificateSpec(given)
        const { leaf, values } = await issuer.issue(spec)
        expect(differingFields(spec, leaf, values)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})
