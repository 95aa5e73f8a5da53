// The cost of the JSON bounds relative to the parse that follows them. Also the server's processor time for a refused request, which must
// not exceed that of a valid one of the same length.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assertJsonBounds, defaultJsonBounds } from "../../engine/src/core/json-bounds.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { report, target } from "./figures.ts"

const rounds = 60
const documentBytes = 256 * 1024

const items = (item: string): string => {
  const group = `[${Array.from({ length: 1_000 }, () => item).join(",")}]`
  return `[${Array.from({ length: Math.max(1, Math.round(documentBytes / group.length)) }, () => group).join(",")}]`
}
const workspace = {
  type: "workspaces",
  attributes: { name: "network", "terraform-version": "1.11.0", "auto-apply": false, description: "VPC of production" },
  relationships: { project: { data: { type: "projects", id: "prj-hKSbnpN4fqQ5UtyD" } } },
}
const request = `-----BEGIN CERTIFICATE REQUEST-----\n${`${"A".repeat(64)}\n`.repeat(14)}-----END CERTIFICATE REQUEST-----\n`

const documents: Readonly<Record<string, string>> = {
  "a request to sign": JSON.stringify({ common_name: "www.example.com", csr: request, ttl: "1h" }),
  "a workspace": JSON.stringify({ data: workspace }),
  "500 workspaces": JSON.stringify({ data: Array.from({ length: 500 }, () => workspace) }),
  "500 workspaces, indented": JSON.stringify({ data: Array.from({ length: 500 }, () => workspace) }, undefined, 2),
  "a state in base64": JSON.stringify({ state: "A".repeat(documentBytes) }),
  "strings with escapes": items(JSON.stringify('a "quoted" word\n')),
  "escapes alone": JSON.stringify({ text: '"'.repeat(documentBytes / 2) }),
  "letters beyond ASCII": items('"Größe Übermaß 寸法"'),
  numbers: items("12"),
  "words such as true": items("true"),
  "empty arrays": items("[]"),
  "small objects": items('{"a":1}'),
  blanks: `[${" ".repeat(documentBytes)}]`,
}

/** Returns the minimum time in microseconds: other load on the machine only adds to it. */
function leastTime(work: () => unknown, count: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    for (let index = 0; index < count; index += 1) work()
    least = Math.min(least, (performance.now() - began) / count)
  }
  return least * 1_000
}

{
  const utf8 = new TextDecoder("utf-8", { fatal: true })
  const ratios: number[] = []
  const bytesOf = Object.entries(documents).map(([name, text]) => [name, Buffer.from(text)] as const)
  for (let round = 0; round < 10; round += 1)
    for (const [, bytes] of bytesOf) assertJsonBounds(bytes, defaultJsonBounds)
  for (const [name, bytes] of bytesOf) {
    const count = Math.max(1, Math.round(50_000 / bytes.length))
    const parse = leastTime(() => JSON.parse(utf8.decode(bytes)), count)
    const bounds = leastTime(() => assertJsonBounds(bytes, defaultJsonBounds), count)
    report(`${name}, ${bytes.length} bytes`, bounds, `µs for the bounds, ${parse.toPrecision(3)} µs for the parse`)
    ratios.push(bounds / parse)
  }
  report("bounds / parse, the worst", Math.max(...ratios), "")
  report("bounds / parse, the mean", ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length, "")
}

{
  const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
  try {
    await using testEngine = await openTestEngine({ auditFile: join(folder, "audit.log"), jobs: false })
    await testEngine.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await testEngine.engine.authMethods.enable({ path: "approle", type: "approle" })
    const length = 7 * 1024 * 1024
    const string = "a".repeat(1024 * 1024 - 16)
    const valid = `{"ttl":"1h"${Array.from({ length: 7 }, (_, index) => `,"m${index}":"${string}"`).join("")}}`.padEnd(
      length,
    )
    const member = (index: number) => `"m${String(index).padStart(7, "0")}":1`
    const refused = {
      "brackets alone": "[".repeat(length),
      "members alone": `{${Array.from({ length: length / 12 }, (_, index) => member(index)).join(",")}}`.padEnd(length),
      "elements alone": `[${"1,".repeat(length / 2 - 2)}1]`.padEnd(length),
    }
    const { secret } = await testEngine.engine.serviceTokens.create({ policies: ["default"] })
    const processorTime = async (body: string, token: string, status: number) => {
      let least = Number.POSITIVE_INFINITY
      for (let round = 0; round < 8; round += 1) {
        const before = process.cpuUsage()
        const answer = await testEngine.pki("POST", "/pki/roles/web", { body, token })
        const { user, system } = process.cpuUsage(before)
        if (answer.status !== status) throw new Error(`answered ${answer.status}`)
        least = Math.min(least, (user + system) / 1_000)
      }
      return least
    }
    const whole = await processorTime(valid, testEngine.rootToken, 200)
    report("a valid request of 7 MiB", whole, "ms of processor time")
    for (const [name, body] of Object.entries(refused)) {
      const cost = await processorTime(body, testEngine.rootToken, 400)
      target(`refused, ${name} / valid`, cost / whole, { atMost: 1 })
    }
    const denied = await processorTime(refused["brackets alone"], secret, 403)
    target("denied request / valid request", denied / whole, { atMost: 1 })
    const login = await testEngine.pki("POST", "/auth/approle/login", { body: refused["brackets alone"], token: null })
    report("status of a login of 7 MiB", login.status, "")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
