import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { IssuerId } from "../../core/ids.ts"
import { filledUrls, isAbsoluteUrl, urlFaults } from "./authority-urls.ts"
import { type AuthorityUrls, defaultIssuerSettings, noUrls } from "./issuer.ts"

const issuer = (urls: Partial<AuthorityUrls> = {}) => ({
  id: "iss-1" as IssuerId,
  settings: { ...defaultIssuerSettings, urls: { ...noUrls, ...urls } },
})
const mount = (urls: Partial<AuthorityUrls>, cluster = { path: "", aiaPath: "" }) => ({
  urls: { ...noUrls, ...urls },
  cluster,
})

describe("the URLs of a certificate", () => {
  test("are those of the mount unless its issuer has URLs, which then replace the whole set", () => {
    const ofMount = mount({ ocspServers: ["http://m/ocsp"], crlDistributionPoints: ["http://m/crl"] })
    expect(filledUrls(issuer(), ofMount).urls).toMatchObject({
      ocspServers: ["http://m/ocsp"],
      crlDistributionPoints: ["http://m/crl"],
    })
    expect(filledUrls(issuer({ ocspServers: ["http://i/ocsp"] }), ofMount).urls).toMatchObject({
      ocspServers: ["http://i/ocsp"],
      crlDistributionPoints: [],
    })
  })

  test("have their templates filled in when templating is on for their set", () => {
    const template = "{{cluster_aia_path}}/issuer/{{ issuer_id }}/der"
    const cluster = { path: "https://c", aiaPath: "http://a" }
    const filled = (enableTemplating: boolean) =>
      filledUrls(issuer(), mount({ issuingCertificates: [template], enableTemplating }, cluster)).urls
    expect(filled(true).issuingCertificates).toEqual(["http://a/issuer/iss-1/der"])
    expect(filled(false).issuingCertificates).toEqual([template])
    const own = issuer({ ocspServers: ["{{cluster_path}}/ocsp"], enableTemplating: true })
    expect(filledUrls(own, mount({}, cluster)).urls.ocspServers).toEqual(["https://c/ocsp"])
  })

  test("omit templates without a value, with one warning", () => {
    const urls = { ocspServers: ["{{cluster_path}}/a", "http://b"], enableTemplating: true }
    const { urls: filled, warnings } = filledUrls(issuer(), mount(urls))
    expect(filled.ocspServers).toEqual(["http://b"])
    expect(warnings).toEqual([
      '"{{cluster_path}}/a" is left out of certificates, because {{cluster_path}} has no value',
    ])
  })
})

test.each([
  ["http://ca.example.com/ca.der", true],
  ["https://ca.example.com:8443/", true],
  ["ldap://ldap.example.com/cn=ca?certificate", true],
  ["http://192.0.2.1/", true],
  ["http://[2001:db8::1]/", true],
  ["/ca", false],
  ["ca.example.com", false],
  ["http://", false],
  ["http://exämple.com/", false],
  ["http://a b/", false],
  ["mailto:ca@example.com", false],
  ["", false],
])("%j as a URL that a certificate can hold: %j", (text, isOne) => {
  expect(isAbsoluteUrl(text)).toBe(isOne)
  expect(urlFaults({ ...noUrls, ocspServers: [text] })).toHaveLength(isOne ? 0 : 1)
})

test.each([
  ["{{cluster_path}}/ocsp", true],
  ["{{ cluster_aia_path }}/{{issuer_id}}", true],
  ["http://ca.example.com/{{issuer_id}}/der", true],
  ["{{issuer_id}}", false],
  ["{{cluster}}/ocsp", false],
  ["x{{cluster_path}}", false],
])("%j as a template of a URL: %j, and never without templating", (template, isOne) => {
  const urls = { ...noUrls, ocspServers: [template] }
  expect(urlFaults({ ...urls, enableTemplating: true })).toHaveLength(isOne ? 0 : 1)
  expect(urlFaults(urls)).toHaveLength(1)
})

test("an accepted template is a URL once it is filled in", () => {
  const part = fc.constantFrom(
    "{{issuer_id}}",
    "{{cluster_path}}",
    "{{cluster_aia_path}}",
    "http://",
    "a",
    "/",
    "{{",
    "}}",
    " ",
    "é",
    "?",
  )
  const cluster = { path: "https://ca.example.com/v1/pki", aiaPath: "http://ca.example.com" }
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const urls = { ...noUrls, ocspServers: [parts.join("")], enableTemplating: true }
      fc.pre(urlFaults(urls).length === 0)
      for (const url of filledUrls(issuer(), { urls, cluster }).urls.ocspServers) expect(isAbsoluteUrl(url)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
