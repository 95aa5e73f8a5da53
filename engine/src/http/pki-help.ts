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
export const pathHelp = (path: string, found: Described) =>
  helpOf(
    `Request:        ${path}\nMatching Route: ${templateOf(found)}\n\nOperations: ${operationsOf(found).join(", ")}\n`,
    [found],
  )

/** Where an address is none itself, and others begin with it. */
export function helpBelow(found: readonly Described[]) {
  const sorted = found.toSorted((one, other) => (one.pattern < other.pattern ? -1 : 1))
  const width = Math.max(...sorted.map((one) => templateOf(one).length))
  const lines = sorted.map((one) => `    ${templateOf(one).padEnd(width)}    ${operationsOf(one).join(", ")}`)
  return helpOf(`Paths, and the operations at each:\n\n${lines.join("\n")}\n`, sorted)
}

const operationsOf = ({ routes }: Described): readonly Operation[] => [...routes.keys()].toSorted()
const templateOf = ({ pattern }: Described): string => pattern.replaceAll(/[:*]([a-z_]+)/g, "{$1}")

const helpOf = (help: string, described: readonly Described[]) => ({
  help,
  see_also: [],
  openapi: {
    openapi: "3.0.2",
    info: { title: "Chancery", version: "1" },
    paths: Object.fromEntries(described.map((one) => [templateOf(one), pathOf(one)])),
  },
})

function pathOf(found: Described) {
  const parameters = [...found.pattern.matchAll(/[:*]([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }))
  const described = operationsOf(found).flatMap((operation) =>
    methods[operation].map((method) => [method, { summary: operation, responses: { 200: { description: "OK" } } }]),
  )
  return { ...(parameters.length === 0 ? {} : { parameters }), ...Object.fromEntries(described) }
}
