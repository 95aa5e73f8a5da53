import { describe, expect, test } from "vitest"
import { fields } from "../../contracts/vault/record.ts"
import { tokenTermsMembers } from "../../contracts/vault/token-terms.ts"
import { decodeDocument, encodeMembers } from "../../contracts/vault/format/parameters.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "./token-terms.ts"

test.each<{ terms: Partial<TokenTerms>; details: readonly RegExp[] }>([
  { terms: {}, details: [] },
  {
    terms: {
      ttlMs: 1_000,
      maxTtlMs: 1_000,
      explicitMaxTtlMs: 1_000_000_000_000,
      periodMs: 60_000,
      policies: ["web", "a-b"],
      boundCidrs: ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1"],
      numUses: 1_000_000_000,
    },
    details: [],
  },
  { terms: { ttlMs: 2_000, maxTtlMs: 1_000 }, details: [/^token_ttl must not be longer than token_max_ttl$/] },
  {
    terms: { ttlMs: 0, maxTtlMs: 500, explicitMaxTtlMs: 1_500, periodMs: 1_000_000_001_000 },
    details: ["token_ttl", "token_max_ttl", "token_explicit_max_ttl", "token_period"].map(
      (name) => new RegExp(`^${name} must be a whole number of seconds from 1 to 1000000000$`),
    ),
  },
  { terms: { policies: ["root"] }, details: [/^token_policies must not contain "root"$/] },
  {
    terms: { policies: ["a/b", ""] },
    details: [/^token_policies contains "a\/b"/, /^token_policies contains "", which is not/],
  },
  { terms: { policies: Array.from({ length: 101 }, (_, at) => `p${at}`) }, details: [/^token_policies has too many/] },
  {
    terms: { boundCidrs: ["10.0.0.0/33", "10.0.0", "host", ""] },
    details: ["10.0.0.0/33", "10.0.0", "host", ""].map(
      (text) => new RegExp(`^token_bound_cidrs contains "${text}", which`),
    ),
  },
  { terms: { boundCidrs: Array<string>(101).fill("::1") }, details: [/^token_bound_cidrs has too many entries/] },
  { terms: { numUses: -1 }, details: [/^token_num_uses must be an integer from 0 to 1000000000$/] },
  { terms: { numUses: 1.5 }, details: [/^token_num_uses must/] },
])("terms $terms have the faults $details", ({ terms, details }) => {
  const faults = tokenTermsFaults({ ...initialTokenTerms, ...terms })
  expect(faults.map(({ detail }) => detail)).toEqual(details.map((detail) => expect.stringMatching(detail)))
})

describe("on the wire", () => {
  const table = fields(tokenTermsMembers)

  test("terms are decoded in all forms that Vault clients send, and encoded in whole seconds", () => {
    const { value, faults } = decodeDocument(table, {
      token_ttl: "1h",
      token_max_ttl: 7_200,
      token_explicit_max_ttl: "0",
      token_period: "",
      token_policies: "Web, api,web",
      token_bound_cidrs: ["10.0.0.0/8"],
      token_no_default_policy: "true",
      token_num_uses: "3",
      token_type: "",
    })
    expect(faults).toEqual([])
    expect(value).toEqual({
      ttlMs: 3_600_000,
      maxTtlMs: 7_200_000,
      explicitMaxTtlMs: null,
      periodMs: null,
      policies: ["api", "web"],
      boundCidrs: ["10.0.0.0/8"],
      noDefaultPolicy: true,
      numUses: 3,
      tokenType: "default",
    })
    expect(encodeMembers(table, { ...initialTokenTerms, ...value }, "native")).toEqual({
      token_ttl: 3_600,
      token_max_ttl: 7_200,
      token_explicit_max_ttl: 0,
      token_period: 0,
      token_policies: ["api", "web"],
      token_bound_cidrs: ["10.0.0.0/8"],
      token_no_default_policy: true,
      token_num_uses: 3,
      token_type: "default",
    })
  })

  test.each(["batch", "default-batch"])("the token type %s is rejected with its name", (type) => {
    expect(decodeDocument(table, { token_type: type }).faults).toEqual([
      { field: ["tokenType"], detail: `"token_type" must not be "${type}": all tokens are service tokens` },
    ])
  })
})
