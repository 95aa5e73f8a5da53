// Tests the direction rules: each rule is broken once in a generated tree, and must be reported.
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import directions from "../../.dependency-cruiser.cjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const depcruise = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs")

interface Breach {
  readonly rule: string
  readonly from: string
  /** A file of the tree, or a module name. */
  readonly to: string
  /** A file between the two, which `from` may import and which may import `to`. */
  readonly through?: string
  /** Imports values instead of types, for rules that allow type imports. */
  readonly imports?: "values"
}

const breaches: readonly Breach[] = [
  { rule: "core-imports-nothing", from: "engine/src/core/a.ts", to: "engine/src/organizations/target.ts" },
  { rule: "core-imports-nothing", from: "engine/src/core/b.ts", to: "semver" },
  { rule: "core-imports-nothing", from: "engine/src/core/c.ts", to: "node:fs" },
  { rule: "runtime-touches-the-platform-only", from: "engine/src/core/runtime.ts", to: "pino" },
  { rule: "domain-knows-no-outside", from: "engine/src/workspaces/a.ts", to: "engine/src/storage/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/organizations/b.ts", to: "engine/src/contracts/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/access/c.ts", to: "engine/src/server/http/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/pki/d.ts", to: "engine/src/client/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/acme/e.ts", to: "engine/src/jobs/target.ts" },
  {
    rule: "storage-serves-the-domain",
    from: "engine/src/storage/repositories/repositories.ts",
    to: "engine/src/embedded.ts",
  },
  { rule: "declared-knows-no-transport", from: "engine/src/declared/f.ts", to: "engine/src/embedded.ts" },
  { rule: "declared-knows-no-transport", from: "engine/src/declared/g.ts", to: "engine/src/server/target.ts" },
  { rule: "domain-uses-no-platform", from: "engine/src/workspaces/g.ts", to: "node:crypto" },
  { rule: "x509-knows-no-policy", from: "engine/src/x509/a.ts", to: "engine/src/pki/target.ts" },
  { rule: "x509-knows-no-policy", from: "engine/src/x509/b.ts", to: "node:fs" },
  {
    rule: "only-policies-pass",
    from: "engine/src/pki/issuance/a.ts",
    to: "engine/src/pki/policy/approved.ts",
    imports: "values",
  },
  { rule: "pki-never-imports-acme", from: "engine/src/pki/a.ts", to: "engine/src/acme/target.ts" },
  { rule: "workspaces-and-pki-are-strangers", from: "engine/src/workspaces/h.ts", to: "engine/src/pki/target.ts" },
  { rule: "pki-and-workspaces-are-strangers", from: "engine/src/pki/b.ts", to: "engine/src/workspaces/target.ts" },
  {
    rule: "pki-reaches-no-workspaces",
    from: "engine/src/pki/g.ts",
    through: "engine/src/shared-by-pki.ts",
    to: "engine/src/workspaces/far.ts",
  },
  {
    rule: "pki-reaches-no-workspaces",
    from: "engine/src/pki/h.ts",
    through: "engine/src/organizations/d.ts",
    to: "engine/src/events/far.ts",
  },
  {
    rule: "pki-reaches-no-workspaces",
    from: "engine/src/acme/f.ts",
    through: "engine/src/shared-by-acme.ts",
    to: "engine/src/events/farther.ts",
  },
  {
    rule: "pki-reaches-no-workspaces",
    from: "engine/src/organizations/c.ts",
    through: "engine/src/shared-by-organizations.ts",
    to: "engine/src/workspaces/farther.ts",
  },
  {
    rule: "workspaces-reach-no-pki",
    from: "engine/src/workspaces/m.ts",
    through: "engine/src/shared-by-workspaces.ts",
    to: "engine/src/pki/far.ts",
  },
  {
    rule: "workspaces-reach-no-pki",
    from: "engine/src/workspaces/n.ts",
    through: "engine/src/events/b.ts",
    to: "engine/src/acme/far.ts",
  },
  {
    rule: "services-declare-their-stores",
    from: "engine/src/workspaces/o.ts",
    to: "engine/src/storage/repositories/repositories.ts",
  },
  { rule: "sql-only-in-storage", from: "engine/src/workspaces/i.ts", to: "kysely" },
  { rule: "sql-only-in-storage", from: "engine/src/cli/a.ts", to: "pg" },
  { rule: "sql-only-in-storage", from: "engine/src/jobs/a.ts", to: "node:sqlite" },
  { rule: "sockets-only-in-http", from: "engine/src/client/a.ts", to: "node:http" },
  { rule: "sockets-only-in-http", from: "engine/src/contracts/a.ts", to: "node:https" },
  { rule: "sockets-only-in-http", from: "engine/src/server/tfe/a.ts", to: "node:http" },
  { rule: "sockets-only-in-http", from: "engine/src/cli/b.ts", to: "node:http2" },
  { rule: "undici-only-where-we-dial", from: "engine/src/jobs/b.ts", to: "undici" },
  {
    rule: "opentelemetry-sdk-only-in-telemetry",
    from: "engine/src/server/http/d.ts",
    to: "@opentelemetry/sdk-metrics",
  },
  { rule: "opentelemetry-sdk-only-in-telemetry", from: "engine/src/telemetry/a.ts", to: "@opentelemetry/sdk-metrics" },
  { rule: "opentelemetry-sdk-only-in-telemetry", from: "engine/src/jobs/e.ts", to: "prom-client" },
  { rule: "telemetry-listens", from: "engine/src/telemetry/b.ts", to: "engine/src/storage/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/pki/f.ts", to: "engine/src/telemetry/target.ts" },
  { rule: "zod-only-at-the-edge", from: "engine/src/workspaces/j.ts", to: "zod" },
  { rule: "packages-by-name", from: "provider/src/a.ts", to: "engine/src/workspaces/target.ts" },
  { rule: "packages-by-name", from: "operator/src/a.ts", to: "engine/src/workspaces/target.ts" },
  { rule: "engine-stands-alone", from: "engine/src/cli/c.ts", to: "operator/src/target.ts" },
  { rule: "contracts-are-pure", from: "engine/src/contracts/b.ts", to: "engine/src/server/http/target.ts" },
  { rule: "storage-serves-the-domain", from: "engine/src/storage/a.ts", to: "engine/src/contracts/target.ts" },
  { rule: "domain-knows-no-outside", from: "engine/src/pki/i.ts", to: "engine/src/composition/target.ts" },
  { rule: "server-serves-any-engine", from: "engine/src/server/http/e.ts", to: "engine/src/composition/target.ts" },
  { rule: "storage-is-opened-in-one-place", from: "engine/src/server/http/a.ts", to: "engine/src/storage/target.ts" },
  { rule: "audit-writes-what-it-is-told", from: "engine/src/audit/a.ts", to: "engine/src/storage/target.ts" },
  { rule: "audit-writes-what-it-is-told", from: "engine/src/audit/b.ts", to: "node:http" },
  { rule: "audit-is-opened-in-one-place", from: "engine/src/server/http/c.ts", to: "engine/src/audit/target.ts" },
  { rule: "server-serves-any-engine", from: "engine/src/server/http/b.ts", to: "engine/src/embedded.ts" },
  { rule: "client-knows-no-server", from: "engine/src/client/b.ts", to: "engine/src/server/http/target.ts" },
  { rule: "jobs-know-no-transport", from: "engine/src/jobs/c.ts", to: "engine/src/contracts/target.ts" },
  { rule: "nothing-imports-the-command-line", from: "engine/src/embedded.ts", to: "engine/src/cli/target.ts" },
  { rule: "agent-is-a-client", from: "engine/src/agent/a.ts", to: "engine/src/storage/target.ts" },
  { rule: "agent-is-a-client", from: "engine/src/agent/b.ts", to: "engine/src/composition/target.ts" },
  {
    rule: "only-the-command-line-imports-the-agent",
    from: "engine/src/server/http/f.ts",
    to: "engine/src/agent/target.ts",
  },
  { rule: "testing-stays-in-tests", from: "operator/src/b.ts", to: "operator/testing/target.ts" },
  { rule: "testing-stays-in-tests", from: "engine/src/open.ts", to: "engine/testing/target.ts" },
  { rule: "tags-below-workspaces", from: "engine/src/workspaces/tags/a.ts", to: "engine/src/workspaces/target.ts" },
  {
    rule: "organizations-below-workspaces",
    from: "engine/src/organizations/a.ts",
    to: "engine/src/workspaces/tags/target.ts",
  },
  { rule: "no-cycles", from: "engine/src/workspaces/k.ts", to: "engine/src/workspaces/l.ts" },
]

/** Imports that the rules must allow: a check that rejects everything would pass the cases above. */
const allowed: readonly Omit<Breach, "rule">[] = [
  { from: "engine/src/workspaces/good.ts", to: "engine/src/core/good.ts" },
  { from: "engine/src/declared/good.ts", to: "engine/src/contracts/good.ts" },
  { from: "engine/src/core/good.ts", to: "@opentelemetry/api" },
  { from: "engine/src/core/better.ts", to: "lru-cache" },
  { from: "engine/src/storage/good.ts", to: "kysely" },
  { from: "engine/src/storage/better.ts", to: "engine/src/workspaces/good.ts" },
  { from: "engine/src/server/http/good.ts", to: "node:http" },
  { from: "engine/src/contracts/good.ts", to: "zod" },
  { from: "engine/src/client/good.ts", to: "undici" },
  { from: "engine/src/agent/good.ts", to: "engine/src/client/good.ts" },
  { from: "engine/src/cli/good.ts", to: "engine/src/agent/good.ts" },
  { from: "engine/src/x509/good.ts", to: "node:crypto" },
  { from: "engine/src/pki/issuance/good.ts", to: "engine/src/pki/policy/approved.ts" },
  { from: "engine/src/pki/policy/good.ts", to: "engine/src/pki/policy/approved.ts", imports: "values" },
  { from: "engine/src/storage/good.test.ts", to: "engine/src/server/http/good.ts" },
  {
    from: "engine/src/events/good.ts",
    through: "engine/src/workspaces/better.ts",
    to: "engine/src/organizations/good.ts",
  },
  { from: "engine/src/embedded.ts", through: "engine/src/composition/good.ts", to: "engine/src/storage/better.ts" },
  {
    from: "engine/src/composition/good.ts",
    through: "engine/src/storage/repositories/repositories.ts",
    to: "engine/src/pki/port.ts",
  },
]

const isFile = (target: string) => target.endsWith(".ts")

async function plant(tree: string, imports: readonly Omit<Breach, "rule">[]): Promise<void> {
  const files = new Map<string, string[]>()
  const lines = (path: string) => files.get(path) ?? files.set(path, []).get(path) ?? []
  const steps = imports.flatMap(({ from, through, to, imports: kind }) =>
    through === undefined
      ? [{ from, to, kind }]
      : [
          { from, to: through, kind },
          { from: through, to, kind },
        ],
  )
  for (const { from, to, kind } of steps) {
    // Type imports, so that the cases also prove that types in the wrong direction are detected.
    const path = relative(dirname(from), to)
    const specifier = isFile(to) ? (path.startsWith(".") ? path : `./${path}`) : to
    lines(from).push(`import ${kind === undefined ? "type " : ""}* as subject from "${specifier}"`)
    if (isFile(to)) lines(to)
  }
  for (const [path, text] of files) {
    await mkdir(dirname(join(tree, path)), { recursive: true })
    await writeFile(join(tree, path), [...text, "export type Planted = typeof import.meta", ""].join("\n"))
  }
  await cp(join(root, "tsconfig.base.json"), join(tree, "tsconfig.base.json"))
}

interface Violation {
  readonly rule: { readonly name: string }
  readonly from: string
  readonly to: string
}

const cruise = (tree: string, outputType: "json" | "err") => {
  const flags = ["--config", join(root, ".dependency-cruiser.cjs"), "--output-type", outputType]
  const folders = ["engine", "provider", "operator"]
  return promisify(execFile)(process.execPath, [depcruise, ...flags, ...folders], { cwd: tree, maxBuffer: 2 ** 26 })
}

// The JSON report names every violation but always exits with 0; the plain one, which `npm run boundaries` uses, fails.
async function violationsIn(tree: string): Promise<readonly Violation[]> {
  const { stdout } = await cruise(tree, "json")
  const report = JSON.parse(stdout) as { summary: { violations: Violation[] } }
  return report.summary.violations
}

describe("direction rules", () => {
  let tree: string
  let violations: readonly Violation[]

  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), "chancery-boundaries-"))
    const cycle = { from: "engine/src/workspaces/l.ts", to: "engine/src/workspaces/k.ts" }
    await plant(tree, [...breaches, cycle])
    violations = await violationsIn(tree)
  })
  afterAll(() => rm(tree, { recursive: true, force: true }))

  test.each(breaches)("$rule forbids $to in $from", ({ rule, from, to }) => {
    const target = new RegExp(isFile(to) ? `^${to}$` : `(^|/|^node:)${to.replace("node:", "")}(/|$)`)
    expect(violations).toContainEqual(
      expect.objectContaining({
        rule: expect.objectContaining({ name: rule }),
        from,
        to: expect.stringMatching(target),
      }),
    )
  })

  test("a violation makes the check fail", async () => {
    await expect(cruise(tree, "err")).rejects.toMatchObject({ code: expect.any(Number) })
  })

  test("every rule has a violation that shows it", () => {
    expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set(directions.forbidden?.map(({ name }) => name)))
  })

  test("permitted imports pass", async () => {
    await using clean = {
      path: await mkdtemp(join(tmpdir(), "chancery-boundaries-")),
      [Symbol.asyncDispose]: () => rm(clean.path, { recursive: true, force: true }),
    }
    await plant(clean.path, allowed)
    await mkdir(join(clean.path, "provider"))
    await mkdir(join(clean.path, "operator"))
    expect(await violationsIn(clean.path)).toEqual([])
  })
})
