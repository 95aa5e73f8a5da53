// Actions on many workspaces (docs/bulk.md). The answer is streamed, as one document or as lines of JSON.
import { z } from "zod"
import { type EngineError, unavailable } from "../../core/errors.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import { decodeDocument } from "./json-api/document.ts"
import { attributePointers, decodeError, decodeItemError, encodeError, encodeItemError } from "./json-api/errors.ts"
import type { BulkAction, BulkRequest, BulkResult } from "../../workspaces/bulk/bulk-action.ts"
import { type Body, type Definition, readOnly, secret } from "./document.ts"
import { type Answer, contract } from "./endpoint.ts"
import { encodeLock, lockMembers, lockShape, ttlOf, workspaceFilters } from "./workspace.ts"

export const linesMediaType = "application/x-ndjson"
export const keyHeader = "Idempotency-Key"
const type = "bulk-actions"

const kinds = [
  "lock",
  "unlock",
  "tag",
  "untag",
  "bind",
  "move",
  "safe-delete",
] as const satisfies readonly BulkAction["kind"][]
const outcomes = ["done", "unchanged", "refused"] as const satisfies readonly BulkResult["outcome"][]
const count = z.int().nonnegative()
const flag = z.boolean().nullish()
const resultSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  outcome: z.enum(outcomes),
  error: z.unknown().optional(),
})

const attributes = {
  action: {
    ...readOnly(z.enum(kinds), { rule: `Action: ${kinds.join(", ")}.`, example: "lock" }),
    input: z.enum(kinds),
    required: true,
  },
  reason: { ...lockMembers.reason, rule: `Of lock. ${lockMembers.reason.rule}` },
  ttl: { ...lockMembers.ttlMs, rule: "Of lock: time until it expires, as seconds or a duration such as 15m." },
  tags: secret(z.array(z.string()) as z.ZodType<string[]>, {
    rule: "Of tag and untag: names of 1 to 100 flat tags.",
    example: ["production"],
  }),
  bindings: secret(z.array(z.object({ key: z.string(), value: z.string().nullish() })), {
    rule: "Of bind: 1 to 100 keys, and values, which are empty by default.",
    example: [{ key: "env", value: "production" }],
  }),
  project: secret(z.string(), { rule: "Of move: id of the project.", example: "prj-nLb7Ww2xTpPHUxSK" }),
  all: {
    ...secret(flag, { rule: "Must be true if no filter is given, and only then.", default: false }),
    example: true,
  },
  dryRun: {
    ...readOnly(z.boolean(), { rule: "Report what would be done, and do nothing.", default: false }),
    input: flag,
    example: true,
  },
  totalCount: readOnly(count, { rule: "Number of workspaces found, at most 20000." }),
  results: readOnly(z.array(resultSchema.extend({ type: z.literal("workspaces") })), {
    rule: "For each workspace its id, type, name, outcome (done, unchanged or refused) and, if it was refused, the error.",
  }),
  doneCount: readOnly(count, { rule: "Number of workspaces that were changed." }),
  unchangedCount: readOnly(count, { rule: "Number of workspaces that were so before." }),
  refusedCount: readOnly(count, { rule: "Number of workspaces that were refused." }),
} satisfies Definition["attributes"]
export const bulkAction: Definition = { type, attributes, relationships: {} }

const common = { all: attributes.all.input, "dry-run": attributes.dryRun.input }
const tags = attributes.tags.input
const attributesSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("lock"), ...lockShape, ...common }),
  z.object({ action: z.literal("unlock"), ...common }),
  z.object({ action: z.literal("tag"), tags, ...common }),
  z.object({ action: z.literal("untag"), tags, ...common }),
  z.object({ action: z.literal("bind"), bindings: attributes.bindings.input, ...common }),
  z.object({ action: z.literal("move"), project: attributes.project.input, ...common }),
  z.object({ action: z.literal("safe-delete"), ...common }),
])

type RequestedAction = Pick<BulkRequest, "action" | "all" | "dryRun">
export const bulkRequest: Body<RequestedAction> = {
  decode(body) {
    const schema = z.object({ attributes: attributesSchema })
    const { attributes: sent } = decodeDocument(body, schema, { types: [type], typeOptional: true })
    return { action: actionOf(sent), all: sent.all ?? false, dryRun: sent["dry-run"] ?? false }
  },
  encode: ({ action, all = false, dryRun = false }) => ({
    data: { type, attributes: { action: action.kind, ...membersOf(action), all, "dry-run": dryRun } },
  }),
  pointers: attributePointers(),
  names: {},
  describes: { document: bulkAction, creates: true },
}

function actionOf(sent: z.infer<typeof attributesSchema>): BulkAction {
  switch (sent.action) {
    case "lock":
      return { kind: "lock", reason: sent.reason ?? "", ...ttlOf(sent.ttl) }
    case "tag":
    case "untag":
      return { kind: sent.action, tags: sent.tags }
    case "bind":
      return { kind: "bind", bindings: sent.bindings.map(({ key, value }) => ({ key, value: value ?? "" })) }
    case "move":
      return { kind: "move", projectId: sent.project }
    case "unlock":
    case "safe-delete":
      return { kind: sent.action }
    default:
      return sent satisfies never
  }
}

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
  ...(refusal === undefined ? {} : { error: encodeItemError(refusal) }),
})

/** Number of workspaces by outcome. */
type Tally = Record<BulkResult["outcome"], number>

function add(tally: Tally, results: readonly BulkResult[]): void {
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

/** Yields the text of one JSON:API document in chunks. The document is truncated if something fails. */
export async function* encodeBulkDocument(
  { id, totalCount, results }: BulkAnswer,
  { action, dryRun = false }: Pick<BulkRequest, "action" | "dryRun">,
): AsyncGenerator<string> {
  const tally: Tally = { done: 0, unchanged: 0, refused: 0 }
  const head = { action: action.kind, "dry-run": dryRun, "total-count": totalCount }
  yield `{"data":{"id":${JSON.stringify(id)},"type":"${type}","attributes":{${inner(head)},"results":[`
  let isFirst = true
  for await (const part of results) {
    add(tally, part)
    yield `${isFirst ? "" : ","}${part.map((result) => JSON.stringify(encodeResult(result))).join(",")}`
    isFirst = false
  }
  yield `],${inner(encodeTally(tally))}}}}`
}

const inner = (members: object): string => JSON.stringify(members).slice(1, -1)

/** Yields lines of JSON: the number of workspaces, the results of each chunk, and the counts of outcomes. */
export async function* encodeBulkLines({ id, totalCount, results }: BulkAnswer): AsyncGenerator<string> {
  const tally: Tally = { done: 0, unchanged: 0, refused: 0 }
  yield line({ id, "total-count": totalCount })
  for await (const part of results) {
    add(tally, part)
    yield line({ "completed-count": tally.done + tally.unchanged + tally.refused, results: part.map(encodeResult) })
  }
  yield line({ "total-count": totalCount, ...encodeTally(tally) })
}

/** Encodes the last line of an action that fails. */
export const encodeBulkFailure = (error: EngineError): string => line(encodeError(error))

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const headSchema = z.object({ id: z.string(), "total-count": count })
const lineSchema = z.union([
  z.object({ results: z.array(resultSchema) }),
  z.object({ errors: z.array(z.object({ status: z.string() })) }),
  z.object({ "done-count": count }),
])

export function decodeBulkHead(text: string): { readonly id: string; readonly totalCount: number } {
  const { id, "total-count": totalCount } = readLine(text, headSchema)
  return { id, totalCount }
}

/** Returns the results in a line after the first, and undefined for the last. Throws the error that ended the action. */
export function decodeBulkLine(text: string): readonly BulkResult[] | undefined {
  const read = readLine(text, lineSchema)
  if ("errors" in read) throw decodeError(Number(read.errors[0]?.status ?? 500), JSON.parse(text))
  if (!("results" in read)) return undefined
  return read.results.map(({ id, name, outcome, error }) => ({
    workspaceId: id as WorkspaceId,
    name,
    outcome,
    ...(error === undefined ? {} : { refusal: decodeItemError(error) }),
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
  if (!parsed.success) throw unavailable("The server's answer cannot be read: a line has an unexpected structure.")
  return parsed.data
}

const streamed: Answer<never> = { status: 200, document: bulkAction }

export const bulkActions = contract({
  run: {
    method: "POST",
    path: "/organizations/:organization_name/workspaces/actions/bulk",
    summary:
      "Does one action to each workspace that the filters find. With Accept: application/x-ndjson, the answer is lines of JSON as they come.",
    rights: "Those of the action, on each workspace.",
    query: workspaceFilters,
    headers: {
      [keyHeader]: {
        rule: "1 to 128 printable ASCII characters. The same request with the same key goes on where it stopped, or returns the same results.",
        example: "0b2f6a9e",
      },
    },
    body: bulkRequest,
    owned: true,
    answers: streamed,
  },
})
