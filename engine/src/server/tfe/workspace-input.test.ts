// Every client input gets an answer that names the fault, never a server error.
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { queryOf } from "../../client/transport.ts"
import { parametersOf } from "../../client/remote-contract.ts"
import { workspace, workspaceFilters } from "../../contracts/tfe/workspace.ts"
import { decodeQuery } from "./implement.ts"
import { workspaceSortKeys } from "../../workspaces/workspace/workspace-query.ts"

let testEngine: PopulatedEngine
let id: string
beforeAll(async () => {
  testEngine = await populatedEngine()
  id = await testEngine.workspace("subject")
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const members = [
  "name",
  "description",
  "execution-mode",
  "operations",
  "agent-pool-id",
  "setting-overwrites",
  "assessments-enabled",
  "auto-apply",
  "auto-destroy-at",
  "auto-destroy-activity-duration",
  "file-triggers-enabled",
  "engine-version",
  "trigger-patterns",
  "trigger-prefixes",
  "vcs-repo",
  "working-directory",
  "source-url",
  "source-name",
]
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\0", "../..", "%", "𝕏", "ws-1", "1.5.0"),
)
const value = fc.oneof(
  fc.jsonValue(),
  text,
  fc.array(text, { maxLength: 3 }),
  fc.record({ identifier: text, "oauth-token-id": text, "tags-regex": text, branch: text }, { requiredKeys: [] }),
)
const attributes = fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 5 })
const relationships = fc.record(
  {
    project: fc.oneof(fc.jsonValue(), fc.record({ data: fc.record({ id: text }) })),
    "tag-bindings": fc.oneof(
      fc.jsonValue(),
      fc.record({ data: fc.array(fc.record({ attributes: fc.record({ key: text, value: text }) }), { maxLength: 3 }) }),
    ),
    tags: fc.oneof(
      fc.jsonValue(),
      fc.record({ data: fc.array(fc.record({ attributes: fc.record({ name: text }) }), { maxLength: 3 }) }),
    ),
  },
  { requiredKeys: [] },
)
const data = fc.oneof(
  fc.jsonValue(),
  fc.record({ type: fc.constant("workspaces"), attributes, relationships }, { requiredKeys: ["type"] }),
)

/** Returns true for a success, and for a client error with at least one error object of the same status. */
const isDecent = (status: number, body: unknown): boolean => {
  if (status < 400) return true
  const { errors } = body as { errors: readonly { status: unknown; title: unknown; detail: unknown }[] }
  return (
    status < 500 && errors.length > 0 && errors.every((error) => error.status === String(status) && error.detail !== "")
  )
}

test("any document at create and at update is accepted or rejected with error objects", async () => {
  await fc.assert(
    fc.asyncProperty(data, fc.boolean(), async (sent, creates) => {
      const [method, path] = creates
        ? (["POST", "/organizations/acme/workspaces"] as const)
        : (["PATCH", `/workspaces/${id}`] as const)
      const { status, body } = await testEngine.request(method, path, { body: { data: sent } })
      expect(isDecent(status, body)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test("any query of the list is answered or rejected with error objects", async () => {
  const names = [
    "page[number]",
    "page[size]",
    "search[name]",
    "search[tags]",
    "search[exclude-tags]",
    "search[wildcard-name]",
    "sort",
    "include",
    "filter[project][id]",
    "filter[current-run][status]",
    "filter[tagged][0][key]",
    "filter[tagged][0][value]",
    "filter[tagged][x][value]",
  ]
  const wellFormed = text.filter((part) => part.isWellFormed())
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), wellFormed, { maxKeys: 4 }), async (query) => {
      const { status, body } = await testEngine.request(
        "GET",
        `/organizations/acme/workspaces?${new URLSearchParams(query).toString()}`,
      )
      expect(isDecent(status, body)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test("an input that the remote engine encodes is decoded unchanged by the server", () => {
  const optional = { requiredKeys: [] as never[] }
  const input = fc.record(
    {
      name: fc.string(),
      description: fc.option(fc.string().filter((part) => !part.includes("\0"))),
      executionMode: fc.constantFrom("remote", "local", "agent"),
      settingOverwrites: fc.record({ executionMode: fc.boolean(), agentPool: fc.boolean() }, optional),
      autoApply: fc.boolean(),
      autoDestroyAt: fc.option(fc.integer({ min: 0, max: 4_000_000_000_000 })),
      triggerPatterns: fc.array(fc.string()),
      vcsRepo: fc.option(fc.record({ identifier: fc.string(), tagsRegex: fc.option(fc.string()) }, optional)),
      projectId: fc.option(fc.string()),
      tagBindings: fc.array(fc.record({ key: fc.string(), value: fc.string() })),
      tags: fc.array(fc.oneof(fc.record({ name: fc.string() }), fc.record({ id: fc.string({ minLength: 1 }) }))),
    },
    optional,
  )
  fc.assert(
    fc.property(input, (written) => {
      const read = workspace.patch.decode(JSON.parse(JSON.stringify(workspace.patch.encode(written))))
      const { projectId, ...rest } = written as { projectId?: string | null }
      // A null project and an absent project both mean "do not move".
      expect(read).toEqual({ ...rest, ...(projectId ? { projectId } : "projectId" in read ? { projectId } : {}) })
    }),
  )
})

test("a query that the remote engine encodes is decoded unchanged by the server", () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/)
  const words = fc.array(word, { minLength: 1, maxLength: 4 })
  const query = fc.record(
    {
      name: word,
      wildcardName: word.map((part) => `*${part}*`),
      tags: words,
      excludeTags: words,
      sort: fc.record({ key: fc.constantFrom(...workspaceSortKeys), descending: fc.boolean() }),
      projectId: word,
      currentRunStatus: words,
      tagged: fc.array(fc.record({ key: word, value: word }), { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(query, (written) => {
      const sent = queryOf(parametersOf(workspaceFilters, written))
      expect(decodeQuery(workspaceFilters, sent)).toEqual(written)
    }),
  )
})
