import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../core/time.ts"
import { initialTokenTerms } from "../logins/token-terms.ts"
import {
  changeKubernetesRole,
  type KubernetesRoleInput,
  kubernetesRoleWarnings,
  roleRejection,
} from "./kubernetes-role.ts"
import type { ServiceAccountToken } from "./service-account-token.ts"

const bound: KubernetesRoleInput = { boundServiceAccountNames: ["web"], boundServiceAccountNamespaces: ["shop"] }
const role = changeKubernetesRole(undefined, bound)

test("a new role has defaults for absent members, and a warning about its audience", () => {
  expect(role).toEqual({
    boundServiceAccountNames: ["web"],
    boundServiceAccountNamespaces: ["shop"],
    audience: "",
    aliasNameSource: "serviceaccount_uid",
    ...initialTokenTerms,
  })
  expect(kubernetesRoleWarnings(role)).toEqual([expect.stringContaining("audience") as string])
  expect(kubernetesRoleWarnings({ ...role, audience: "vault" })).toEqual([])
})

test("a change keeps members and terms that it does not name", () => {
  const before = changeKubernetesRole(role, { audience: "vault", policies: ["issue"], ttlMs: hourMs })
  const after = changeKubernetesRole(before, { boundServiceAccountNames: ["web", "api-*"], ttlMs: null })
  expect(after).toEqual({
    ...before,
    boundServiceAccountNames: ["web", "api-*"],
    ttlMs: null,
    policies: ["issue"],
  })
})

test.each([
  { why: "no names", input: { ...bound, boundServiceAccountNames: [] }, fields: ["boundServiceAccountNames"] },
  {
    why: "neither names nor namespaces",
    input: {},
    fields: ["boundServiceAccountNames", "boundServiceAccountNamespaces"],
  },
  {
    why: '"*" mixed with names',
    input: { ...bound, boundServiceAccountNames: ["*", "web"] },
    fields: ["boundServiceAccountNames"],
  },
  {
    why: '"*" mixed with namespaces',
    input: { ...bound, boundServiceAccountNamespaces: ["shop", "*"] },
    fields: ["boundServiceAccountNamespaces"],
  },
  {
    why: "a name that no service account can have",
    input: { ...bound, boundServiceAccountNames: ["Web"] },
    fields: ["boundServiceAccountNames"],
  },
  { why: "an empty name", input: { ...bound, boundServiceAccountNames: [""] }, fields: ["boundServiceAccountNames"] },
  {
    why: "a name that is too long",
    input: { ...bound, boundServiceAccountNames: ["w".repeat(254)] },
    fields: ["boundServiceAccountNames"],
  },
  {
    why: "too many names",
    input: { ...bound, boundServiceAccountNames: Array.from({ length: 1_001 }, (_, n) => `w${n}`) },
    fields: ["boundServiceAccountNames"],
  },
  { why: "an audience that is too long", input: { ...bound, audience: "a".repeat(1_025) }, fields: ["audience"] },
  { why: "invalid terms", input: { ...bound, policies: ["root"] }, fields: ["policies"] },
])("a role with $why is rejected", ({ input, fields }) => {
  expect(() => changeKubernetesRole(undefined, input)).toThrow(
    expect.objectContaining({
      code: "invalid",
      faults: fields.map((field) => expect.objectContaining({ field: [field] }) as object),
    }),
  )
})

test("a member that could not be parsed is not also reported as empty", () => {
  const fault = { field: ["boundServiceAccountNames"], detail: "must be a list" }
  const { boundServiceAccountNamespaces } = bound
  expect(() =>
    changeKubernetesRole(undefined, {
      ...(boundServiceAccountNamespaces && { boundServiceAccountNamespaces }),
      faults: [fault],
    }),
  ).toThrow(expect.objectContaining({ faults: [fault] }))
})

describe("roleRefusal of a token", () => {
  const now = 1_700_000_000_000
  const token: ServiceAccountToken = {
    account: { namespace: "shop", name: "web", uid: "u" },
    secretName: "",
    audiences: ["vault", "https://kubernetes.default.svc"],
    issuer: "",
    expiresAt: now + hourMs,
    notBefore: now - hourMs,
  }
  test.each([
    { why: "of a bound service account", change: {}, input: {}, refusal: undefined },
    {
      why: "of any service account",
      change: {},
      input: { boundServiceAccountNames: ["*"], boundServiceAccountNamespaces: ["*"] },
      refusal: undefined,
    },
    {
      why: "whose name matches a prefix",
      change: {},
      input: { boundServiceAccountNames: ["api", "w*"] },
      refusal: undefined,
    },
    {
      why: "whose namespace matches a suffix",
      change: {},
      input: { boundServiceAccountNamespaces: ["*op"] },
      refusal: undefined,
    },
    {
      why: "with another name",
      change: {},
      input: { boundServiceAccountNames: ["we", "webs", "w*s"] },
      refusal: "the role does not allow the service account's name",
    },
    {
      why: "with another namespace",
      change: {},
      input: { boundServiceAccountNamespaces: ["sho", "web"] },
      refusal: "the role does not allow the service account's namespace",
    },
    { why: "with the audience", change: {}, input: { audience: "vault" }, refusal: undefined },
    {
      why: "with another audience",
      change: {},
      input: { audience: "vaul" },
      refusal: "the token has another audience",
    },
    {
      why: "without audience",
      change: { audiences: [] },
      input: { audience: "vault" },
      refusal: "the token has another audience",
    },
    { why: "without audience when the role has none", change: { audiences: [] }, input: {}, refusal: undefined },
    { why: "without expiry", change: { expiresAt: undefined, notBefore: undefined }, input: {}, refusal: undefined },
    { why: "that expired within the leeway", change: { expiresAt: now - minuteMs + 1 }, input: {}, refusal: undefined },
    { why: "that has expired", change: { expiresAt: now - minuteMs }, input: {}, refusal: "the token has expired" },
    {
      why: "that becomes valid within the leeway",
      change: { notBefore: now + minuteMs },
      input: {},
      refusal: undefined,
    },
    {
      why: "that becomes valid later",
      change: { notBefore: now + minuteMs + 1 },
      input: {},
      refusal: "the token is not valid yet",
    },
  ])("$why is $refusal", ({ change, input, refusal }) => {
    expect(roleRejection({ ...token, ...change }, changeKubernetesRole(role, input), now)?.refused).toBe(refusal)
  })
})
