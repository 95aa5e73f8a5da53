// Objects that the API server rejects by the CRDs alone, before the operator sees them.
import { describe, expect, test } from "vitest"
import { sharedCluster } from "./cluster.ts"

const cluster = sharedCluster()

const connection = (spec: unknown, name = "admitted") =>
  JSON.stringify({ apiVersion: "chancery.dev/v1alpha1", kind: "ClusterConnection", metadata: { name }, spec })
const good = { baseURL: "https://chancery.example.com", tokenSecretRef: { name: "engine" } }

describe.skipIf(cluster === undefined)("a ClusterConnection", () => {
  const { kubectl } = cluster ?? { kubectl: async () => "" }
  const apply = (document: string) =>
    kubectl(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-"], document)

  test.each([
    { why: "the required fields only", spec: good },
    { why: "a port and a path", spec: { ...good, baseURL: "http://10.0.0.1:8420/api/v2" } },
    { why: "an IPv6 address", spec: { ...good, baseURL: "https://[2001:db8::1]:8420" } },
    { why: "an organization", spec: { ...good, organization: "acme_2-b" } },
    { why: "another key", spec: { ...good, tokenSecretRef: { name: "engine", key: "engine.token" } } },
    { why: "certificates", spec: { ...good, caBundle: "-----BEGIN CERTIFICATE-----\n" } },
  ])("is admitted with $why", async ({ spec }) => {
    expect(JSON.parse(await apply(connection(spec)))).toMatchObject({ spec })
  })

  test("has the default key `token` and the conditions of an object not yet reconciled", async () => {
    expect(JSON.parse(await apply(connection(good)))).toMatchObject({
      spec: { tokenSecretRef: { key: "token" } },
      status: { observedGeneration: 0 },
    })
  })

  test.each([
    { why: "no spec", spec: undefined, message: /spec: Required value/ },
    { why: "no baseURL", spec: { tokenSecretRef: good.tokenSecretRef }, message: /spec\.baseURL: Required value/ },
    { why: "no token", spec: { baseURL: good.baseURL }, message: /spec\.tokenSecretRef: Required value/ },
    {
      why: "a Secret without a name",
      spec: { ...good, tokenSecretRef: {} },
      message: /tokenSecretRef\.name: Required/,
    },
    {
      why: "an invalid address",
      spec: { ...good, baseURL: "chancery" },
      message: /baseURL must be an http or https URL/,
    },
    {
      why: "an unsupported scheme",
      spec: { ...good, baseURL: "sqlite:/etc/passwd" },
      message: /baseURL must be an http/,
    },
    {
      why: "an address without a host",
      spec: { ...good, baseURL: "https:///api" },
      message: /baseURL must be an http/,
    },
    {
      why: "an overlong address",
      spec: { ...good, baseURL: `https://a/${"b".repeat(2_048)}` },
      message: /baseURL: Too long/,
    },
    {
      why: "a Secret's name with slashes",
      spec: { ...good, tokenSecretRef: { name: "../x" } },
      message: /tokenSecretRef\.name/,
    },
    {
      why: "a key with characters that Secrets do not permit",
      spec: { ...good, tokenSecretRef: { name: "x", key: "a b" } },
      message: /ref\.key/i,
    },
    {
      why: "invalid certificates",
      spec: { ...good, caBundle: "PEM" },
      message: /caBundle must contain certificates/,
    },
    { why: "an organization that is too short", spec: { ...good, organization: "ab" }, message: /spec\.organization/ },
    { why: "an organization with a space", spec: { ...good, organization: "a b c" }, message: /spec\.organization/ },
    { why: "an unknown field", spec: { ...good, token: "abc" }, message: /unknown field|field not declared/ },
  ])("is rejected with $why, with an error that names the field", async ({ spec, message }) => {
    await expect(apply(connection(spec))).rejects.toThrow(message)
  })

  test("has a description of every field", async () => {
    const explained = await kubectl(["explain", "clusterconnections.chancery.dev.spec", "--recursive=false"])
    for (const words of ["baseURL", "tokenSecretRef", "caBundle", "organization", "URL of the engine"])
      expect(explained).toContain(words)
  })
})
