// Bulk actions: what is asked for as a document, beside filters in the query; what comes of it as a document or line by line.
import { z } from "zod"
import { type EngineError, unavailable } from "../../core/errors.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import type { BulkAction, BulkRequest, BulkResult } from "../../workspaces/bulk-action.ts"
import { decodeDocument } from "./document.ts"
import { decodeError, decodeRefusal, encodeError, encodeRefusal } from "./errors.ts"
import { encodeLock, lockShape, ttlOf } from "../../contracts/tfe/workspace.ts"

export const linesMediaType = "application/x-ndjson"
export const keyHeader = "idempotency-key"
const type = "bulk-actions"

const common = { all: z.boolean().nullish(), "dry-run": z.boolean().nullish() }
const tags = z.array(z.string())
const binding = z.object({ key: z.string(), value: z.string().nullish() })
const attributesSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("lock"), ...lockShape, ...common }),
  z.object({ action: z.literal("unlock"), ...common }),
  z.object({ action: z.literal("tag"), tags, ...common }),
  z.object({ action: z.literal("untag"), tags, ...common }),
  z.object({ action: z.literal("bind"), bindings: z.array(binding), ...common }),
  z.object({ action: z.literal("move"), project: z.string(), ...common }),
  z.object({ action: z.literal("safe-delete"), ...common }),
])

/** Without what stands elsewhere: the filters, the owner, the key. */
export function decodeBulkRequest(body: unknown): Pick<BulkRequest, "action" | "all" | "dryRun"> {
  const schema = z.object({ attributes: attributesSchema })
  const { attributes } = decodeDocument(body, schema, { types: [type], typeOptional: true })
  return {
    action: actionOf(attributes),
    all: attributes.all ?? false,
    dryRun: attributes["dry-run"] ?? false,
  }
}

function actionOf(attributes: z.infer<typeof attributesSchema>): BulkAction {
  switch (attributes.action) {
    case "lock":
      return { kind: "lock", reason: attributes.reason ?? "", ...ttlOf(attributes.ttl) }
    case "tag":
    case "untag":
      return { kind: attributes.action, tags: attributes.tags }
    case "bind":
      return { kind: "bind", bindings: attributes.bindings.map(({ key, value }) => ({ key, value: value ?? "" })) }
    case "move":
      return { kind: "move", projectId: attributes.project }
    case "unlock":
    case "safe-delete":
      return { kind: attributes.action }
    default:
      return attributes satisfies never
  }
}

export const encodeBulkRequest = ({ action, all = false, dryRun = false }: BulkRequest) => ({
  data: { type, attributes: { action: action.kind, ...membersOf(action), all, "dry-run": dryRun } },
})

function membersOf(action: BulkAction): object {
  switch (action.kind) {
    case "lock":
      return encodeLock(action)
    case "tag":
    case "untag":
      return { tags: action.tags }
    case "bind":
      return { bindings: action.bindings }
    case "move":
      return { project: action.projectId }
    case "unlock":
    case "safe-delete":
      return {}
    default:
      return action satisfies never
  }
}

const encodeResult = ({ workspaceId, name, outcome, refusal }: BulkResult) => ({
  id: workspaceId,
  type: "workspaces",
  name,
  outcome,
  ...(refusal === undefined ? {} : { error: encodeRefusal(refusal) }),
})

/** How many of each outcome. */
interface Tally {
  done: number
  unchanged: number
  refused: number
}

function count(tally: Tally, results: readonly BulkResult[]): void {
  for (const { outcome } of results) tally[outcome] += 1
}

const encodeTally = ({ done, unchanged, refused }: Tally) => ({
  "done-count": done,
  "unchanged-count": unchanged,
  "refused-count": refused,
})

interface BulkAnswer {
  readonly id: string
  readonly totalCount: number
  readonly results: AsyncIterable<readonly BulkResult[]>
}

/** The text of one JSON:API document, which ends when everything is done. It is cut off where something fails on the way. */
export async function* encodeBulkDocument(
  { id, totalCount, results }: BulkAnswer,
  { action, dryRun = false }: Pick<BulkRequest, "action" | "dryRun">,
): AsyncGenerator<string> {
  const tally: Tally = { done: 0, unchanged: 0, refused: 0 }
  const head = { action: action.kind, "dry-run": dryRun, "total-count": totalCount }
  yield `{"data":{"id":${JSON.stringify(id)},"type":"${type}","attributes":{${inner(head)},"results":[`
  let isFirst = true
  for await (const part of results) {
    count(tally, part)
    yield `${isFirst ? "" : ","}${part.map((result) => JSON.stringify(encodeResult(result))).join(",")}`
    isFirst = false
  }
  yield `],${inner(encodeTally(tally))}}}}`
}

const inner = (members: object): string => JSON.stringify(members).slice(1, -1)

/** One JSON document a line: what was found, the results of every part as it is done, and what it came to. */
export async function* encodeBulkLines({ id, totalCount, results }: BulkAnswer): AsyncGenerator<string> {
  const tally: Tally = { done: 0, unchanged: 0, refused: 0 }
  yield line({ id, "total-count": totalCount })
  for await (const part of results) {
    count(tally, part)
    yield line({ "completed-count": tally.done + tally.unchanged + tally.refused, results: part.map(encodeResult) })
  }
  yield line({ "total-count": totalCount, ...encodeTally(tally) })
}

/** Where it cannot go on: the last line. */
export const encodeBulkFailure = (error: EngineError): string => line(encodeError(error))

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const countSchema = z.int().nonnegative()
const headSchema = z.object({ id: z.string(), "total-count": countSchema })
const resultSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  outcome: z.enum(["done", "unchanged", "refused"]),
  error: z.unknown().optional(),
})
const lineSchema = z.union([
  z.object({ results: z.array(resultSchema) }),
  z.object({ errors: z.array(z.object({ status: z.string() })) }),
  z.object({ "done-count": countSchema }),
])

export function decodeBulkHead(text: string): { readonly id: string; readonly totalCount: number } {
  const { id, "total-count": totalCount } = readLine(text, headSchema)
  return { id, totalCount }
}

/** The results in a line after the first; undefined of the last. Throws what the server could not go on for. */
export function decodeBulkLine(text: string): readonly BulkResult[] | undefined {
  const read = readLine(text, lineSchema)
  if ("errors" in read) throw decodeError(Number(read.errors[0]?.status ?? 500), JSON.parse(text))
  if (!("results" in read)) return undefined
  return read.results.map(({ id, name, outcome, error }) => ({
    workspaceId: id as WorkspaceId,
    name,
    outcome,
    ...(error === undefined ? {} : { refusal: decodeRefusal(error) }),
  }))
}

function readLine<T>(text: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unavailable("The server's answer cannot be read: a line is not JSON.", error)
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw unavailable("The server's answer cannot be read: a line is not what it should be.")
  return parsed.data
}
