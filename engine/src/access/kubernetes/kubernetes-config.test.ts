import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { describe, expect, test } from "vitest"
import { testTlsPem } from "../../../testing/policy-server.ts"
import {
  apiServerUrl,
  configRejection,
  createKubernetesConfig,
  isWithin,
  type KubernetesConfig,
  kubernetesConfigWarnings,
  verificationKeys,
} from "./kubernetes-config.ts"
import type { ServiceAccountToken } from "./service-account-token.ts"

const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" })
const rsa = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey)
const authority = testTlsPem("authority")

test("a new configuration has defaults for absent members", async () => {
  expect(await createKubernetesConfig({ kubernetesHost: "https://10.96.0.1" })).toEqual({
    config: {
      kubernetesHost: "https://10.96.0.1",
      kubernetesCaCert: "",
      pemKeys: [],
      issuer: "",
      disableIssValidation: true,
      disableLocalCaJwt: false,
      tokenReviewerJwtSet: false,
    },
    tokenReviewerJwt: "",
  })
})

test("a configuration with keys or certificates only is accepted with a warning", async () => {
  const { config } = await createKubernetesConfig({ pemKeys: [rsa, testTlsPem("server")] })
  expect(verificationKeys(config).map(({ algorithm }) => algorithm.type)).toEqual(["rsa", expect.any(String)])
  expect(kubernetesConfigWarnings(config)).toEqual([expect.stringContaining("until they expire") as string])
  const withHost = await createKubernetesConfig({ pemKeys: [rsa], kubernetesHost: "10.96.0.1" })
  expect(kubernetesConfigWarnings(withHost.config)).toEqual([])
})

test.each([
  { why: "neither host nor keys", input: {}, field: "kubernetesHost" },
  { why: "http", input: { kubernetesHost: "http://10.96.0.1" }, field: "kubernetesHost" },
  { why: "a host with a password", input: { kubernetesHost: "https://a:b@10.96.0.1" }, field: "kubernetesHost" },
  { why: "a host with a query", input: { kubernetesHost: "https://10.96.0.1/?a=b" }, field: "kubernetesHost" },
  { why: "a host with a space", input: { kubernetesHost: "10.96.0.1 10.96.0.2" }, field: "kubernetesHost" },
  {
    why: "CA certificates that are not PEM",
    input: { kubernetesHost: "h", kubernetesCaCert: "none" },
    field: "kubernetesCaCert",
  },
  {
    why: "a public key as CA certificate",
    input: { kubernetesHost: "h", kubernetesCaCert: rsa },
    field: "kubernetesCaCert",
  },
  { why: "a key that is not PEM", input: { pemKeys: [rsa, "none"] }, field: "pemKeys" },
  { why: "two keys in one entry", input: { pemKeys: [rsa + rsa] }, field: "pemKeys" },
  { why: "a private key", input: { pemKeys: [testTlsPem("server-key")] }, field: "pemKeys" },
  {
    why: "a key of an unsupported type",
    input: { pemKeys: [pem(generateKeyPairSync("ed25519").publicKey)] },
    field: "pemKeys",
  },
  { why: "too many keys", input: { pemKeys: Array.from({ length: 51 }, () => rsa) }, field: "pemKeys" },
  {
    why: "a reviewer token that is not a JWT",
    input: { kubernetesHost: "h", tokenReviewerJwt: "x.y.z" },
    field: "tokenReviewerJwt",
  },
  { why: "an issuer that is too long", input: { kubernetesHost: "h", issuer: "i".repeat(1_025) }, field: "issuer" },
])("a configuration with $why is rejected at $field", async ({ input, field }) => {
  await expect(createKubernetesConfig(input)).rejects.toMatchObject({ code: "invalid", faults: [{ field: [field] }] })
})

test.each([
  { host: "https://10.96.0.1:443", url: "https://10.96.0.1" },
  { host: "10.96.0.1", url: "https://10.96.0.1" },
  { host: "kubernetes.default.svc:6443", url: "https://kubernetes.default.svc:6443" },
  { host: "[fd00::1]:6443", url: "https://[fd00::1]:6443" },
  { host: "https://rancher.example/k8s/clusters/c-1/", url: "https://rancher.example/k8s/clusters/c-1" },
  { host: "ftp://10.96.0.1", url: undefined },
  { host: "https://", url: undefined },
])("apiServerUrl of the host $host is $url", ({ host, url }) => expect(apiServerUrl(host)).toBe(url))

describe("configRefusal of a token", () => {
  const token: ServiceAccountToken = {
    account: { namespace: "shop", name: "web", uid: "u" },
    secretName: "",
    audiences: [],
    issuer: "https://kubernetes.default.svc",
    expiresAt: 1,
    notBefore: undefined,
  }
  const config: KubernetesConfig = {
    kubernetesHost: "https://10.96.0.1",
    kubernetesCaCert: "",
    pemKeys: [],
    issuer: "",
    disableIssValidation: true,
    disableLocalCaJwt: false,
    tokenReviewerJwtSet: false,
  }
  const onlyKeys = { ...config, kubernetesHost: "", pemKeys: [rsa] }

  test.each([
    { why: "the issuer is not checked", config, ends: true, refusal: undefined },
    {
      why: "the issuer is the default, which Secret tokens have",
      config: { ...config, disableIssValidation: false },
      ends: true,
      refusal: "the token has another issuer",
    },
    {
      why: "the issuer is the configured one",
      config: { ...config, disableIssValidation: false, issuer: token.issuer },
      ends: true,
      refusal: undefined,
    },
    {
      why: "the issuer is not the configured one",
      config: { ...config, disableIssValidation: false, issuer: "https://other" },
      ends: true,
      refusal: "the token has another issuer",
    },
    { why: "it has no expiry and the API server reviews it", config, ends: false, refusal: undefined },
    { why: "it has an expiry and no API server reviews it", config: onlyKeys, ends: true, refusal: undefined },
    {
      why: "it has no expiry and no API server reviews it",
      config: onlyKeys,
      ends: false,
      refusal: "the token has no expiry, and no API server reviews it",
    },
  ])("is $refusal when $why", ({ config: one, ends, refusal }) => {
    const rejection = configRejection(ends ? token : { ...token, expiresAt: undefined }, one)
    expect(rejection?.refused).toBe(refusal)
  })
})

test("a bundle is within another that contains all of its certificates", () => {
  const other = testTlsPem("server")
  expect(isWithin(authority, `${other}\n${authority}`)).toBe(true)
  expect(isWithin(`${authority}\n${other}`, authority)).toBe(false)
  expect(isWithin(other, authority)).toBe(false)
  expect(isWithin(authority, "-----BEGIN CERTIFICATE-----\n")).toBe(false)
})
