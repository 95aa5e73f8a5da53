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
  { template: "{{identity.entity.aliases.auth_ldap_1.metadata.dept}}", filled: "it", why: "its metadata" },
  { template: "{{identity.groups.ids.g-1.name}}", filled: "ops.eu", why: "a group by its id" },
  { template: "{{identity.groups.names.ops.eu.id}}", filled: "g-1", why: "a group by its name" },
  { template: "{{identity.entity.name}}-{{identity.entity.metadata.team}}", filled: "alice-web", why: "two of them" },
  { template: "*.{{identity.entity.name}}", filled: "*.alice", why: "the role's own glob stays one" },
  { template: "{{identity.entity.metadata.none}}", filled: undefined, why: "no such value" },
  { template: "{{identity.entity.metadata.constructor}}", filled: undefined, why: "what every object has is no value" },
  { template: "{{identity.entity.aliases.toString.name}}", filled: undefined, why: "nor an alias" },
  { template: "{{identity.groups.ids.g-2.name}}", filled: undefined, why: "not a member" },
  { template: "{{identity.entity.metadata.empty}}.com", filled: undefined, why: "an empty value would widen the rest" },
  { template: "{{identity.entity.password}}", filled: undefined, why: "no such field" },
  { template: "{{identity.entity.name}", filled: undefined, why: "not closed" },
  { template: "{{identity.entity.name}}}}", filled: undefined, why: "closed twice" },
  { template: "{{identity.entity.metadata.all}}.com", filled: undefined, why: "a value that holds a glob" },
])("$template becomes $filled: $why", ({ template, filled }) => {
  expect(isTemplate(template)).toBe(true)
  expect(fillTemplate(template, identity, { globsAllowed: false })).toBe(filled)
})

test("a value that holds a glob fills in where the role says so", () => {
  expect(fillTemplate("{{identity.entity.metadata.all}}.com", identity, { globsAllowed: true })).toBe("*.com")
})

test("a value is text: what looks like a template in it stays as it is", () => {
  const sly = { ...identity, entity: { ...identity.entity, name: "$&{{identity.entity.id}}" } }
  expect(fillTemplate("{{identity.entity.name}}", sly, { globsAllowed: false })).toBe("$&{{identity.entity.id}}")
})
