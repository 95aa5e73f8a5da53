// Parsers of JSON and names: bounds on documents, public keys of ACME accounts, and name patterns of roles.
import { isUtf8 } from "node:buffer"
import { generateKeyPairSync } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { assertJsonBounds, type JsonBounds, JsonBoundsError } from "../../engine/src/core/json-bounds.ts"
import { anyGlob } from "../../engine/src/pki/names/host-names.ts"
import { fillTemplate, type Identity } from "../../engine/src/pki/names/identity-template.ts"
import { readJwk } from "../../engine/src/x509/jwk.ts"
import { UnacceptableInput } from "../../engine/src/x509/unacceptable-input.ts"
import { type Json, parseJson } from "./json.ts"
import { jsonMutations } from "./mutations.ts"
import type { FuzzTarget } from "./target.ts"

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

export const textTargets = (): readonly FuzzTarget[] => [
  {
    name: "JSON bounds",
    corpus: documents.map((text) => Buffer.from(text)),
    mutations: jsonMutations,
    attempt: keepsBounds,
  },
  {
    name: "JWK",
    corpus: publicKeys().map(json),
    mutations: jsonMutations,
    attempt: readsKey,
  },
  {
    name: "templated names",
    corpus: namings.map(json),
    mutations: jsonMutations,
    attempt: fillsNames,
  },
]

const documents = [
  '{"data":{"type":"workspaces","attributes":{"name":"network","auto-apply":false,"tags":["a","b\\n\\"c\\""]}}}',
  '{ "csr" : "-----BEGIN\\nAAAA\\\\" , "ttl" : 12.5e3 , "list" : [ true , null , [ ] , { } ] }',
  '[[[[1,2,3],{"é":"\\u00e9"}],[]],"[[[",{"a":{"a":{}}}]',
]
const bounds: JsonBounds = { depth: 6, members: 8, elements: 12, stringBytes: 40, values: 60 }

/** Checks that accepted documents are within the bounds once they are parsed. */
function keepsBounds(input: Uint8Array): string | undefined {
  try {
    assertJsonBounds(input, bounds)
  } catch (error) {
    if (error instanceof JsonBoundsError) return undefined
    throw error
  }
  // Input that is not UTF-8 is refused by the parse that follows; here it would be decoded as longer text.
  const value = isUtf8(input) ? parseJson(input) : undefined
  return value === undefined || isWithin(value) ? undefined : "has more than the bounds allow"
}

function isWithin(document: Json): boolean {
  let values = 0
  const walk = (value: Json, depth: number): boolean => {
    values += 1
    if (typeof value === "string") return Buffer.byteLength(value) <= bounds.stringBytes
    if (typeof value !== "object" || value === null) return true
    const names = Array.isArray(value) ? [] : Object.keys(value)
    const items = Object.values(value)
    return (
      depth < bounds.depth &&
      items.length <= (Array.isArray(value) ? bounds.elements : bounds.members) &&
      names.every((name) => Buffer.byteLength(name) <= bounds.stringBytes) &&
      items.every((item) => walk(item, depth + 1))
    )
  }
  return walk(document, 0) && values <= bounds.values
}

function publicKeys(): readonly object[] {
  const keys = [
    generateKeyPairSync("ec", { namedCurve: "P-256" }),
    generateKeyPairSync("ec", { namedCurve: "P-521" }),
    generateKeyPairSync("ed25519"),
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ]
  return keys.map(({ publicKey }) => ({ ...publicKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "1" }))
}

/** Checks that an accepted key is parsed again to the same key. */
function readsKey(input: Uint8Array): string | undefined {
  const value = parseJson(input)
  try {
    const { jwk, thumbprint } = readJwk(value)
    const again = readJwk(jwk)
    return isDeepStrictEqual([again.jwk, again.thumbprint], [jwk, thumbprint]) ? undefined : "is read otherwise again"
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

const person = { id: "user-1", name: "mallory", metadata: { team: "web" }, aliases: {} }
const namings = [
  { template: "{{identity.entity.name}}.example.com", entity: person, text: "mallory.example.com" },
  { template: "*.{{identity.entity.metadata.team}}.example.com", entity: person, text: "a.b.web.example.com" },
  {
    template: "spiffe://{{ identity.entity.id }}/*/{{identity.entity.name}}*",
    entity: person,
    text: "spiffe://user-1/",
  },
  { template: "{{identity.entity.aliases.token.name}}", entity: { ...person, name: "m*" }, text: "*" },
]
const maxText = 60
const maxStar = 5

/** Checks that no value introduces a wildcard, and that a pattern matches the same as its regular expression. */
function fillsNames(input: Uint8Array): string | undefined {
  const { template, entity, text } = (parseJson(input) ?? {}) as Readonly<Record<string, Json>>
  if (typeof template !== "string" || typeof text !== "string") return undefined
  const filled = fillTemplate(template, identityOf(entity), { globsAllowed: false })
  if (filled !== undefined && starsIn(filled) > starsIn(template)) return "takes a wildcard from a value"
  const pattern = filled ?? template
  if (pattern.length > maxText || text.length > maxText || starsIn(pattern) > maxStar) return undefined
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
  const isMatch = new RegExp(`^${parts.join(String.raw`[\s\S]*`)}$`).test(text)
  return anyGlob([pattern])(text) === isMatch ? undefined : `a pattern ${isMatch ? "misses" : "matches"} a name`
}

const starsIn = (text: string): number => text.split("*").length - 1

/** Returns an identity with strings where strings are required, because the database has no others. */
function identityOf(entity: Json | undefined): Identity {
  const { id, name, metadata, aliases } = membersOf(entity)
  const own = { id: textOf(id), name: textOf(name), metadata: textsOf(metadata) }
  const described = Object.entries(membersOf(aliases)).map(([accessor, alias]) => {
    const members = membersOf(alias)
    const { id: aliasId, name: aliasName } = members
    return [accessor, { id: textOf(aliasId), name: textOf(aliasName), metadata: textsOf(members["metadata"]) }] as const
  })
  return { entity: { ...own, aliases: Object.fromEntries(described) }, groups: [{ id: own.id, name: own.name }] }
}

const membersOf = (value: Json | undefined): Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")
const textsOf = (value: Json | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(membersOf(value)).map(([name, member]) => [name, textOf(member)]))
