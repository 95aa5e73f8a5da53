import type { Operation } from "./pki-route.ts"

const methods: Readonly<Record<Operation, readonly string[]>> = {
  read: ["get"],
  list: ["get"],
  write: ["post", "put"],
  patch: ["patch"],
  delete: ["delete"],
}

interface Described {
  readonly pattern: string
  readonly routes: ReadonlyMap<Operation, unknown>
}

/** What `?help=1` answers: what can be done at an address (pki-facts 0.2). */
export function pathHelp(path: string, { pattern, routes }: Described) {
  const operations = [...routes.keys()].toSorted()
  const template = pattern.replaceAll(/[:*]([a-z_]+)/g, "{$1}")
  const parameters = [...pattern.matchAll(/[:*]([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }))
  const described = operations.flatMap((operation) =>
    methods[operation].map((method) => [method, { summary: operation, responses: { 200: { description: "OK" } } }]),
  )
  return {
    help: `Request:        ${path}\nMatching Route: ${template}\n\nOperations: ${operations.join(", ")}\n`,
    see_also: [],
    openapi: {
      openapi: "3.0.2",
      info: { title: "Chancery", version: "1" },
      paths: { [template]: { ...(parameters.length === 0 ? {} : { parameters }), ...Object.fromEntries(described) } },
    },
  }
}
