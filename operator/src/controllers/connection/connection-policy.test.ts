import { expect, test } from "vitest"
import { describeUse, type EngineUse, permits } from "./connection-policy.ts"

const web = { name: "web", labels: { tier: "gold" } }
const role = (mount: string, name?: string): EngineUse => ({ mount, ...(name === undefined ? {} : { role: name }) })
const project = (organization: string, name?: string): EngineUse => ({ organization, project: name })

test.each<{ policies: Parameters<typeof permits>[0]; use: EngineUse; permitted: boolean }>([
  { policies: undefined, use: role("pki", "web"), permitted: true },
  { policies: [], use: role("pki", "web"), permitted: false },
  { policies: [{ mounts: ["pki"] }], use: role("pki", "web"), permitted: true },
  { policies: [{ mounts: ["pki"] }], use: role("pki2", "web"), permitted: false },
  { policies: [{ mounts: ["pki"] }], use: role("PKI", "web"), permitted: false },
  { policies: [{ mounts: ["pki"] }], use: project("acme"), permitted: false },
  { policies: [{ mounts: ["pki"], roles: ["web"] }], use: role("pki"), permitted: true },
  { policies: [{ mounts: ["pki"], roles: ["web"] }], use: role("pki", "web"), permitted: true },
  { policies: [{ mounts: ["pki"], roles: ["web"] }], use: role("pki", "web2"), permitted: false },
  { policies: [{ mounts: ["pki"], roles: ["*"] }], use: { mount: "pki", isWhole: true }, permitted: false },
  { policies: [{ mounts: ["pki"] }], use: { mount: "pki", isWhole: true }, permitted: true },
  { policies: [{ roles: ["web"] }], use: role("pki", "web"), permitted: false },
  // Two entries do not add up to a permission.
  { policies: [{ mounts: ["pki"], roles: ["web"] }, { mounts: ["other"] }], use: role("pki", "db"), permitted: false },
  { policies: [{ organizations: ["acme"] }], use: project("acme"), permitted: true },
  { policies: [{ organizations: ["acme"] }], use: project("acme", "shop"), permitted: true },
  { policies: [{ organizations: ["acme"] }], use: project("other", "shop"), permitted: false },
  { policies: [{ organizations: ["acme"], projects: ["shop"] }], use: project("acme", "shop"), permitted: true },
  { policies: [{ organizations: ["acme"], projects: ["shop"] }], use: project("acme", "bank"), permitted: false },
  { policies: [{ organizations: ["acme"], projects: ["*"] }], use: project("acme"), permitted: false },
  { policies: [{ organizations: ["acme"] }], use: role("pki", "web"), permitted: false },
  { policies: [{ namespaces: { matchNames: ["web"] }, mounts: ["*"] }], use: role("pki"), permitted: true },
  { policies: [{ namespaces: { matchNames: ["db"] }, mounts: ["*"] }], use: role("pki"), permitted: false },
  { policies: [{ namespaces: {}, mounts: ["*"] }], use: role("pki"), permitted: false },
  {
    policies: [{ namespaces: { labelSelector: { matchLabels: { tier: "gold" } } }, mounts: ["*"] }],
    use: role("pki"),
    permitted: true,
  },
])("permits returns $permitted for $use with $policies", ({ policies, use, permitted }) => {
  expect(permits(policies, use, web)).toBe(permitted)
})

test("permits takes the entries of all namespaces when the object has none", () => {
  expect(permits([{ namespaces: { matchNames: ["db"] }, mounts: ["pki"] }], role("pki"), undefined)).toBe(true)
  expect(permits([{ namespaces: { matchNames: ["db"] }, mounts: ["pki"] }], role("other"), undefined)).toBe(false)
})

test.each<{ pattern: string; text: string; matches: boolean }>([
  { pattern: "*", text: "pki", matches: true },
  { pattern: "team-*", text: "team-a", matches: true },
  { pattern: "team-*", text: "team-", matches: true },
  { pattern: "team-*", text: "my-team-a", matches: false },
  { pattern: "*-ca", text: "web-ca", matches: true },
  { pattern: "*-ca", text: "web-ca-2", matches: false },
  { pattern: "a*a", text: "a", matches: false },
  { pattern: "a*a", text: "aa", matches: true },
  { pattern: "a*b*c", text: "a-b-c", matches: true },
  { pattern: "a*b*c", text: "a-c-b", matches: false },
  { pattern: "p.i", text: "pki", matches: false },
  { pattern: "**", text: "", matches: true },
])('a mount "$text" is permitted by the pattern "$pattern": $matches', ({ pattern, text, matches }) => {
  expect(permits([{ mounts: [pattern] }], role(text), web)).toBe(matches)
})

test("a pattern with many asterisks takes no exponential time", () => {
  const pattern = "a*".repeat(64).slice(0, 127)
  expect(permits([{ mounts: [`${pattern}b`] }], role("a".repeat(255)), web)).toBe(false)
})

test.each<{ use: EngineUse; text: string }>([
  { use: role("pki"), text: "the mount pki" },
  { use: role("pki", "web"), text: "the role web of the mount pki" },
  { use: { mount: "pki", isWhole: true }, text: "the mount pki as a whole" },
  { use: project("acme", "shop"), text: "the project shop of the organization acme" },
  { use: project("acme"), text: "the organization acme without a project by name" },
])("describeUse returns $text", ({ use, text }) => {
  expect(describeUse(use)).toBe(text)
})
