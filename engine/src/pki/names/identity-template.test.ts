import { expect, test } from "vitest"
import { fillTemplate, type Identity, isTemplate } from "./identity-template.ts"

const identity: Identity = {
  entity: {
    id: "e-1",
    name: "alice",
    metadata: { team: "web", "region.name": "north", all: "*", empty: "" },
    aliases: { auth_ldap_1: { id: "a-1", name: "al", metadata: { dept: "it" } } },
  },
  groups: [{ id: "g-1", name: "ops.eu" }],
}

test.each([
  { template: "{{identity.entity.name}}.example.com", filled: "alice.example.com", why: "the name" },
  { template: "{{ identity.entity.id }}", filled: "e-1", why: "spaces inside" },
  { template: "{{identity.entity.metadata.team}}", filled: "web", why: "metadata" },
  { template: "{{identity.entity.metadata.region.name}}", filled: "north", why: "a key with a dot" },
  { template: "{{identity.entity.aliases.auth_ldap_1.name}}", filled: "al", why: "the name of an alias" },
  { template: "{{identity.entity.aliases.auth_ldap_1.metadata.dept}}", filled: "it", why: "the metadata of an alias" },
  { template: "{{identity.groups.ids.g-1.name}}", filled: "ops.eu", why: "a group by its id" },
  { template: "{{identity.groups.names.ops.eu.id}}", filled: "g-1", why: "a group by its name" },
  { template: "{{identity.entity.name}}-{{identity.entity.metadata.team}}", filled: "alice-web", why: "two templates" },
  { template: "*.{{identity.entity.name}}", filled: "*.alice", why: "a glob of the role is kept" },
  { template: "{{identity.entity.metadata.none}}", filled: undefined, why: "no such value" },
  { template: "{{identity.entity.metadata.constructor}}", filled: undefined, why: "a property of Object.prototype" },
  { template: "{{identity.entity.aliases.toString.name}}", filled: undefined, why: "an unknown alias" },
  { template: "{{identity.groups.ids.g-2.name}}", filled: undefined, why: "a group without the caller" },
  { template: "{{identity.entity.metadata.empty}}.com", filled: undefined, why: "an empty value would widen the rest" },
  { template: "{{identity.entity.password}}", filled: undefined, why: "an unknown field" },
  { template: "{{identity.entity.name}", filled: undefined, why: "an unclosed template" },
  { template: "{{identity.entity.name}}}}", filled: undefined, why: "closed twice" },
  { template: "{{identity.entity.metadata.all}}.com", filled: undefined, why: 'a value that contains "*"' },
])("$template becomes $filled: $why", ({ template, filled }) => {
  expect(isTemplate(template)).toBe(true)
  expect(fillTemplate(template, identity, { globsAllowed: false })).toBe(filled)
})

test('a value that contains "*" is filled in when the role allows it', () => {
  expect(fillTemplate("{{identity.entity.metadata.all}}.com", identity, { globsAllowed: true })).toBe("*.com")
})

test("a template within a value is not filled in", () => {
  const sly = { ...identity, entity: { ...identity.entity, name: "$&{{identity.entity.id}}" } }
  expect(fillTemplate("{{identity.entity.name}}", sly, { globsAllowed: false })).toBe("$&{{identity.entity.id}}")
})
