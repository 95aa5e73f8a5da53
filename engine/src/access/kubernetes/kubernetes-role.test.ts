import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../core/time.ts"
import { initialTokenTerms } from "../logins/token-terms.ts"
import {
  changeKubernetesRole,
  type KubernetesRoleInput,
  kubernetesRoleWarnings,
  roleRefusal,
} from "./kubernetes-role.ts"
import type { ServiceAccountToken } from "./service-account-token.ts"

const bound: KubernetesRoleInput = { boundServiceAccountNames: ["web"], boundServiceAccountNamespaces: ["shop"] }
const role = changeKubernetesRole(undefined, bound)

test("a new role has the default of what is left out, and is told of what that lets in", () => {
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

test("what a change leaves out stays, of the terms too", () => {
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
  { why: "nothing said of either", input: {}, fields: ["boundServiceAccountNames", "boundServiceAccountNamespaces"] },
  {
    why: "any name and others",
    input: { ...bound, boundServiceAccountNames: ["*", "web"] },
    fields: ["boundServiceAccountNames"],
  },
  {
    why: "any namespace and others",
    input: { ...bound, boundServiceAccountNamespaces: ["shop", "*"] },
    fields: ["boundServiceAccountNamespaces"],
  },
  {
    why: "a name no account has",
    input: { ...bound, boundServiceAccountNames: ["Web"] },
    fields: ["boundServiceAccountNames"],
  },
  { why: "a blank name", input: { ...bound, boundServiceAccountNames: [""] }, fields: ["boundServiceAccountNames"] },
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
  { why: "terms that are none", input: { ...bound, policies: ["root"] }, fields: ["policies"] },
])("$why: refused", ({ input, fields }) => {
  expect(() => changeKubernetesRole(undefined, input)).toThrow(
    expect.objectContaining({
      code: "invalid",
      faults: fields.map((field) => expect.objectContaining({ field: [field] }) as object),
    }),
  )
})

test("a member that could not be read is not called empty besides", () => {
  const fault = { field: ["boundServiceAccountNames"], detail: "must be a list" }
  const { boundServiceAccountNamespaces } = bound
  expect(() =>
    changeKubernetesRole(undefined, {
      ...(boundServiceAccountNamespaces && { boundServiceAccountNamespaces }),
      faults: [fault],
    }),
  ).toThrow(expect.objectContaining({ faults: [fault] }))
})

describe("a token", () => {
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
    { why: "of the account that is named", change: {}, input: {}, refusal: undefined },
    {
      why: "of any account",
      change: {},
      input: { boundServiceAccountNames: ["*"], boundServiceAccountNamespaces: ["*"] },
      refusal: undefined,
    },
    { why: "whose name begins so", change: {}, input: { boundServiceAccountNames: ["api", "w*"] }, refusal: undefined },
    {
      why: "whose namespace ends so",
      change: {},
      input: { boundServiceAccountNamespaces: ["*op"] },
      refusal: undefined,
    },
    {
      why: "of another name",
      change: {},
      input: { boundServiceAccountNames: ["we", "webs", "w*s"] },
      refusal: "the role does not allow the service account's name",
    },
    {
      why: "of another namespace",
      change: {},
      input: { boundServiceAccountNamespaces: ["sho", "web"] },
      refusal: "the role does not allow the service account's namespace",
    },
    { why: "for the audience", change: {}, input: { audience: "vault" }, refusal: undefined },
    {
      why: "for another audience",
      change: {},
      input: { audience: "vaul" },
      refusal: "the token has another audience",
    },
    {
      why: "for no audience",
      change: { audiences: [] },
      input: { audience: "vault" },
      refusal: "the token has another audience",
    },
    { why: "for no audience where none is asked for", change: { audiences: [] }, input: {}, refusal: undefined },
    { why: "that never ends", change: { expiresAt: undefined, notBefore: undefined }, input: {}, refusal: undefined },
    { why: "that has just ended", change: { expiresAt: now - minuteMs + 1 }, input: {}, refusal: undefined },
    { why: "that has ended", change: { expiresAt: now - minuteMs }, input: {}, refusal: "the token has expired" },
    { why: "that soon begins", change: { notBefore: now + minuteMs }, input: {}, refusal: undefined },
    {
      why: "that begins later",
      change: { notBefore: now + minuteMs + 1 },
      input: {},
      refusal: "the token is not valid yet",
    },
  ])("$why: $refusal", ({ change, input, refusal }) => {
    expect(roleRefusal({ ...token, ...change }, changeKubernetesRole(role, input), now)?.refused).toBe(refusal)
  })
})
