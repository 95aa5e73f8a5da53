import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import type { EngineError } from "../../core/errors.ts"
import {
  changeExternalPolicy,
  defaultExternalPolicySettings,
  type ExternalPolicyInput,
  type ExternalPolicySettings,
} from "./external-policy-settings.ts"

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const authority = await pem("authority")
const leaf = await pem("server")
const client = await pem("client")
const clientKey = await pem("client-key")
const strange = await pem("certificate")

const now = 1_000
const change = (input: ExternalPolicyInput, before: Partial<ExternalPolicySettings> = {}) =>
  changeExternalPolicy({ ...defaultExternalPolicySettings, ...before }, input, now)

test("a change sets given members, keeps omitted ones and records its time", () => {
  const first = change({
    externalServiceUrl: "https://policy.example/evaluate",
    trustedCa: authority,
    timeoutMs: 3_000,
  })
  expect(first).toEqual({
    settings: {
      ...defaultExternalPolicySettings,
      externalServiceUrl: "https://policy.example/evaluate",
      timeoutMs: 3_000,
      trustedCa: authority,
      updatedAt: now,
    },
    clientKey: undefined,
  })
  const second = change({ enabled: true, entityJmespath: "@" }, first.settings)
  expect(second.settings).toEqual({ ...first.settings, enabled: true, entityJmespath: "@" })
})

test("setting one kind of trust removes the other, and an empty string removes a member", () => {
  const pinned = change({ trustedLeafCertificateBundle: leaf }, { trustedCa: authority }).settings
  expect([pinned.trustedCa, pinned.trustedLeafCertificateBundle]).toEqual(["", leaf])
  const trusted = change({ trustedCa: authority }, pinned).settings
  expect([trusted.trustedCa, trusted.trustedLeafCertificateBundle]).toEqual([authority, ""])
  const neither = change({ trustedCa: "", externalServiceUrl: "", timeoutMs: 0 }, { ...trusted, timeoutMs: 7 }).settings
  expect([neither.trustedCa, neither.timeoutMs]).toEqual(["", 15_000])
})

test("the client's certificate is stored before its chain, and its key separately", () => {
  const { settings, clientKey: key } = change({ clientCertBundle: `${authority}${clientKey}${client}` })
  expect(settings.clientCertificates).toBe(client + authority)
  expect(key?.pem("pkcs8")).toBe(clientKey.trim())
  expect(JSON.stringify(settings)).not.toContain("PRIVATE")
  expect(change({ clientCertBundle: "" }, settings)).toMatchObject({
    settings: { clientCertificates: "" },
    clientKey: null,
  })
})

describe("invalid settings are rejected together, each by its name", () => {
  const wrongUrl = '"external_service_url" must be an https URL without user name, password or fragment'
  const needsTrust =
    'one of "trusted_ca" and "trusted_leaf_certificate_bundle" is required to enable the external policy service'
  test.each<{ why: string; input: ExternalPolicyInput; faults: readonly (readonly [string, string])[] }>([
    {
      why: "an http URL",
      input: { externalServiceUrl: "http://policy.example" },
      faults: [["externalServiceUrl", wrongUrl]],
    },
    {
      why: "a URL with a password",
      input: { externalServiceUrl: "https://a:b@policy.example" },
      faults: [["externalServiceUrl", wrongUrl]],
    },
    { why: "no URL", input: { externalServiceUrl: "policy" }, faults: [["externalServiceUrl", wrongUrl]] },
    {
      why: "enabling without a URL and trust",
      input: { enabled: true },
      faults: [
        ["externalServiceUrl", '"external_service_url" is required to enable the external policy service'],
        ["trustedCa", needsTrust],
      ],
    },
    {
      why: "both kinds of trust",
      input: { trustedCa: authority, trustedLeafCertificateBundle: leaf },
      faults: [["trustedCa", 'only one of "trusted_ca" and "trusted_leaf_certificate_bundle" may be set']],
    },
    {
      why: "a timeout out of range",
      input: { timeoutMs: 120_001 },
      faults: [["timeoutMs", '"timeout" must be longer than 0s and not longer than 120s']],
    },
    {
      why: "a private key among trusted certificates",
      input: { trustedCa: clientKey },
      faults: [["trustedCa", 'PEM block 1 must be a certificate; got "PRIVATE KEY"']],
    },
    {
      why: "no PEM",
      input: { trustedLeafCertificateBundle: "MIIB" },
      faults: [["trustedLeafCertificateBundle", "contains no PEM certificate"]],
    },
    {
      why: "a client without key",
      input: { clientCertBundle: client },
      faults: [["clientCertBundle", "must contain exactly one private key; got 0"]],
    },
    {
      why: "a client without certificate",
      input: { clientCertBundle: clientKey },
      faults: [["clientCertBundle", "contains no PEM certificate"]],
    },
    {
      why: "a certificate of another key",
      input: { clientCertBundle: clientKey + strange },
      faults: [["clientCertBundle", "contains no certificate for its private key"]],
    },
    {
      why: "unsupported expressions and an invalid URL",
      input: { entityJmespath: "metadata.team", groupJmespath: "[*].name", externalServiceUrl: "x" },
      faults: [
        ["externalServiceUrl", wrongUrl],
        ["entityJmespath", 'must be "" (send nothing) or "@" (send everything); other expressions are not supported'],
        ["groupJmespath", 'must be "" (send nothing) or "@" (send everything); other expressions are not supported'],
      ],
    },
  ])("$why", ({ input, faults }) => {
    let thrown: unknown
    try {
      change(input)
    } catch (error) {
      thrown = error
    }
    const { code, faults: found } = thrown as EngineError
    expect(code).toBe("invalid")
    expect(found.map(({ field, detail }) => [String(field), detail])).toEqual(faults)
  })
})
