import { parseCertificationRequest, signedRequest } from "@chancery/engine/x509"
import { expect, test } from "vitest"
import { roleDefaults } from "../../../../engine/src/pki/roles/role.ts"
import { keysOfThisProcess } from "../../controllers/certificate/keys.ts"
import { awaitsSigner, keyTypeInstead, namesOf, refreshAt, ttlOf } from "./pod-certificate-request.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

test.each<{ when: string; awaits: boolean; signerName?: string; conditions?: readonly object[]; metadata?: object }>([
  { when: "it has no status", awaits: true },
  { when: "it has no conditions", awaits: true, conditions: [] },
  { when: "it was issued", awaits: false, conditions: [{ type: "Issued", status: "True" }] },
  { when: "it was denied", awaits: false, conditions: [{ type: "Denied", status: "True" }] },
  { when: "its signer is another", awaits: false, signerName: "kubernetes.io/kube-apiserver-client-pod" },
  { when: "it is being deleted", awaits: false, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
])(
  "awaitsSigner returns $awaits when $when",
  ({ awaits, signerName = "chancery.dev/web.ca", conditions, metadata }) => {
    const status = conditions === undefined ? {} : { status: { conditions } }
    expect(awaitsSigner({ metadata: { name: "web", ...metadata }, spec: { signerName }, ...status })).toBe(awaits)
  },
)

test("namesOf fills in the templates", () => {
  const dnsNames = ["$(podName).$(serviceAccountName).$(namespace).svc", "fixed.example.com"]
  expect(
    namesOf({ trustDomain: "example.org", dnsNames }, { podName: "web-0", serviceAccountName: "web" }, "shop"),
  ).toEqual({
    uris: ["spiffe://example.org/ns/shop/sa/web"],
    dnsNames: ["web-0.web.shop.svc", "fixed.example.com"],
  })
})

test("namesOf does not fill in what a value contains", () => {
  const names = namesOf({ trustDomain: "example.org", dnsNames: ["$(podName)"] }, { podName: "$(namespace)" }, "shop")
  expect(names.dnsNames).toEqual(["$(namespace)"])
})

test.each<{ when: string; maxExpirationSeconds?: number; role?: object; lifetimeMs: number | undefined }>([
  { when: "neither sets a limit", lifetimeMs: dayMs },
  { when: "the request allows an hour", maxExpirationSeconds: 3_600, lifetimeMs: hourMs },
  { when: "the role has a shorter ttl", role: { ttlMs: 2 * hourMs }, lifetimeMs: 2 * hourMs + 29_000 },
  { when: "the role has a shorter maximum", role: { maxTtlMs: 2 * hourMs }, lifetimeMs: 2 * hourMs + 29_000 },
  { when: "the role permits an hour", role: { ttlMs: hourMs }, lifetimeMs: hourMs + 29_000 },
  { when: "the role permits less than an hour", role: { maxTtlMs: hourMs / 2 }, lifetimeMs: undefined },
  {
    when: "certificates begin at once",
    role: { notBeforeDurationMs: 0 },
    maxExpirationSeconds: 3_600,
    lifetimeMs: hourMs,
  },
])("ttlOf leads to a lifetime of $lifetimeMs ms when $when", ({ maxExpirationSeconds, role, lifetimeMs }) => {
  const own = { ...roleDefaults, ...role }
  const ttl = ttlOf(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }, own)
  expect(ttl === undefined ? undefined : ttl + own.notBeforeDurationMs - 1_000).toBe(lifetimeMs)
})

test.each([
  { lifetimeMs: dayMs, afterMs: 16 * hourMs },
  { lifetimeMs: hourMs, afterMs: 40 * minuteMs },
  { lifetimeMs: 24 * minuteMs, afterMs: 14 * minuteMs },
])("refreshAt returns a time $afterMs ms after the begin of $lifetimeMs ms", ({ lifetimeMs, afterMs }) => {
  expect(refreshAt(1_000, 1_000 + lifetimeMs)).toBe(1_000 + afterMs)
})

test.each<{ key: "ec" | "ed25519"; role: object; instead: string | undefined }>([
  { key: "ec", role: { keyType: "ec", keyBits: 256 }, instead: undefined },
  { key: "ec", role: { keyType: "any", keyBits: 0 }, instead: undefined },
  { key: "ed25519", role: { keyType: "ed25519", keyBits: 0 }, instead: undefined },
  { key: "ec", role: { keyType: "ec", keyBits: 384 }, instead: "ECDSAP384" },
  { key: "ec", role: { keyType: "rsa", keyBits: 2_048 }, instead: "RSA3072" },
  { key: "ec", role: { keyType: "rsa", keyBits: 4_096 }, instead: "RSA4096" },
  { key: "ec", role: { keyType: "ed25519", keyBits: 0 }, instead: "ED25519" },
  { key: "ed25519", role: { keyType: "ec", keyBits: 256 }, instead: "ECDSAP256" },
])("keyTypeInstead returns $instead for a key of type $key and the role $role", async ({ key, role, instead }) => {
  const algorithm = key === "ec" ? ({ type: "ec", bits: 256 } as const) : ({ type: "ed25519" } as const)
  const privateKey = await keysOfThisProcess.generate(algorithm)
  const csr = parseCertificationRequest(await signedRequest(privateKey, { subject: [], extensions: [] }))
  expect(keyTypeInstead(csr, { ...roleDefaults, ...role })).toBe(instead)
})
