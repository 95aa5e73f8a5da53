import { expect, test } from "vitest"
import { conditional, contract, entries, file, keysUpTo, response, warnings } from "../../contracts/vault/endpoint.ts"
import { bodyOf, fields, parameter } from "../../contracts/vault/record.ts"
import { text } from "../../contracts/vault/types.ts"
import { implement } from "./implement.ts"
import { raw, type SystemRequest } from "./vault-route.ts"

const comment = fields<{ readonly note: string }>({ note: parameter(text, "A note.", { wireName: "comment" }) })
const shape = { summary: "Answers.", rights: "read" } as const
const things = contract({
  list: {
    ...shape,
    operation: "list",
    path: "/things",
    answers: entries<{ readonly id: string; readonly note: string }>({
      key: ({ id }) => id,
      table: comment,
      encode: ({ note }) => ({ comment: note }),
      decode: (id, info) => ({ id, note: (info as { readonly comment: string }).comment }),
    }),
  },
  names: { ...shape, operation: "list", path: "/names", answers: keysUpTo(1, (key) => key) },
  der: { ...shape, operation: "read", path: "/things/:id/der", open: true, answers: conditional(file("text/plain")) },
  rename: {
    ...shape,
    operation: "write",
    path: "/things/:id",
    body: bodyOf(comment),
    answers: warnings,
    wireNames: { source: "type" },
  },
  page: { ...shape, operation: "read", path: "/page", answers: response("text/html") },
})
const version = { tag: "a", modifiedAt: 0 }
const routes = implement(things, {
  list: async () => [{ id: "one", note: "first" }],
  names: async () => ["one"],
  der: async (_request: SystemRequest, id) => (id === "none" ? undefined : { value: `bytes of ${id}`, version }),
  rename: async (_request, id, { note = "" }) => [`${id} is ${note} now`],
  page: async () => raw("<p>", "text/html"),
})

function routeAt(path: string) {
  const route = routes.find((one) => one.path === path)
  if (route === undefined) throw new Error(`no route ${path}`)
  return route
}
const ask = (path: string, params: Readonly<Record<string, string>> = {}, headers = new Headers()) =>
  routeAt(path).handle({
    params,
    headers,
    dialect: "native",
    server: { now: () => 1 },
    decode: () => ({ note: "named" }),
  } as unknown as SystemRequest)

test("implement answers lists with key_info, and warns when a list may be truncated", async () => {
  expect(await ask("/things")).toMatchObject({ data: { keys: ["one"], key_info: { one: { comment: "first" } } } })
  expect(await ask("/names")).toMatchObject({ warnings: [expect.stringMatching(/^at most 1 entries are listed/)] })
})

test("implement answers bytes conditionally, and 204 when there are none", async () => {
  expect(await ask("/things/:id/der", { id: "one" })).toMatchObject({
    kind: "raw",
    status: 200,
    body: "bytes of one",
    headers: { etag: '"a"', "content-type": "text/plain" },
  })
  const known = new Headers({ "if-none-match": '"a"' })
  expect(await ask("/things/:id/der", { id: "one" }, known)).toMatchObject({ status: 304, body: "" })
  expect(await ask("/things/:id/der", { id: "none" })).toEqual({ kind: "none", warnings: [] })
})

test("implement passes warnings, responses of handlers, and the names of members to the route", async () => {
  expect(await ask("/things/:id", { id: "one" })).toEqual({ kind: "none", warnings: ["one is named now"] })
  expect(await ask("/page")).toMatchObject({ kind: "raw", body: "<p>" })
  expect(routeAt("/things/:id").wireNames).toEqual({ note: "comment", source: "type" })
  expect(routeAt("/things/:id/der").open).toBe(true)
})
