import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import type { Identity } from "../names/identity-template.ts"
import { createRole, type Role, type RoleInput } from "../roles/role.ts"
import { namePolicy } from "./name-policy.ts"

const example: RoleInput = { allowLocalhost: false, allowedDomains: ["example.com"] }
const refusalOf = (input: RoleInput, name: string, identity?: Identity) => namePolicy(createRole(input), identity)(name)
const isAllowed = (input: RoleInput, name: string) => refusalOf(input, name) === undefined

describe("a name is rejected by the first rule that it violates", () => {
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
  "[F-P8] %s is rejected by every role without allow_partial_wildcards",
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
    { name: "LocalHost", allowed: true, why: "another letter case" },
    { name: "localdomain", allowed: true, why: "localdomain" },
    { name: "user@localhost", allowed: true, why: "the domain of an e-mail address" },
    { name: "www.localhost", allowed: false, why: "a subdomain" },
    { name: "*.localhost", allowed: false, why: "a wildcard is a subdomain" },
    { name: "www.localhost", allowSubdomains: true, allowed: true, why: "a subdomain" },
    { name: "*.localdomain", allowSubdomains: true, allowed: true, why: "a wildcard" },
    { name: "notlocalhost", allowSubdomains: true, allowed: false, why: "a name with the same ending" },
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
    { role: example, name: "example.com", allowed: false, why: "no allow_* flag is set" },
    { role: bare, name: "example.com", allowed: true, why: "the domain" },
    { role: bare, name: "EXAMPLE.com.", allowed: true, why: "the domain in another spelling" },
    { role: bare, name: "www.example.com", allowed: false, why: "a subdomain" },
    { role: bare, name: "*.example.com", allowed: false, why: "a wildcard" },
    { role: bare, name: "user@example.com", allowed: true, why: "the domain of an e-mail address" },
    { role: bare, name: "user@www.example.com", allowed: false, why: "a subdomain in an e-mail address" },
    {
      role: { ...bare, allowedDomains: ["user@example.com"] },
      name: "User@example.com",
      allowed: true,
      why: "an e-mail address",
    },
    {
      role: { ...bare, allowedDomains: ["user@example.com"] },
      name: "me@example.com",
      allowed: false,
      why: "another e-mail address",
    },
    {
      role: { ...bare, allowedDomains: ["user@example.com"] },
      name: "example.com",
      allowed: false,
      why: "the domain of the entry",
    },
    {
      role: { ...bare, allowedDomains: ["*.example.com"] },
      name: "*.example.com",
      allowed: true,
      why: "the wildcard of the entry",
    },
    {
      role: { ...bare, allowedDomains: ["*.example.com"] },
      name: "a.example.com",
      allowed: false,
      why: "no glob domains",
    },
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
    {
      role: { ...bare, allowedDomains: ["Example.COM"] },
      name: "example.com",
      allowed: true,
      why: "another letter case",
    },
    { role: subdomains, name: "www.example.com", allowed: true, why: "a subdomain" },
    { role: subdomains, name: "a.b.example.com", allowed: true, why: "a subdomain of a subdomain" },
    { role: subdomains, name: "WWW.Example.Com", allowed: true, why: "the suffix in another letter case" },
    {
      role: { ...subdomains, allowedDomains: ["Example.COM"] },
      name: "www.example.com",
      allowed: true,
      why: "the other way round",
    },
    { role: subdomains, name: "example.com", allowed: false, why: "the domain itself" },
    { role: subdomains, name: "badexample.com", allowed: false, why: "the same ending, but not after a dot" },
    { role: subdomains, name: "www.example.com.evil.org", allowed: false, why: "contains the domain elsewhere" },
    { role: subdomains, name: "*.example.com", allowed: true, why: "a wildcard over the domain" },
    {
      role: { ...subdomains, allowPartialWildcards: true },
      name: "f*o.example.com",
      allowed: true,
      why: "a wildcard over the domain",
    },
    { role: subdomains, name: "*.www.example.com", allowed: true, why: "a wildcard over a subdomain" },
    { role: subdomains, name: "*.com", allowed: false, why: "a wildcard over a parent of the domain" },
    { role: subdomains, name: "user@www.example.com", allowed: true, why: "a subdomain in an e-mail address" },
    { role: subdomains, name: "user@example.com", allowed: false, why: "the domain itself in an e-mail address" },
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
      why: "a glob spans dots",
    },
    {
      role: { ...globs, allowedDomains: ["*.example.com"] },
      name: "*.example.com",
      allowed: true,
      why: "a glob matches wildcards",
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
      why: "an e-mail address",
    },
    {
      role: { ...example, allowedDomains: ["*.example.com"] },
      name: "a.example.com",
      allowed: false,
      why: "the role allows no globs",
    },
    { role: { ...subdomains, allowedDomains: ["."] }, name: "*", allowed: false, why: "the root is not a domain" },
    {
      role: { ...subdomains, enforceHostnames: false },
      name: "my service.example.com",
      allowed: true,
      why: "the domain is checked when host names are not enforced",
    },
    {
      role: { ...bare, enforceHostnames: false, allowedDomains: ["kelvin host"] },
      name: "\u212Aelvin host",
      allowed: false,
      why: "only ASCII letters are case-insensitive",
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
    { role, name: "alice.example.com", allowed: true, why: "the caller's name" },
    { role, name: "www.alice.example.com", allowed: true, why: "under the caller's name" },
    { role, name: "bob.example.com", allowed: false, why: "the name of another caller" },
    { role, name: "fixed.example", allowed: true, why: "not a template" },
    {
      role: { ...role, allowedDomains: ["{{identity.entity.metadata.any}}.example.com"] },
      name: "bob.example.com",
      allowed: false,
      why: "a glob from the caller's metadata",
    },
    {
      role: {
        ...role,
        allowedDomains: ["{{identity.entity.metadata.any}}.example.com"],
        allowGlobsInIdentityTemplates: true,
      },
      name: "bob.example.com",
      allowed: true,
      why: "a glob from metadata when the role allows it",
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

  test("templates allow nothing without an identity, not even their literal text", () => {
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

describe("for any role and name", () => {
  const accepts = (role: Role, name: string) => namePolicy(role, undefined)(name) === undefined

  test("allow_any_name allows every name that a stricter role allows", () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        fc.pre(accepts(role, name))
        expect(accepts({ ...role, allowAnyName: true }, name)).toBe(true)
      }),
      runs,
    )
  })

  test("a more permissive role never rejects an allowed name, and a stricter one never allows a rejected name", () => {
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

  test("letter case and a trailing dot make no difference", () => {
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

  test("a role without wildcards rejects all wildcards", () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        fc.pre(name.includes("*"))
        expect(accepts({ ...role, allowWildcardCertificates: false }, name)).toBe(false)
      }),
      runs,
    )
  })

  test("every allowed name is under an allowed domain", () => {
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
