import { expect, test } from "vitest"
import { z } from "zod"
import { isEngineError } from "../../core/errors.ts"
import { pageOf, type PageRequest } from "../../core/page.ts"
import type { Writer } from "../../core/owner.ts"
import { document, identifiers, writable } from "../../contracts/tfe/document.ts"
import {
  contract,
  filledText,
  inclusionOfParts,
  nothing,
  pageOrAll,
  requiredText,
} from "../../contracts/tfe/endpoint.ts"
import { remote } from "../../client/remote-contract.ts"
import type { OutgoingRequest } from "../../client/transport.ts"
import { implement } from "./implement.ts"
import type { ApiRequest } from "./route.ts"

const rule = "For tests."
const box = document("boxes", {
  id: z.custom<string>(),
  attributes: { name: writable(z.string(), { rule }) },
  relationships: {},
})
const boxes = contract({
  list: {
    method: "GET",
    path: "/boxes",
    summary: "Lists.",
    rights: "Any token.",
    query: {
      hall: { parameter: "filter[hall]", schema: requiredText("filter[hall]"), required: true, rule },
      room: { parameter: "filter[room]", schema: requiredText("filter[room]"), required: true, rule },
      search: { parameter: "q", schema: filledText, rule },
      include: { parameter: "include", schema: inclusionOfParts("own_shelf"), rule },
      sizes: {
        parameter: "size",
        schema: z.array(z.string()).max(2, { error: "size has more than 2 values" }),
        several: {
          read: (query: URLSearchParams) =>
            query.has("size[0]") ? ["0", "1", "2"].flatMap((at) => query.getAll(`size[${at}]`)) : undefined,
          write: (sizes: readonly string[]) => sizes.map((size, at) => [`size[${at}]`, size] as const),
        },
        rule,
      },
    },
    answers: pageOrAll(box),
  },
  add: {
    method: "POST",
    path: "/boxes",
    summary: "Adds.",
    rights: "Any token.",
    body: identifiers("boxes"),
    owned: true,
    answers: nothing,
  },
})

const calls: unknown[] = []
const routes = implement(boxes, {
  async list(_request, query, page) {
    calls.push([query, page])
    return pageOf([{ id: "box-1", name: "A" }], page ?? { number: 1, size: 1 }, 1)
  },
  async add(_request, ids, writer) {
    calls.push([ids, writer])
  },
})

async function send({ method, path, query, document: body }: OutgoingRequest, headers = new Headers()) {
  const url = new URL(`https://chancery.example.com/api/v2${path}?${query?.toString() ?? ""}`)
  const request = { params: {}, query: url.searchParams, url, headers, body: async () => body }
  const route = routes.find((one) => one.method === method && one.path === path)
  return (await route?.handle(request as object as ApiRequest))?.document
}
const { list, add } = remote(boxes, { send: (request: OutgoingRequest) => send(request) } as never)

async function faultsOf(sent: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await sent.catch((reason: unknown) => reason)
  return isEngineError(error) ? error.faults.map(({ detail, parameter, header }) => [parameter ?? header, detail]) : []
}

const where = { hall: "west", room: "1" }

test.each<[PageRequest | undefined]>([[undefined], [{ number: 2, size: 5 }]])(
  "a list with optional pages receives the page %j",
  async (page) => {
    const { items } = await list({ ...where, include: ["own_shelf"] }, page)
    expect(items).toEqual([{ id: "box-1", name: "A" }])
    expect(calls.pop()).toEqual([{ ...where, include: ["own_shelf"] }, page])
  },
)

test("an empty parameter is absent, and include accepts dashes", async () => {
  const query = new URLSearchParams({ "filter[hall]": "west", "filter[room]": "1", q: "", include: "own-shelf" })
  await send({ method: "GET", path: "/boxes", query })
  expect(calls.pop()).toEqual([{ ...where, include: ["own_shelf"] }, undefined])
})

test("a value in several parameters is read, written and rejected as one", async () => {
  await list({ ...where, sizes: ["s", "m"] }, undefined)
  expect(calls.pop()).toEqual([{ ...where, sizes: ["s", "m"] }, undefined])
  expect(await faultsOf(list({ ...where, sizes: ["s", "m", "l"] }, undefined))).toEqual([
    ["size", "size has more than 2 values"],
  ])
})

test("a query is rejected with all faults at once", async () => {
  const query = new URLSearchParams({ "filter[hall]": "", include: "lid" })
  expect(await faultsOf(send({ method: "GET", path: "/boxes", query }))).toEqual([
    ["filter[hall]", "filter[hall] is required"],
    ["filter[room]", "filter[room] is required"],
    ["include", "Invalid include parameter; allowed values: own_shelf"],
  ])
})

test.each<[Writer | undefined, Writer]>([
  [undefined, {}],
  [{ owner: "stack" }, { owner: "stack" }],
])("an endpoint with an owner reads it from the document: %j", async (writer, received) => {
  await add(["box-1"], writer)
  expect(calls.pop()).toEqual([["box-1"], received])
})

test("an endpoint with an owner reads it from the header, and rejects another one in the document", async () => {
  const headers = new Headers({ "X-Chancery-Owner": "stack" })
  const body = identifiers("boxes").encode(["box-1"])
  await send({ method: "POST", path: "/boxes", document: body }, headers)
  expect(calls.pop()).toEqual([["box-1"], { owner: "stack" }])
  const other = { ...(body as object), meta: { owner: "script" } }
  expect(await faultsOf(send({ method: "POST", path: "/boxes", document: other }, headers))).toHaveLength(1)
})
