import { expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile } from "../../../testing/state-file.ts"

const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
const hostile: readonly unknown[] = [
  null,
  -1,
  1.5,
  1e300,
  "",
  "\0",
  "\ud800",
  "x".repeat(100_000),
  [],
  {},
  [null],
  { data: null },
  { id: "\0" },
  nested(5_000),
]

const subjects = [
  {
    path: "/workspaces/:workspace/state-versions",
    type: "state-versions",
    good: { serial: 1, md5: stateFile().md5, lineage: "lineage-1" },
    others: ["state", "json-state", "json-state-outputs", "force", "intermediate"],
  },
  { path: "/runs", type: "runs", good: { message: "x" }, others: ["is-destroy", "auto-apply", "plan-only"] },
  { path: "/runs/:run/actions/transition", type: "runs", good: { status: "fetching" }, others: ["has-changes"] },
  {
    path: "/workspaces/:workspace/configuration-versions",
    type: "configuration-versions",
    good: { readme: "#" },
    others: ["speculative", "provisional", "auto-queue-runs", "ingress-attributes"],
  },
  {
    path: "/workspaces/:workspace/vars",
    type: "vars",
    good: { key: "k", category: "env" },
    others: ["value", "description", "hcl", "sensitive"],
  },
  {
    path: "/workspaces/:workspace/assessment-results",
    type: "assessment-results",
    good: { drifted: true, succeeded: true },
    others: ["error-msg"],
  },
  {
    path: "/organizations/acme/oauth-clients",
    type: "oauth-clients",
    good: {
      "service-provider": "github",
      "http-url": "https://github.com",
      "api-url": "https://api.github.com",
      "oauth-token-string": "t",
    },
    others: ["name"],
  },
  {
    path: "/organizations/acme/github-app/installations",
    type: "github-app-installations",
    good: { name: "acme", "installation-id": 1 },
    others: [],
  },
] as const

test.each(subjects)("$path answers no hostile document with 5xx", async (subject) => {
  await using testEngine = await populatedEngine()
  const workspace = await testEngine.workspace("web")
  const relationships = { workspace: { data: { type: "workspaces", id: workspace } } }
  const made = await testEngine.request("POST", "/runs", { body: { data: { type: "runs", relationships } } })
  await testEngine.request("POST", `/workspaces/${workspace}/actions/lock`)
  const path = subject.path.replace(":workspace", workspace).replace(":run", made.body.data.id)
  const { type, good, others } = subject
  const documents = hostile.flatMap((value) => [
    value,
    { data: value },
    { data: { type: value, attributes: good, relationships } },
    { data: { type, attributes: value, relationships } },
    { data: { type, attributes: good, relationships: value } },
    { data: { type, attributes: good, relationships: { workspace: value, run: value } } },
    { data: { type, attributes: good, relationships: { ...relationships, run: { data: value } } } },
    { data: { type, attributes: good, relationships: { ...relationships, "configuration-version": { data: value } } } },
    ...[...Object.keys(good), ...others].map((member) => ({
      data: { type, attributes: { ...good, [member]: value }, relationships },
    })),
  ])
  const failures = []
  for (const document of documents) {
    const body = JSON.stringify(document)
    const { status } = await testEngine.request("POST", path, { body })
    if (status >= 500) failures.push([status, body.slice(0, 200)])
  }
  expect(failures).toEqual([])
})

const identified = [
  "/state-versions/:id",
  "/state-versions/:id/download",
  "/state-versions/:id/outputs",
  "/state-version-outputs/:id",
  "/workspaces/:id/state-versions",
  "/workspaces/:id/current-state-version",
  "/runs/:id",
  "/plans/:id",
  "/applies/:id",
  "/workspaces/:id/runs",
  "/configuration-versions/:id",
  "/configuration-versions/:id/ingress-attributes",
  "/workspaces/:id/readme",
  "/workspaces/:id/vars",
  "/assessment-results/:id",
  "/oauth-clients/:id",
  "/oauth-tokens/:id",
  "/github-app/installations/:id",
]
const hostileIds = ["%00", "%ED%A0%80", "%25_'", "__proto__", "a".repeat(5_000), "%2F"]
const hostileValues = ["", "%00", "%ED%A0%80", ",,,", "1e3", "-1", "99999999999999999999", "a".repeat(5_000)]
const parameters = ["filter%5Bstatus%5D", "page%5Bnumber%5D", "page%5Bsize%5D", "include"]

test("no hostile id and no hostile parameter is answered with 5xx", async () => {
  await using testEngine = await populatedEngine()
  const workspace = await testEngine.workspace("web")
  const listed = ["state-versions", "runs", "configuration-versions", "vars", "assessment-results"]
  const addresses = [
    ...identified.flatMap((path) => hostileIds.map((id) => path.replace(":id", id))),
    ...listed.flatMap((list) =>
      parameters.flatMap((name) => hostileValues.map((value) => `/workspaces/${workspace}/${list}?${name}=${value}`)),
    ),
    ...hostileValues.map((value) => `/state-versions?filter[organization][name]=${value}&filter[workspace][name]=x`),
    ...hostileValues.map((value) => `http://chancery.test/uploads/state-versions/sv-1/state?credential=${value}`),
  ]
  const failures = []
  for (const address of addresses) {
    const method = address.startsWith("http") ? "PUT" : "GET"
    const { status } = await testEngine.request(method, address, method === "PUT" ? { token: null, body: "{}" } : {})
    if (status >= 500) failures.push([status, address.slice(0, 200)])
  }
  expect(failures).toEqual([])
})
