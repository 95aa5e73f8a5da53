import { expect, test } from "vitest"
import { issuerOfSigner, signerNameOf, type SigningIssuer } from "./signer-name.ts"

test.each<{ issuer: SigningIssuer; signerName: string }>([
  { issuer: { kind: "Issuer", namespace: "web", name: "prod" }, signerName: "chancery.dev/web.prod" },
  { issuer: { kind: "Issuer", namespace: "web", name: "prod.v2" }, signerName: "chancery.dev/web.prod.v2" },
  { issuer: { kind: "ClusterIssuer", name: "web.prod" }, signerName: "clusterissuers.chancery.dev/web.prod" },
])("issuerOfSigner reverses signerNameOf for $signerName", ({ issuer, signerName }) => {
  expect(signerNameOf(issuer)).toBe(signerName)
  expect(issuerOfSigner(signerName)).toEqual(issuer)
})

test.each([
  "",
  "/",
  "kubernetes.io/kube-apiserver-client",
  "chancery.dev",
  "chancery.dev/",
  "chancery.dev/web",
  "chancery.dev/.prod",
  "chancery.dev/web.",
  "clusterissuers.chancery.dev/",
  "example.chancery.dev/web.prod",
])('issuerOfSigner returns undefined for "%s"', (signerName) => {
  expect(issuerOfSigner(signerName)).toBeUndefined()
})
