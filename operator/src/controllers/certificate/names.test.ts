import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateSpec, issuingEngine, type IssuingEngine } from "../../../testing/issuing-engine.ts"
import { describeDifferences } from "./difference.ts"
import { commonNameOf, differences, differingFields, namesProblem, withCanonicalNames } from "./names.ts"

let issuer: IssuingEngine
beforeAll(async () => {
  issuer = await issuingEngine()
})
afterAll(() => issuer[Symbol.asyncDispose]())

const long = `${"a".repeat(60)}.example.com`

test.each([
  { spec: { commonName: "web", dnsNames: ["a.example.com"] }, required: "web", otherwise: "web" },
  { spec: { dnsNames: ["b.example.com", "a.example.com"] }, required: "b.example.com", otherwise: "" },
  { spec: { dnsNames: [long, "a.example.com"] }, required: "a.example.com", otherwise: "" },
  { spec: { dnsNames: [long] }, required: "", otherwise: "" },
  {
    spec: { dnsNames: undefined, emailAddresses: ["a@example.com"], uris: ["urn:x:1"] },
    required: "a@example.com",
    otherwise: "",
  },
  { spec: { dnsNames: undefined, userIDs: ["alice"], ipAddresses: ["10.0.0.1"] }, required: "alice", otherwise: "" },
  { spec: { dnsNames: undefined, ipAddresses: ["10.0.0.1"] }, required: "10.0.0.1", otherwise: "" },
  { spec: { dnsNames: undefined, uris: ["urn:x:1"] }, required: "urn:x:1", otherwise: "" },
])("[F-K3] the common name of $spec is $required if the role requires one, else '$otherwise'", (row) => {
  const spec = certificateSpec(row.spec)
  expect(commonNameOf(spec, true)).toBe(row.required)
  expect(commonNameOf(spec, false)).toBe(row.otherwise)
})

test.each([
  {
    spec: { dnsNames: ["www.example.com."] },
    becomes: { dnsNames: ["www.example.com"] },
    why: "a dot at the end goes",
  },
  { spec: { dnsNames: ["*.example.com."] }, becomes: { dnsNames: ["*.example.com"] }, why: "of a wildcard too" },
  {
    spec: { dnsNames: ["bücher.example", "*.bücher.example"] },
    becomes: { dnsNames: ["xn--bcher-kva.example", "*.xn--bcher-kva.example"] },
    why: "U-labels become A-labels",
  },
  {
    spec: { dnsNames: ["bücher.example", "xn--bcher-kva.example"] },
    becomes: { dnsNames: ["xn--bcher-kva.example"] },
    why: "two spellings are one name",
  },
  {
    spec: { emailAddresses: ["ops@bücher.example"] },
    becomes: { emailAddresses: ["ops@xn--bcher-kva.example"] },
    why: "of mail domains too",
  },
  { spec: { commonName: "www.example.com." }, becomes: { commonName: "www.example.com" }, why: "of a host name" },
  { spec: { commonName: "Example Inc." }, becomes: { commonName: "Example Inc." }, why: "a title keeps its dot" },
  {
    spec: { dnsNames: ["a..b", "_x.example"] },
    becomes: { dnsNames: ["a..b", "_x.example"] },
    why: "ASCII is the engine's",
  },
])("[F-K6] [F-K7] canonical names of $spec are $becomes: $why", ({ spec, becomes }) => {
  const canonical = withCanonicalNames(certificateSpec(spec))
  expect(canonical).toEqual({ ...certificateSpec(spec), ...becomes })
  expect(namesProblem(canonical)).toBeUndefined()
})

test.each([
  { spec: { dnsNames: ["a.example.com", "☃..example"] }, field: "dnsNames" },
  { spec: { emailAddresses: ["jürgen@example.com"] }, field: "emailAddresses" },
  { spec: { uris: ["https://example.com/größe"] }, field: "uris" },
])("[F-K6] namesProblem names spec.$field when $spec.$field is not ASCII", ({ spec, field }) => {
  expect(namesProblem(withCanonicalNames(certificateSpec(spec)))).toMatch(new RegExp(`^spec\\.${field}: `))
})

test("[F-K7] describeDifferences lists the values of the spec and of the certificate", async () => {
  const { leaf, values } = await issuer.issue(certificateSpec())
  const spec = certificateSpec({ dnsNames: ["api.example.com"], usages: ["codeSigning"] })
  expect(describeDifferences(differences(spec, leaf, values))).toBe(
    "spec.dnsNames: expected api.example.com, got www.example.com; " +
      "spec.usages: expected codeSigning, got digitalSignature, keyAgreement, serverAuth, clientAuth",
  )
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

describe("differences between a certificate and its spec", () => {
  test.each<{ spec: Record<string, unknown>; other: Record<string, unknown>; fields: string[]; why: string }>([
    { spec: everything, other: {}, fields: [], why: "the certificate matches" },
    {
      spec: everything,
      other: { dnsNames: ["WWW.example.com", "*.api.example.com"] },
      fields: [],
      why: "case does not matter",
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
    { spec: everything, other: { dnsNames: undefined }, fields: ["dnsNames"], why: "undeclared names" },
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
  ])("are the fields $fields with $other: $why", async ({ spec, other, fields }) => {
    const { leaf, values } = await issuer.issue(certificateSpec(spec))
    expect(differingFields(certificateSpec({ ...spec, ...other }), leaf, values)).toEqual(fields)
  })

  test("are empty for any spec", async () => {
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
