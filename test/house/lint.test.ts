// Tests the lint rules against time, randomness and the network outside core/runtime.ts: each is broken once and must be reported.
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Finding {
  readonly code: string
  readonly filename: string
}

const banned = [
  { file: "date-now.ts", text: "export const now = Date.now()", code: "eslint(no-restricted-properties)" },
  { file: "new-date.ts", text: "export const now = new Date()", code: "house(no-ambient-date)" },
  { file: "date-call.ts", text: "export const now = Date()", code: "house(no-ambient-date)" },
  { file: "math-random.ts", text: "export const dice = Math.random()", code: "eslint(no-restricted-properties)" },
  { file: "uuid.ts", text: "export const id = crypto.randomUUID()", code: "eslint(no-restricted-properties)" },
  {
    file: "node-uuid.ts",
    text: 'import { randomUUID } from "node:crypto"\nexport const id = randomUUID()',
    code: "eslint(no-restricted-imports)",
  },
  {
    file: "fetch.ts",
    text: 'export const page = fetch("https://example.com/")',
    code: "eslint(no-restricted-globals)",
  },
  {
    file: "global-fetch.ts",
    text: "export const dial = globalThis.fetch",
    code: "eslint(no-restricted-properties)",
  },
  {
    file: "tbs-certificate.ts",
    text: 'import { encodeTbsCertificate } from "../x509/certificate.ts"\nexport const encode = encodeTbsCertificate',
    code: "eslint(no-restricted-imports)",
  },
] as const

const allowed = [
  { path: "engine/src/core/instant.ts", text: "export const date = (instant: number) => new Date(instant)" },
  { path: "engine/src/core/runtime.ts", text: "export const now = () => [Date.now(), new Date(), Math.random()]" },
  { path: "engine/src/core/instant.test.ts", text: "export const startedAt = Date.now()" },
]

describe("ambient time, chance and network", () => {
  let tree: string
  let findings: readonly Finding[]

  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), "chancery-lint-"))
    const planted = banned.map(({ file, text }) => ({ path: `engine/src/workspaces/${file}`, text }))
    for (const { path, text } of [...planted, ...allowed]) {
      await mkdir(join(tree, dirname(path)), { recursive: true })
      await writeFile(join(tree, path), `${text}\n`)
    }
    for (const path of [".oxlintrc.json", "tsconfig.base.json", "test/house/lint-rules.ts"])
      await cp(join(root, path), join(tree, path))
    findings = await lint(tree)
  })
  afterAll(() => rm(tree, { recursive: true, force: true }))

  test.each(banned)("$code forbids $text", ({ file, code }) => {
    expect(findings).toContainEqual(expect.objectContaining({ code, filename: `engine/src/workspaces/${file}` }))
  })

  test("dates from arguments, the runtime itself and tests are permitted", () => {
    const allowedPaths = new Set(allowed.map(({ path }) => path))
    expect(findings.filter(({ filename }) => allowedPaths.has(filename))).toEqual([])
  })
})

async function lint(tree: string): Promise<readonly Finding[]> {
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint")
  const failed = await promisify(execFile)(process.execPath, [oxlint, "--format", "json", "engine"], {
    cwd: tree,
  }).then(
    () => undefined,
    (error: { readonly stdout: string }) => error,
  )
  if (failed === undefined) throw new Error("the linter passed a tree full of violations")
  return (JSON.parse(failed.stdout) as { diagnostics: Finding[] }).diagnostics
}
