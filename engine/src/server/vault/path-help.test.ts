import { expect, test } from "vitest"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { role } from "../../contracts/vault/role.ts"
import type { ParameterTable } from "../../contracts/vault/format/parameters.ts"
import { authRoutes, pkiRoutes, systemRoutes } from "./vault-routes.ts"
import type { Operation } from "./vault-route.ts"

interface Listed {
  readonly operation: Operation
  readonly path: string
  readonly parameters?: readonly ParameterTable[]
  readonly handle: (request: never) => Promise<unknown>
}

const routes = ([...pkiRoutes, ...systemRoutes, ...Object.values(authRoutes).flat()] as readonly Listed[]).map(
  (route) => ({ name: `${route.operation} ${route.path}`, route }),
)

/** Returns a proxy whose every member and result is the proxy itself, so that handlers run as far as possible. */
function anything(): unknown {
  const self: unknown = new Proxy(() => undefined, {
    get: (_target, name) => (name === "then" || typeof name === "symbol" ? undefined : self),
    apply: () => self,
  })
  return self
}

/** Runs a handler on empty parameters, and returns the tables that it decodes. */
async function decodedBy({ handle }: Listed): Promise<ReadonlySet<ParameterTable>> {
  const tables = new Set<ParameterTable>()
  const decode = (table: ParameterTable) => {
    tables.add(table)
    return { token: "t", accessor: "a", secretId: "s", certificates: [] }
  }
  const request = {
    params: new Proxy(
      { type: "internal" },
      { get: (target, name) => (name in target ? Reflect.get(target, name) : "x") },
    ),
    headers: new Headers({ "x-service-token": "t" }),
    query: new URLSearchParams(),
    document: {},
    dialect: "native",
    decode,
    read: (table: ParameterTable) => ({ value: decode(table), faults: [], removed: [] }),
    rawMembers: () => new Map(),
    bytes: () => Promise.resolve(new Uint8Array()),
    engine: anything(),
    pki: anything(),
    mount: anything(),
    authMethod: { type: "approle", path: "x" },
    server: anything(),
  }
  // The handler may fail on the proxy; it decodes its tables before.
  await handle(request as never).catch(() => undefined)
  return tables
}

test.each(routes)("[F-P13] help of $name lists the parameters that its handler decodes", async ({ route }) => {
  expect(new Set(route.parameters)).toEqual(await decodedBy(route))
})

test("[F-P13] path help lists the parameters of a role by name and type, as Vault does", async () => {
  await using world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  const { status, body } = await world.pki("GET", "/pki/roles/web?help=1")
  expect(status).toBe(200)
  const [head, parameters] = (body.help as string).split("\n## PARAMETERS\n")
  expect(head).toMatch(/^Request: {8}roles\/web\nMatching Route: \/roles\/\{name\}\n/)
  const listed = parameters?.match(/^ {4}\w+ \(.+\)$/gm)?.map((line) => line.trim())
  const members = role.table.members.map(({ wireName, kind }) => `${wireName} (${kind.type})`)
  expect(listed).toEqual([...members, "name (string)"].toSorted())
  expect(parameters).toContain(
    [
      "    max_ttl (duration (sec))",
      "",
      "        Maximum lifetime. A longer ttl is cut to it, with a warning. 0s: the maximum of",
      '        the mount. Default: "0s". Must be a duration, such as 90, "90s", "1h30m" or',
      '        "7d".',
      "",
    ].join("\n"),
  )
  const { post, patch } = body.openapi.paths["/roles/{name}"]
  for (const content of [
    post.requestBody.content["application/json"],
    patch.requestBody.content["application/merge-patch+json"],
  ])
    expect(Object.keys(content.schema.properties)).toEqual(role.table.members.map(({ wireName }) => wireName))
  expect(post.requestBody.content["application/json"].schema.properties).toMatchObject({
    allow_any_name: { type: "boolean" },
    key_bits: { type: "integer" },
    ttl: { type: "string" },
    allowed_domains: { type: "array", items: { type: "string" } },
  })
})

test("[F-P13] help contains the query parameters of lists, and none for endpoints without parameters", async () => {
  await using world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  const list = (await world.pki("GET", "/pki/certs?help=1")).body
  expect(list.openapi.paths["/certs"].get.parameters.map(({ name }: { name: string }) => name)).toEqual([
    "after",
    "limit",
  ])
  const none = (await world.pki("GET", "/pki/crl/rotate?help=1")).body
  expect(none.help).not.toContain("PARAMETERS")
})
