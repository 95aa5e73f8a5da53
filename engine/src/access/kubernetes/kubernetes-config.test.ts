import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { describe, expect, test } from "vitest"
import { testTlsPem } from "../../../testing/policy-server.ts"
import {
  apiServerUrl,
  configRefusal,
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

test("what is left out has its default", async () => {
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

test("keys alone are enough, of certificates too, but whoever sets them so is told what that means", async () => {
  const { config } = await createKubernetesConfig({ pemKeys: [rsa, testTlsPem("server")] })
  expect(verificationKeys(config).map(({ algorithm }) => algorithm.type)).toEqual(["rsa", expect.any(String)])
  expect(kubernetesConfigWarnings(config)).toEqual([expect.stringContaining("until they expire") as string])
  const asked = await createKubernetesConfig({ pemKeys: [rsa], kubernetesHost: "10.96.0.1" })
  expect(kubernetesConfigWarnings(asked.config)).toEqual([])
})

test.each([
  { why: "neither host nor keys", input: {}, field: "kubernetesHost" },
  { why: "http", input: { kubernetesHost: "http://10.96.0.1" }, field: "kubernetesHost" },
  { why: "a host with a password", input: { kubernetesHost: "https://a:b@10.96.0.1" }, field: "kubernetesHost" },
  { why: "a host with a query", input: { kubernetesHost: "https://10.96.0.1/?a=b" }, field: "kubernetesHost" },
  { why: "a host with a space", input: { kubernetesHost: "10.96.0.1 10.96.0.2" }, field: "kubernetesHost" },
  {
    why: "authorities that are none",
    input: { kubernetesHost: "h", kubernetesCaCert: "none" },
    field: "kubernetesCaCert",
  },
  { why: "a key as authority", input: { kubernetesHost: "h", kubernetesCaCert: rsa }, field: "kubernetesCaCert" },
  { why: "a key that is none", input: { pemKeys: [rsa, "none"] }, field: "pemKeys" },
  { why: "two keys in one entry", input: { pemKeys: [rsa + rsa] }, field: "pemKeys" },
  { why: "a private key", input: { pemKeys: [testTlsPem("server-key")] }, field: "pemKeys" },
  {
    why: "a key that clusters have not",
    input: { pemKeys: [pem(generateKeyPairSync("ed25519").publicKey)] },
    field: "pemKeys",
  },
  { why: "too many keys", input: { pemKeys: Array.from({ length: 51 }, () => rsa) }, field: "pemKeys" },
  {
    why: "a reviewer's token that is none",
    input: { kubernetesHost: "h", tokenReviewerJwt: "x.y.z" },
    field: "tokenReviewerJwt",
  },
  { why: "an issuer that is too long", input: { kubernetesHost: "h", issuer: "i".repeat(1_025) }, field: "issuer" },
])("$why: refused, naming $field", async ({ input, field }) => {
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
])("the host $host is $url", ({ host, url }) => expect(apiServerUrl(host)).toBe(url))

describe("of a token", () => {
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
    { why: "any issuer will do", config, ends: true, refusal: undefined },
    {
      why: "none was named, which is that of Secrets' tokens",
      config: { ...config, disableIssValidation: false },
      ends: true,
      refusal: "the token has another issuer",
    },
    {
      why: "it is the one that was named",
      config: { ...config, disableIssValidation: false, issuer: token.issuer },
      ends: true,
      refusal: undefined,
    },
    {
      why: "it is not the one that was named",
      config: { ...config, disableIssValidation: false, issuer: "https://other" },
      ends: true,
      refusal: "the token has another issuer",
    },
    { why: "it never ends and the API server is asked", config, ends: false, refusal: undefined },
    { why: "it ends and nobody is asked", config: onlyKeys, ends: true, refusal: undefined },
    {
      why: "it never ends and nobody is asked",
      config: onlyKeys,
      ends: false,
      refusal: "the token has no expiry, and no API server reviews it",
    },
  ])("where $why: $refusal", ({ config: one, ends, refusal }) => {
    const refused = configRefusal(ends ? token : { ...token, expiresAt: undefined }, one)
    expect(refused?.refused).toBe(refusal)
  })
})

test("a bundle is within another where each of its certificates is", () => {
  const other = testTlsPem("server")
  expect(isWithin(authority, `${other}\n${authority}`)).toBe(true)
  expect(isWithin(`${authority}\n${other}`, authority)).toBe(false)
  expect(isWithin(other, authority)).toBe(false)
  expect(isWithin(authority, "-----BEGIN CERTIFICATE-----\n")).toBe(false)
})
