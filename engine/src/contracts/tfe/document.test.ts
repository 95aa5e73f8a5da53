import { describe, expect, test } from "vitest"
import { z } from "zod"
import { isEngineError } from "../../core/errors.ts"
import { ruled } from "./json-api/document.ts"
import {
  absentAsNull,
  dashedObject,
  emptyAsNull,
  encode,
  instant,
  instantInput,
  nullAsAbsent,
  nullAsEmpty,
  orDefault,
} from "../codec.ts"
import {
  alias,
  computed,
  constant,
  document,
  elements,
  immutable,
  link,
  many,
  manyInput,
  mapped,
  mappedBody,
  one,
  oneInput,
  oneOrNull,
  optional,
  plainBody,
  readOnly,
  requiredOneInput,
  secret,
  withDefault,
  writable,
} from "./document.ts"

const rule = "For tests."
const upperCase = (text: string) => (/^[A-Z]*$/.test(text) ? [] : [{ detail: "Name must be upper case" }])

const box = document("boxes", {
  id: z.custom<`box-${string}`>(),
  self: (id) => `/boxes/${id}`,
  attributes: {
    name: writable(z.string(), { input: ruled(upperCase), required: true, rule }),
    isOpen: writable(z.boolean(), { input: nullAsAbsent(z.boolean()), wireName: "open", rule }),
    unlocked: alias("isOpen", z.boolean(), { input: nullAsAbsent(z.boolean()), rule }),
    place: writable(dashedObject<{ roomName: string }>({ roomName: z.string() }), { rule }),
    size: readOnly(dashedObject<{ innerWidth: number }>({ innerWidth: z.number() }), { rule }),
    code: secret(z.string(), { rule }),
    itemsCount: computed(z.int(), ({ itemIds }: { readonly itemIds: readonly string[] }) => itemIds.length, { rule }),
  },
  relationships: {
    ownerName: readOnly(one<string>("users"), { wireName: "owner", rule }),
    shelfId: writable(oneOrNull<string>("shelves"), { input: oneInput<string>("shelves"), wireName: "shelf", rule }),
    itemIds: writable(many<string>("items"), { input: manyInput<string>("items"), wireName: "items", rule }),
    labelIds: optional(many<string>("labels"), { wireName: "labels", rule }),
    log: link((id) => `/boxes/${id}/log`, { rule }),
  },
})

const view = {
  id: "box-1",
  name: "A",
  isOpen: true,
  place: { roomName: "hall" },
  size: { innerWidth: 3 },
  ownerName: "ada",
  shelfId: null,
  itemIds: ["i-1", "i-2"],
} as const

const resource = {
  id: "box-1",
  type: "boxes",
  attributes: {
    name: "A",
    open: true,
    unlocked: true,
    place: { "room-name": "hall" },
    size: { "inner-width": 3 },
    "items-count": 2,
  },
  relationships: {
    owner: { data: { type: "users", id: "ada" } },
    shelf: { data: null },
    items: {
      data: [
        { type: "items", id: "i-1" },
        { type: "items", id: "i-2" },
      ],
    },
    log: { links: { related: "/boxes/box-1/log" } },
  },
  links: { self: "/boxes/box-1" },
}

function faultsOf(decode: () => unknown): readonly (readonly [string | undefined, string])[] {
  try {
    decode()
  } catch (error) {
    if (isEngineError(error)) return error.faults.map(({ pointer, detail }) => [pointer, detail])
    throw error
  }
  throw new Error("nothing was refused")
}
const sent = (attributes: object, relationships?: object) => ({ data: { type: "boxes", attributes, relationships } })

describe("a document", () => {
  test("encodes a view with dashes, computed members, linkage and links, and decodes it again", () => {
    expect(box.encode(view)).toEqual(resource)
    expect(box.decode(resource)).toEqual(view)
    const labelled = { ...view, labelIds: ["l-1"] }
    expect(box.decode(box.encode(labelled))).toEqual(labelled)
  })

  test("encodes a stored value that requests may not set", () => {
    expect(box.decode(box.encode({ ...view, name: "lower" })).name).toBe("lower")
  })

  test.each([
    [{ ...resource, type: "crates" }, "its type is not boxes"],
    [
      { ...resource, attributes: { ...resource.attributes, size: { "inner-width": "3" } } },
      "boxes.size.inner-width is not a number",
    ],
    [{ ...resource, relationships: { ...resource.relationships, items: {} } }, "boxes.items.data is not an array"],
  ])("throws unavailable for an answer that is not one: %#", (answer, reason) => {
    expect(() => box.decode(answer)).toThrow(`The server's answer cannot be read: ${reason}.`)
  })
})

describe("a request", () => {
  test("contains the members that were sent, without unknown and read-only ones", () => {
    const body = sent({ name: "B", size: 1, colour: "red" }, { shelf: { data: { type: "shelves", id: "s-1" } } })
    expect(box.input.decode(body)).toEqual({ name: "B", shelfId: "s-1" })
    expect(box.patch.decode(sent({}, { items: { data: [] } }))).toEqual({ itemIds: [] })
    expect(box.patch.decode({ data: { type: "boxes" } })).toEqual({})
  })

  test("sets a write-only member, which answers omit", () => {
    expect(box.patch.decode(sent({ code: "1234" }))).toEqual({ code: "1234" })
    expect(box.encode({ ...view, ...{ code: "1234" } })).toEqual(resource)
    expect(box.patch.encode({ code: "1234" })).toMatchObject({ data: { attributes: { code: "1234" } } })
  })

  test("reads an alias when the member is absent or null", () => {
    expect(box.patch.decode(sent({ unlocked: false }))).toEqual({ isOpen: false })
    expect(box.patch.decode(sent({ open: null, unlocked: false }))).toEqual({ isOpen: false })
    expect(box.patch.decode(sent({ open: true, unlocked: false }))).toEqual({ isOpen: true })
  })

  test("is rejected with all faults and their pointers", () => {
    expect(
      faultsOf(() =>
        box.input.decode({
          data: { type: "x", attributes: { open: 1 }, relationships: { shelf: { data: { id: 7 } } } },
        }),
      ),
    ).toEqual([
      ["/data/type", 'type must be "boxes"'],
      ["/data/attributes/name", "name can't be blank"],
      ["/data/attributes/open", "open must be a boolean"],
      ["/data/relationships/shelf/data/id", "id must be a string"],
    ])
    expect(faultsOf(() => box.patch.decode(sent({ name: "b" })))).toEqual([
      ["/data/attributes/name", "Name must be upper case"],
    ])
  })

  test("is rejected for unstorable text, with its pointer", () => {
    const attributes = { name: "A", place: { "room-name": "\0", unknown: "\0" } }
    const items = {
      data: [
        { type: "items", id: "i-1" },
        { type: "items", id: "\0" },
      ],
    }
    expect(faultsOf(() => box.input.decode(sent(attributes, { items }))).map(([pointer]) => pointer)).toEqual([
      "/data/attributes/place/room-name",
      "/data/relationships/items/data/1/id",
    ])
  })

  test("has pointers for domain fields, and wire names for members that are named differently", () => {
    expect(box.input.pointers(["isOpen"])).toBe("/data/attributes/open")
    expect(box.input.pointers(["shelfId", "id"])).toBe("/data/relationships/shelf/data/id")
    expect(box.input.names).toEqual({
      isOpen: "open",
      shelfId: "shelf",
      itemIds: "items",
    })
  })

  test("is encoded without validation", () => {
    expect(box.patch.encode({ name: "lower", isOpen: false, shelfId: null, itemIds: ["i-1"] })).toEqual({
      data: {
        type: "boxes",
        attributes: { name: "lower", open: false },
        relationships: { shelf: { data: null }, items: { data: [{ type: "items", id: "i-1" }] } },
      },
    })
  })
})

test("encode returns a value of another type unchanged", () => {
  const schema = z.object({ list: z.array(z.string()), flag: z.boolean().optional() })
  expect(encode(schema, { list: "no list", flag: 3, unknown: true })).toEqual({ list: "no list", flag: 3 })
})

const parcel = document("parcels", {
  id: z.custom<string>(),
  nullableAttributes: true,
  attributes: {
    note: withDefault(z.string().nullable(), null, { input: ruled(upperCase), rule }),
    fragile: withDefault(z.boolean(), false, { rule }),
    origin: withDefault(
      dashedObject<{ cityName: string | null }>({ cityName: orDefault(z.string(), null) }).nullable(),
      null,
      {
        rule,
      },
    ),
    sentAt: readOnly(instant, { rule }),
    receivedAt: readOnly(absentAsNull(instant), { rule }),
  },
  relationships: {
    boxId: writable(one<string>("boxes"), {
      input: requiredOneInput<string>("boxes"),
      required: true,
      wireName: "box",
      rule,
      related: ({ boxId }: { readonly boxId: string }) => `/boxes/${boxId}`,
    }),
  },
})
const sentParcel = (attributes: unknown) => ({
  data: { type: "parcels", attributes, relationships: { box: { data: { type: "boxes", id: "box-1" } } } },
})

describe("a document with defaults", () => {
  const defaults = { note: null, fragile: false, origin: null, boxId: "box-1" }

  test("sets defaults of members that a creation omits or sends as null", () => {
    expect(parcel.input.decode(sentParcel(undefined))).toEqual(defaults)
    expect(parcel.input.decode(sentParcel(null))).toEqual(defaults)
    expect(parcel.input.decode(sentParcel({ note: null, fragile: true, origin: { "city-name": null } }))).toEqual({
      ...defaults,
      fragile: true,
      origin: { cityName: null },
    })
    expect(faultsOf(() => parcel.input.decode(sentParcel({ note: "a", fragile: 1 })))).toEqual([
      ["/data/attributes/note", "Name must be upper case"],
      ["/data/attributes/fragile", "fragile must be a boolean"],
    ])
    expect(faultsOf(() => parcel.input.decode(sentParcel({ origin: { "city-name": "\0" } })))).toEqual([
      ["/data/attributes/origin/city-name", expect.any(String)],
    ])
  })

  test("requires a required relationship", () => {
    expect(faultsOf(() => parcel.input.decode({ data: { type: "parcels" } }))).toEqual([
      ["/data/relationships", "relationships can't be blank"],
    ])
    const relationships = { box: { data: null } }
    expect(faultsOf(() => parcel.input.decode({ data: { type: "parcels", relationships } }))).toEqual([
      ["/data/relationships/box/data", "data must be an object"],
    ])
  })

  test("encodes instants, omits absent members, and links to related resources", () => {
    const sent = { id: "p-1", note: null, fragile: false, origin: null, sentAt: 0, receivedAt: null, boxId: "box-1" }
    const encoded = parcel.encode(sent)
    expect(encoded).toEqual({
      id: "p-1",
      type: "parcels",
      attributes: { note: null, fragile: false, origin: null, "sent-at": "1970-01-01T00:00:00.000Z" },
      relationships: { box: { data: { type: "boxes", id: "box-1" }, links: { related: "/boxes/box-1" } } },
    })
    expect(parcel.decode(encoded)).toEqual(sent)
    expect(parcel.decode(parcel.encode({ ...sent, receivedAt: 1 })).receivedAt).toBe(1)
    expect(() => parcel.decode({ ...encoded, attributes: { ...encoded.attributes, "sent-at": "soon" } })).toThrow(
      "parcels.sent-at is not a timestamp",
    )
  })
})

test("a plain body is decoded with its own schema", () => {
  const remark = plainBody(z.object({ remark: z.string() }), () => "/remark")
  expect(remark.decode({ remark: "a" })).toEqual({ remark: "a" })
  expect(remark.encode({ remark: "a" })).toEqual({ remark: "a" })
  expect(faultsOf(() => remark.decode({ remark: 1 }))).toEqual([["/remark", "remark must be a string"]])
})

describe("a document whose requests differ from its answers", () => {
  const crate = document("crates", {
    id: z.custom<string>(),
    self: (id, { ownerName }) => `/${String(ownerName)}/crates/${id}`,
    sentTypes: { names: ["crate", "crates"], optional: true },
    attributes: {
      label: writable(z.string(), { input: nullAsEmpty(z.string()), rule }),
      note: writable(absentAsNull(z.string()), { rule, input: z.string() }),
      shelfId: alias("shelfId", z.string().nullable(), { input: emptyAsNull(z.string()), writeOnly: true, rule }),
      openedAt: writable(instant.nullable(), { input: instantInput.nullable(), rule }),
      sealed: constant(false, { rule }),
    },
    relationships: {
      ownerName: immutable(one<string>("users"), {
        input: requiredOneInput<string>("users"),
        wireName: "owner",
        rule,
      }),
      shelfId: writable(oneOrNull<string>("shelves"), { input: oneInput<string>("shelves"), wireName: "shelf", rule }),
    },
  })
  const sentCrate = (attributes: object, relationships: object = {}, type?: string) => ({
    data: { ...(type !== undefined && { type }), attributes, relationships },
  })
  const shelf = (id: string | null) => ({ shelf: { data: id === null ? null : { type: "shelves", id } } })

  test.each([undefined, "", "crate", "crates"])("accepts the type %j", (type) => {
    expect(crate.patch.decode(sentCrate({ label: "A" }, {}, type))).toEqual({ label: "A" })
  })

  test("lists the accepted types in a fault", () => {
    expect(faultsOf(() => crate.patch.decode(sentCrate({}, {}, "boxes")))).toEqual([
      ["/data/type", 'type must be "crate" or "crates"'],
    ])
  })

  test("prefers a relationship, even null, to its alias among the attributes", () => {
    expect(crate.patch.decode(sentCrate({ "shelf-id": "s-1" }))).toEqual({ shelfId: "s-1" })
    expect(crate.patch.decode(sentCrate({ "shelf-id": "" }))).toEqual({ shelfId: null })
    expect(crate.patch.decode(sentCrate({ "shelf-id": "s-1" }, shelf(null)))).toEqual({ shelfId: null })
    expect(crate.patch.decode(sentCrate({ "shelf-id": "s-1" }, shelf("s-2")))).toEqual({ shelfId: "s-2" })
    expect(crate.input.names).toEqual({ ownerName: "owner", shelfId: "shelf" })
  })

  test("ignores immutable members of a patch", () => {
    const owner = { owner: { data: { type: "users", id: "ada" } } }
    expect(crate.input.decode(sentCrate({}, owner))).toEqual({ ownerName: "ada" })
    expect(crate.patch.decode(sentCrate({}, owner))).toEqual({})
    expect(crate.patch.decode(sentCrate({}, { owner: 7 }))).toEqual({})
  })

  const crateView: ReturnType<typeof crate.decode> = {
    id: "c-1",
    label: "A",
    note: null,
    openedAt: 0,
    ownerName: "ada",
    shelfId: null,
  }

  test("has constants, but no write-only alias and no absent member", () => {
    const encoded = crate.encode(crateView)
    expect(encoded).toEqual({
      id: "c-1",
      type: "crates",
      attributes: { label: "A", "opened-at": "1970-01-01T00:00:00.000Z", sealed: false },
      relationships: {
        owner: { data: { type: "users", id: "ada" } },
        shelf: { data: null },
      },
      links: { self: "/ada/crates/c-1" },
    })
    expect(crate.decode(encoded)).toEqual(crateView)
  })

  test("decodes null as the empty string, and rejects invalid instants", () => {
    expect(crate.patch.decode(sentCrate({ label: null, "opened-at": "1970-01-01T00:00:01Z" }))).toEqual({
      label: "",
      openedAt: 1_000,
    })
    expect(faultsOf(() => crate.patch.decode(sentCrate({ "opened-at": "noon" })))).toEqual([
      ["/data/attributes/opened-at", "opened-at must be an ISO 8601 timestamp with a time zone"],
    ])
  })

  test("is converted to a view with another structure", () => {
    const nested = mapped(crate, {
      from: ({ place, ...view }: { readonly place: { readonly shelfId: string | null } } & typeof others) => ({
        ...view,
        ...place,
      }),
      to: ({ shelfId, ...view }) => ({ ...view, place: { shelfId } }),
    })
    const { shelfId, ...others } = crateView
    expect(nested.decode(nested.encode({ ...others, place: { shelfId } }))).toEqual({ ...others, place: { shelfId } })
    const body = mappedBody(crate.patch, {
      from: ({ shout }: { readonly shout?: string }) => ({ label: shout?.toLowerCase() ?? "" }),
      to: ({ label }) => ({ shout: label?.toUpperCase() ?? "" }),
    })
    expect(body.decode(body.encode({ shout: "A" }))).toEqual({ shout: "A" })
  })
})

test("a salvaged request contains the valid members and the faults of the others", () => {
  const { patch } = document("lids", {
    id: z.custom<string>(),
    salvaged: true,
    attributes: { name: writable(z.string(), { rule }), wide: writable(z.boolean(), { rule }) },
    relationships: {},
  })
  expect(patch.decode({ data: { type: "lids", attributes: { name: "A", wide: true } } })).toEqual({
    name: "A",
    wide: true,
  })
  expect(patch.decode({ data: { type: "lids", attributes: { name: "A", wide: 1 } } })).toEqual({
    name: "A",
    faults: [{ detail: "wide must be a boolean", pointer: "/data/attributes/wide" }],
  })
})

test("a list of resources with members has the index of each fault in its pointers", () => {
  const body = elements("pairs", z.object({ attributes: z.object({ key: z.string() }) }))
  const pairs = [{ attributes: { key: "a" } }, { attributes: { key: "b" } }]
  expect(body.encode(pairs)).toEqual({ data: pairs.map((pair) => ({ type: "pairs", ...pair })) })
  expect(body.decode(body.encode(pairs))).toEqual(pairs)
  expect(faultsOf(() => body.decode({ data: [{ type: "pairs", attributes: { key: 1 } }, { type: "x" }] }))).toEqual([
    ["/data/0/attributes/key", "key must be a string"],
    ["/data/1/type", 'type must be "pairs"'],
    ["/data/1/attributes", "attributes can't be blank"],
  ])
})
