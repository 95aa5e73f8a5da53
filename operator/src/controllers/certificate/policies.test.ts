import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateSpec, issuingEngine, type IssuingEngine } from "../../../testing/issuing-engine.ts"
import type { StoredCertificate } from "./stored-certificate.ts"
import { canWait, type CertificateFacts, issuanceTrigger, unreadiness, type WrittenFacts } from "./policies.ts"

const spec = certificateSpec()
let issuer: IssuingEngine
let stored: StoredCertificate
beforeAll(async () => {
  issuer = await issuingEngine()
  stored = await issuer.issue(spec)
})
afterAll(() => issuer[Symbol.asyncDispose]())

const written: WrittenFacts = {
  certificateName: "web",
  issuerGroup: "chancery.dev",
  issuerKind: "Issuer",
  issuerName: "ca",
  role: "any",
  authority: "a1",
}

/** Facts about a certificate that needs no action. */
const facts = (other: Partial<CertificateFacts> = {}): CertificateFacts => ({
  spec,
  stored: { is: "whole", ...stored },
  written,
  certificateName: "web",
  role: "any",
  authority: "a1",
  isWholeDue: true,
  isRevoked: false,
  renewalAt: stored.leaf.notAfter - 1_000,
  isRenewalRequested: false,
  now: stored.leaf.notBefore + 60_000,
  ...other,
})

const ended = () => ({ now: stored.leaf.notAfter + 1_000, renewalAt: undefined })
const cases: readonly {
  readonly why: string
  readonly other: () => Partial<CertificateFacts>
  readonly trigger: string | undefined
  readonly unready: string | undefined
}[] = [
  { why: "nothing is wrong", other: () => ({}), trigger: undefined, unready: undefined },
  {
    why: "there is no Secret",
    other: () => ({ stored: { is: "missing" }, written: undefined }),
    trigger: "SecretMissing",
    unready: "SecretMissing",
  },
  {
    why: "it lacks a key",
    other: () => ({ stored: { is: "incomplete", problem: "has no value for tls.key" } }),
    trigger: "SecretKeysMissing",
    unready: "SecretKeysMissing",
  },
  {
    why: "the key is another's",
    other: () => ({ stored: { is: "mismatched" } }),
    trigger: "KeyPairMismatch",
    unready: "KeyPairMismatch",
  },
  {
    why: "the Secret has no issuer annotations",
    other: () => ({ written: undefined }),
    trigger: "IssuerChanged",
    unready: "IssuerChanged",
  },
  {
    why: "the spec has another issuer",
    other: () => ({ spec: certificateSpec({ issuerRef: { name: "other" } }) }),
    trigger: "IssuerChanged",
    unready: "IssuerChanged",
  },
  {
    why: "the spec has an issuer of another kind",
    other: () => ({ spec: certificateSpec({ issuerRef: { name: "ca", kind: "ClusterIssuer" } }) }),
    trigger: "IssuerChanged",
    unready: "IssuerChanged",
  },
  {
    why: "it was another Certificate's",
    other: () => ({ written: { ...written, certificateName: "old" } }),
    trigger: "OwnerConflict",
    unready: "OwnerConflict",
  },
  {
    why: "the spec has another key type",
    other: () => ({ spec: certificateSpec({ privateKey: { algorithm: "RSA" } }) }),
    trigger: "KeySpecChanged",
    unready: "KeySpecChanged",
  },
  {
    why: "the spec has a longer key",
    other: () => ({ spec: certificateSpec({ privateKey: { size: 384 } }) }),
    trigger: "KeySpecChanged",
    unready: "KeySpecChanged",
  },
  {
    why: "the engine generates keys according to the role",
    other: () => ({ spec: certificateSpec({ keySource: "Engine", privateKey: { size: 384 } }) }),
    trigger: undefined,
    unready: undefined,
  },
  {
    why: "the spec has another name",
    other: () => ({ spec: certificateSpec({ dnsNames: ["api.example.com"] }) }),
    trigger: "SpecChanged",
    unready: "SpecChanged",
  },
  {
    why: "the spec has another role",
    other: () => ({ spec: certificateSpec({ role: "web" }), role: "web" }),
    trigger: "SpecChanged",
    unready: "SpecChanged",
  },
  {
    why: "the issuer has another default role",
    other: () => ({ role: "web" }),
    trigger: "SpecChanged",
    unready: undefined,
  },
  {
    why: "the issuer has another authority",
    other: () => ({ authority: "b2" }),
    trigger: "IssuerCAChanged",
    unready: undefined,
  },
  {
    why: "the overlap with it has just begun",
    other: () => ({ authority: "b2", isWholeDue: false }),
    trigger: undefined,
    unready: undefined,
  },
  {
    why: "the authority is unknown",
    other: () => ({ authority: undefined }),
    trigger: undefined,
    unready: undefined,
  },
  {
    why: "the engine has revoked it",
    other: () => ({ isRevoked: true }),
    trigger: "RevokedAtEngine",
    unready: "RevokedAtEngine",
  },
  { why: "it is due", other: () => ({ renewalAt: stored.leaf.notBefore }), trigger: "RenewalDue", unready: undefined },
  {
    why: "it is due at this second",
    other: () => ({ renewalAt: stored.leaf.notBefore + 60_000 }),
    trigger: "RenewalDue",
    unready: undefined,
  },
  {
    why: "a renewal is requested",
    other: () => ({ isRenewalRequested: true }),
    trigger: "RenewRequested",
    unready: undefined,
  },
  { why: "it has ended and is not renewed", other: ended, trigger: undefined, unready: "Expired" },
]

describe("a certificate", () => {
  test.each(cases)("is issued for $trigger and unready for $unready if $why", ({ other, trigger, unready }) => {
    expect(issuanceTrigger(facts(other()))?.reason).toBe(trigger)
    expect(unreadiness(facts(other()))?.reason).toBe(unready)
  })

  test("has the first of several reasons, and is ready only if none of them makes it unready", () => {
    const order = cases.map(({ trigger }) => trigger)
    // Cases that set the same member cannot be combined: the later one replaces the member of the earlier.
    const combinable = cases.filter(({ trigger }) => trigger !== "IssuerChanged" && trigger !== undefined)
    fc.assert(
      fc.property(fc.subarray(combinable, { minLength: 1, maxLength: 4 }), (chosen) => {
        const members = chosen.map(({ other }) => other())
        fc.pre(new Set(members.flatMap(Object.keys)).size === members.flatMap(Object.keys).length)
        const merged = facts(Object.assign({}, ...members) as Partial<CertificateFacts>)
        const first = Math.min(...chosen.map(({ trigger }) => order.indexOf(trigger)))
        expect(issuanceTrigger(merged)?.reason).toBe(order[first])
        expect(unreadiness(merged) === undefined).toBe(chosen.every(({ unready }) => unready === undefined))
      }),
    )
  })

  test.each<{ readonly why: string; readonly other: () => Partial<CertificateFacts>; readonly waits: boolean }>([
    { why: "a renewal is requested", other: () => ({ isRenewalRequested: true }), waits: true },
    { why: "the authority of the issuer changed", other: () => ({ authority: "a2" }), waits: true },
    { why: "the default role of the issuer changed", other: () => ({ role: "web" }), waits: true },
    {
      why: "the renewal is due besides",
      other: () => ({ isRenewalRequested: true, renewalAt: stored.leaf.notBefore }),
      waits: true,
    },
    {
      why: "the spec has another role",
      other: () => ({ spec: certificateSpec({ role: "b" }), role: "b" }),
      waits: false,
    },
    { why: "it was revoked", other: () => ({ isRenewalRequested: true, isRevoked: true }), waits: false },
    { why: "it has ended", other: () => ({ ...ended(), isRenewalRequested: true }), waits: false },
    { why: "there is no Secret", other: () => ({ stored: { is: "missing" }, written: undefined }), waits: false },
    {
      why: "its names changed",
      other: () => ({ spec: certificateSpec({ dnsNames: ["b.example.com"] }) }),
      waits: false,
    },
  ])("can wait: $waits, if $why", ({ other, waits }) => {
    expect(canWait(facts(other()), undefined)).toBe(waits)
    expect(canWait(facts(other()), stored.leaf.notBefore)).toBe(false)
  })

  test("has messages that name the Secret and the fields", () => {
    const changed = facts({ spec: certificateSpec({ commonName: "web", dnsNames: ["api.example.com"] }) })
    expect(issuanceTrigger(changed)?.message).toBe("The certificate does not match spec.commonName and spec.dnsNames.")
    expect(issuanceTrigger(facts({ stored: { is: "missing" } }))?.message).toBe("There is no Secret web-tls.")
  })
})
