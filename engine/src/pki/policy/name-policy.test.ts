import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import type { Identity } from "../names/identity-template.ts"
import { createRole, type Role, type RoleInput } from "../roles/role.ts"
import { namePolicy } from "./name-policy.ts"

const example: RoleInput = { allowLocalhost: false, allowedDomains: ["example.com"] }
const refusalOf = (input: RoleInput, name: string, identity?: Identity) => namePolicy(createRole(input), identity)(name)
const isAllowed = (input: RoleInput, name: string) => refusalOf(input, name) === undefined

describe("a name is judged by the first rule that it breaks", () => {
  test.each([
    { role: { allowAnyName: true }, name: "a".repeat(1_025), rule: "nameIsNotTooLong" },
    { role: { allowAnyName: true }, name: "a@b@example.com", rule: "addressHasOneAtSign" },
    {
      role: { allowAnyName: true, allowWildcardCertificates: false },
      name: "*.example.com",
      rule: "wildcardIsAllowed",
    },
    { role: { allowAnyName: true }, name: "user@*.example.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true }, name: "*@example.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true }, name: "*.*.example.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true }, name: "www.*.example.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true, enforceHostnames: false }, name: "www.*.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true }, name: "a_b.example.com", rule: "hostNameIsWellFormed" },
    {
      role: { allowAnyName: true, allowPartialWildcards: true },
      name: "_*.example.com",
      rule: "hostNameIsWellFormed",
    },
    { role: { allowAnyName: true }, name: "*.a_b.com", rule: "hostNameIsWellFormed" },
    { role: { allowAnyName: true }, name: "a b@example.com", rule: "hostNameIsWellFormed" },
    { role: { allowAnyName: true }, name: "user@exa mple.com", rule: "hostNameIsWellFormed" },
    { role: { allowAnyName: true }, name: "a_b.example.com", enforceHostnames: false },
    { role: { allowAnyName: true }, name: "anything at all", enforceHostnames: false },
    { role: { allowAnyName: true }, name: "*" },
    { role: { allowAnyName: true, allowPartialWildcards: true }, name: "f*o.example.com" },
    { role: { allowAnyName: true, enforceHostnames: false }, name: "f*o.example.com", rule: "wildcardIsAllowed" },
    { role: { allowAnyName: true }, name: "bücher.example." },
    { role: example, name: "www.example.org", rule: "domainIsAllowed" },
    { role: example, name: "*", rule: "domainIsAllowed" },
  ])("$name: $rule", ({ role, name, rule, enforceHostnames = true }) => {
    expect(refusalOf({ enforceHostnames, ...role }, name)?.rule).toBe(rule)
  })
})

test.each(["w*.example.com", "*w.example.com", "w*w.example.com", "w*"])(
  "[F-P8] %s is refused by every role without allow_partial_wildcards",
  (name) => {
    const role = { allowAnyName: true, enforceHostnames: false }
    expect(refusalOf(role, name)).toEqual({
      rule: "wildcardIsAllowed",
      reason: 'its "*" is only a part of a label, and "allow_partial_wildcards" is not set',
    })
    expect(refusalOf({ ...role, allowPartialWildcards: true }, name)).toBeUndefined()
    expect(refusalOf({ ...role, allowPartialWildcards: true, allowWildcardCertificates: false }, name)?.reason).toBe(
      "wildcard certificates are not allowed",
    )
  },
)

describe("localhost", () => {
  test.each([
    { name: "localhost", allowed: true, why: "the name itself" },
    { name: "LocalHost", allowed: true, why: "in any case" },
    { name: "localdomain", allowed: true, why: "the other name" },
    { name: "user@localhost", allowed: true, why: "the domain of an address" },
    { name: "www.localhost", allowed: false, why: "a subdomain" },
    { name: "*.localhost", allowed: false, why: "a wildcard stands for subdomains" },
    { name: "www.localhost", allowSubdomains: true, allowed: true, why: "a subdomain" },
    { name: "*.localdomain", allowSubdomains: true, allowed: true, why: "a wildcard" },
    { name: "notlocalhost", allowSubdomains: true, allowed: false, why: "ends alike" },
    { name: "localhost", allowLocalhost: false, allowed: false, why: "the role does not allow it" },
  ])("$name is allowed: $allowed ($why, subdomains $allowSubdomains)", (row) => {
    const { name, allowed, allowSubdomains = false, allowLocalhost = true } = row
    expect(isAllowed({ allowLocalhost, allowSubdomains }, name)).toBe(allowed)
  })
})

describe("allowed domains", () => {
  const bare = { ...example, allowBareDomains: true }
  const subdomains = { ...example, allowSubdomains: true }
  const globs = { ...example, allowGlobDomains: true }
  test.each([
    { role: example, name: "example.com", allowed: false, why: "no form of the domain is allowed" },
    { role: bare, name: "example.com", allowed: true, why: "the domain" },
    { role: bare, name: "EXAMPLE.com.", allowed: true, why: "the domain in another spelling" },
    { role: bare, name: "www.example.com", allowed: false, why: "a subdomain" },
    { role: bare, name: "*.example.com", allowed: false, why: "a wildcard" },
    { role: bare, name: "user@example.com", allowed: true, why: "the domain of an address" },
    { role: bare, name: "user@www.example.com", allowed: false, why: "a subdomain in an address" },
    {
      role: { ...bare, allowedDomains: ["user@example.com"] },
      name: "User@example.com",
      allowed: true,
      why: "an address",
    },
    { role: { ...bare, allowedDomains: ["user@example.com"] }, name: "me@example.com", allowed: false, why: "another" },
    { role: { ...bare, allowedDomains: ["user@example.com"] }, name: "example.com", allowed: false, why: "its domain" },
    {
      role: { ...bare, allowedDomains: ["*.example.com"] },
      name: "*.example.com",
      allowed: true,
      why: "that wildcard",
    },
    { role: { ...bare, allowedDomains: ["*.example.com"] }, name: "a.example.com", allowed: false, why: "no glob" },
    {
      role: { ...bare, allowedDomains: ["bücher.example"] },
      name: "xn--bcher-kva.example",
      allowed: true,
      why: "A-label",
    },
    {
      role: { ...bare, allowedDomains: ["xn--bcher-kva.example"] },
      name: "BÜCHER.example",
      allowed: true,
      why: "U-label",
    },
    { role: { ...bare, allowedDomains: ["Example.COM"] }, name: "example.com", allowed: true, why: "in any case" },
    { role: subdomains, name: "www.example.com", allowed: true, why: "a subdomain" },
    { role: subdomains, name: "a.b.example.com", allowed: true, why: "of a subdomain" },
    { role: subdomains, name: "WWW.Example.Com", allowed: true, why: "the suffix in any case" },
    {
      role: { ...subdomains, allowedDomains: ["Example.COM"] },
      name: "www.example.com",
      allowed: true,
      why: "either way",
    },
    { role: subdomains, name: "example.com", allowed: false, why: "the domain itself" },
    { role: subdomains, name: "badexample.com", allowed: false, why: "ends alike, but not after a dot" },
    { role: subdomains, name: "www.example.com.evil.org", allowed: false, why: "holds it, but elsewhere" },
    { role: subdomains, name: "*.example.com", allowed: true, why: "a wildcard over the domain" },
    {
      role: { ...subdomains, allowPartialWildcards: true },
      name: "f*o.example.com",
      allowed: true,
      why: "a wildcard over the domain",
    },
    { role: subdomains, name: "*.www.example.com", allowed: true, why: "a wildcard over a subdomain" },
    { role: subdomains, name: "*.com", allowed: false, why: "a wildcard over more" },
    { role: subdomains, name: "user@www.example.com", allowed: true, why: "a subdomain in an address" },
    { role: subdomains, name: "user@example.com", allowed: false, why: "the domain itself in an address" },
    { role: globs, name: "example.com", allowed: false, why: "an entry without a glob" },
    {
      role: { ...globs, allowedDomains: ["ftp*.example.com"] },
      name: "FTP1.example.com",
      allowed: true,
      why: "a glob",
    },
    {
      role: { ...globs, allowedDomains: ["*.example.com"] },
      name: "a.b.example.com",
      allowed: true,
      why: "spans dots",
    },
    {
      role: { ...globs, allowedDomains: ["*.example.com"] },
      name: "*.example.com",
      allowed: true,
      why: "and wildcards",
    },
    {
      role: { ...globs, allowedDomains: ["*.bücher.example"] },
      name: "a.xn--bcher-kva.example",
      allowed: true,
      why: "IDN",
    },
    {
      role: { ...globs, allowedDomains: ["*@example.com"] },
      name: "user@example.com",
      allowed: true,
      why: "an address",
    },
    { role: { ...example, allowedDomains: ["*.example.com"] }, name: "a.example.com", allowed: false, why: "no globs" },
    { role: { ...subdomains, allowedDomains: ["."] }, name: "*", allowed: false, why: "the root is no domain" },
    {
      role: { ...subdomains, enforceHostnames: false },
      name: "my service.example.com",
      allowed: true,
      why: "the domain counts where host names do not",
    },
    {
      role: { ...bare, enforceHostnames: false, allowedDomains: ["kelvin host"] },
      name: "\u212Aelvin host",
      allowed: false,
      why: "only letters of ASCII have a case here",
    },
  ])("$name under $role.allowedDomains: $allowed ($why)", ({ role, name, allowed }) => {
    expect(isAllowed(role, name)).toBe(allowed)
  })
})

describe("templates", () => {
  const identity: Identity = {
    entity: { id: "e-1", name: "alice", metadata: { domain: "corp.example", any: "*" }, aliases: {} },
    groups: [],
  }
  const role: RoleInput = {
    allowedDomains: ["{{identity.entity.name}}.example.com", "{{identity.entity.metadata.none}}", "fixed.example"],
    allowedDomainsTemplate: true,
    allowBareDomains: true,
    allowSubdomains: true,
    allowGlobDomains: true,
  }
  test.each([
    { role, name: "alice.example.com", allowed: true, why: "the caller's own" },
    { role, name: "www.alice.example.com", allowed: true, why: "under the caller's own" },
    { role, name: "bob.example.com", allowed: false, why: "somebody else's" },
    { role, name: "fixed.example", allowed: true, why: "what is no template" },
    {
      role: { ...role, allowedDomains: ["{{identity.entity.metadata.any}}.example.com"] },
      name: "bob.example.com",
      allowed: false,
      why: "a glob out of the caller's own metadata",
    },
    {
      role: {
        ...role,
        allowedDomains: ["{{identity.entity.metadata.any}}.example.com"],
        allowGlobsInIdentityTemplates: true,
      },
      name: "bob.example.com",
      allowed: true,
      why: "where the role says so",
    },
    {
      role: { ...role, allowedDomainsTemplate: false, enforceHostnames: false },
      name: "alice.example.com",
      allowed: false,
      why: "templates are off",
    },
  ])("$name is allowed: $allowed ($why)", ({ role, name, allowed }) => {
    expect(refusalOf(role, name, identity) === undefined).toBe(allowed)
  })

  test("without an identity templates allow nothing, not even what they say to the letter", () => {
    const loose = { ...role, enforceHostnames: false }
    expect(isAllowed(loose, "fixed.example")).toBe(true)
    expect(isAllowed(loose, "alice.example.com")).toBe(false)
    expect(isAllowed(loose, "{{identity.entity.name}}.example.com")).toBe(false)
  })
})

const labels = fc.constantFrom(
  "www",
  "a",
  "example",
  "com",
  "*",
  "f*o",
  "bücher",
  "xn--bcher-kva",
  "Example",
  "COM",
  "b_c",
)
const domains = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."))
const names = fc.oneof(
  domains,
  fc.tuple(fc.constantFrom("user", "User", "a b"), domains).map(([local, domain]) => `${local}@${domain}`),
  fc.string({ unit: fc.constantFrom(..."aA.*@-_é ".split("")), maxLength: 12 }),
)
const roles: fc.Arbitrary<Role> = fc
  .record({
    allowedDomains: fc.array(domains, { maxLength: 3 }),
    allowLocalhost: fc.boolean(),
    allowBareDomains: fc.boolean(),
    allowSubdomains: fc.boolean(),
    allowGlobDomains: fc.boolean(),
    allowWildcardCertificates: fc.boolean(),
    allowPartialWildcards: fc.boolean(),
    allowAnyName: fc.boolean(),
    enforceHostnames: fc.boolean(),
  })
  .map(createRole)
const runs = { numRuns: 2_000 }

describe("whatever the role and the name", () => {
  const accepts = (role: Role, name: string) => namePolicy(role, undefined)(name) === undefined

  test("who allows any name allows what a stricter role allows", () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        fc.pre(accepts(role, name))
        expect(accepts({ ...role, allowAnyName: true }, name)).toBe(true)
      }),
      runs,
    )
  })

  test("allowing more never refuses a name, and demanding more never lets one pass", () => {
    const permissions = fc.constantFrom(
      "allowLocalhost",
      "allowBareDomains",
      "allowSubdomains",
      "allowGlobDomains",
      "allowWildcardCertificates",
      "allowPartialWildcards",
    )
    fc.assert(
      fc.property(roles, names, permissions, domains, (role, name, permission, domain) => {
        fc.pre(accepts(role, name))
        expect(accepts({ ...role, [permission]: true }, name)).toBe(true)
        expect(accepts({ ...role, enforceHostnames: false }, name)).toBe(true)
        expect(accepts({ ...role, allowedDomains: [...role.allowedDomains, domain] }, name)).toBe(true)
      }),
      runs,
    )
  })

  test("the case of a name, of an entry, and a dot at the end make no difference", () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        // Case folding of non-ASCII letters follows Unicode tables, and applies to host names only.
        fc.pre(!name.includes("é"))
        const upper = name.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
        expect(accepts(role, upper)).toBe(accepts(role, name))
        const shouted = role.allowedDomains.map((entry) => entry.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()))
        expect(accepts({ ...role, allowedDomains: shouted }, name)).toBe(accepts(role, name))
      }),
      runs,
    )
  })

  test("no wildcard gets past a role without them", () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        fc.pre(name.includes("*"))
        expect(accepts({ ...role, allowWildcardCertificates: false }, name)).toBe(false)
      }),
      runs,
    )
  })

  test("no name that is let pass leaves its allowed domain", () => {
    const suffixes = fc.constantFrom("example.com", "a.example", "xn--bcher-kva.com")
    fc.assert(
      fc.property(
        roles,
        fc.oneof(
          names,
          fc.tuple(names, suffixes).map((parts) => parts.join(".")),
        ),
        suffixes,
        (role, name, suffix) => {
          const bounded = { ...role, allowAnyName: false, allowLocalhost: false, allowedDomains: [suffix] }
          fc.pre(accepts(bounded, name))
          const ascii = name.toLowerCase().replaceAll("bücher", "xn--bcher-kva").replace(/\.$/, "")
          expect(ascii === suffix || ascii.endsWith(`.${suffix}`) || ascii.endsWith(`@${suffix}`)).toBe(true)
        },
      ),
      runs,
    )
  })
})
