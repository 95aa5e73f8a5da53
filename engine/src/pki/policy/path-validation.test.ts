import { describe, expect, test } from "vitest"
import { certificationPathsOf, type PathMember } from "../../../testing/certification-path.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { encodeName } from "../../x509/name.ts"
import type { NameConstraints } from "../../x509/name-constraints.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import { type CertificateToVerify, pathViolations, remainingPathLength } from "./path-validation.ts"

const permits = (value: string): NameConstraints => ({ permitted: [{ kind: "dns", value }], excluded: [] })
const dns = (value: string): GeneralName => ({ kind: "dns", value })

function messages(
  paths: readonly (readonly PathMember[])[] | CertificationPaths,
  certificate: Partial<CertificateToVerify> = {},
): readonly string[] {
  const known = "paths" in paths ? paths : certificationPathsOf(paths)
  const whole: CertificateToVerify = {
    subject: [],
    subjectDer: encodeName(certificate.subject ?? []),
    subjectAltName: [dns("www.example.com")],
    basicConstraints: undefined,
    extendedKeyUsage: [oids.serverAuth],
    extensions: [],
    ...certificate,
  }
  return pathViolations(whole, known, { now: 1_000, fieldOf: () => "altNames" }).map(({ message }) => message)
}

describe("[F-P2] a certificate", () => {
  test("requires one path that verifies", () => {
    const narrow: PathMember = { name: "Root", nameConstraints: permits("example.org") }
    const later: PathMember = { name: "Root", notBefore: 2_000 }
    const wide: PathMember = { name: "Root" }
    const sub: PathMember = { name: "Sub" }
    expect(messages([[sub, wide]])).toEqual([])
    for (const other of [narrow, later]) {
      expect(messages([[sub, other]])).toHaveLength(1)
      expect(
        messages([
          [sub, other],
          [sub, wide],
        ]),
      ).toEqual([])
    }
    expect(
      messages([
        [sub, narrow],
        [sub, later],
      ]),
    ).toEqual([
      'subject alternate name www.example.com is not permitted (only example.org) by the name constraints of the certificate of "CN=Root" (serial number 01)',
    ])
  })

  test("is not checked when its issuer is unknown or it is self-signed", () => {
    const whole = { subject: [], subjectDer: encodeName([]), subjectAltName: [dns("a")], extensions: [] }
    const certificate = { ...whole, basicConstraints: undefined, extendedKeyUsage: [] }
    expect(pathViolations(certificate, undefined, { now: 0, fieldOf: () => "csr" })).toEqual([])
  })

  test("is not rejected for the names of self-issued CAs above it", () => {
    const root: PathMember = { name: "Root", nameConstraints: permits("example.com") }
    const renewed: PathMember = { name: "Root", issuedBy: "Root", subjectAltName: [dns("root.example.org")] }
    expect(messages([[renewed, root]])).toEqual([])
    expect(messages([[{ ...renewed, name: "Sub" }, root]])).toHaveLength(1)
  })

  test("is rejected below a CA without keyCertSign", () => {
    expect(messages([[{ name: "Root", keyUsage: ["cRLSign"] }]])).toEqual([
      expect.stringContaining("has a key usage without keyCertSign"),
    ])
  })

  test("is rejected when a member of a manual chain signed under another name, unless disable_name_checks is set", () => {
    const paths = certificationPathsOf([[{ name: "Sub" }], [{ name: "Renamed" }]])
    const unnamed = paths.paths[1] ?? []
    expect(messages({ ...paths, unnamed })).toEqual([
      expect.stringMatching(/^the certificate of "CN=Renamed" .* names another issuer; .* disable_name_checks$/),
    ])
    const settings = { ...paths.settings, disableNameChecks: true }
    expect(messages({ ...paths, unnamed, settings })).toEqual([])
  })

  test.each<{ why: string; certificate: Partial<CertificateToVerify>; refused: boolean }>([
    {
      why: "one of two purposes of an end entity",
      certificate: { extendedKeyUsage: [oids.serverAuth, oids.clientAuth] },
      refused: true,
    },
    {
      why: "one of two purposes of a CA",
      certificate: { extendedKeyUsage: [oids.serverAuth, oids.clientAuth], basicConstraints: { isCa: true } },
      refused: false,
    },
    {
      why: "no purpose of the CA",
      certificate: { extendedKeyUsage: [oids.clientAuth], basicConstraints: { isCa: true } },
      refused: true,
    },
    { why: "any purpose", certificate: { extendedKeyUsage: [] }, refused: false },
    { why: "the purpose of an OCSP responder", certificate: { extendedKeyUsage: [oids.ocspSigning] }, refused: false },
  ])("for $why below a CA for servers is rejected: $refused", ({ certificate, refused }) => {
    expect(messages([[{ name: "Root", extendedKeyUsage: [oids.serverAuth] }]], certificate)).toHaveLength(
      refused ? 1 : 0,
    )
  })

  test.each([
    { commonName: "www.evil.org", refused: true },
    { commonName: "a_b.evil.org", refused: true },
    { commonName: "*.evil.org", refused: false },
    { commonName: "evil", refused: false },
    { commonName: "www..evil", refused: false },
    { commonName: "-a.evil", refused: false },
    { commonName: "Evil Org.", refused: false },
  ])("without dNSNames has the host name in its common name checked: $commonName", ({ commonName, refused }) => {
    const subject = [[{ type: oids.commonName, value: commonName }]]
    const root = [[{ name: "Root", nameConstraints: permits("example.com") }]]
    const certificate = { subject, subjectDer: encodeName(subject), subjectAltName: [] }
    expect(messages(root, certificate)).toHaveLength(refused ? 1 : 0)
    expect(messages(root, { ...certificate, subjectAltName: [dns("www.example.com")] })).toEqual([])
    expect(messages(root, { ...certificate, basicConstraints: { isCa: true } })).toEqual([])
  })
})

test.each<{ lengths: (number | undefined)[]; expected: number | undefined; why: string }>([
  { lengths: [undefined, undefined], expected: undefined, why: "nothing limits it" },
  { lengths: [0], expected: 0, why: "the path length of the issuer" },
  { lengths: [undefined, 1], expected: 0, why: "the issuer uses one" },
  { lengths: [undefined, 0], expected: -1, why: "the issuer exceeds the path length" },
  { lengths: [3, 2, undefined], expected: 1, why: "the lowest applies" },
])("[F-P2] path lengths $lengths from the issuer up leave $expected: $why", ({ lengths, expected }) => {
  const members = lengths.map((maxPathLength, at) => ({
    name: `${at}`,
    issuedBy: `${at + 1}`,
    ...(maxPathLength === undefined ? {} : { maxPathLength }),
  }))
  const [path = []] = certificationPathsOf([members]).paths
  expect(remainingPathLength(path)?.value).toBe(expected)
})
