import { expect, test } from "vitest"
import { run } from "./program.ts"

async function agent(...words: readonly string[]) {
  let stderr = ""
  const code = await run(["agent", "--engine-url", "http://127.0.0.1:1", ...words], {
    out: () => undefined,
    say: (text) => void (stderr += `${text}\n`),
    input: async () => "",
    environment: {},
  })
  return { code, stderr }
}

test.each(["9s", "601s", "10.5s", "10", "off", ""])("agent rejects the lease %j", async (lease) => {
  const { code, stderr } = await agent("--lease", lease)
  expect(code).not.toBe(0)
  expect(stderr).toContain(
    `--lease cannot be ${JSON.stringify(lease)}; it must be a duration from 10s to 10m in whole seconds, such as 60s.`,
  )
})

test.each(["10s", "10m", "1m30s"])("agent accepts the lease %s, and then misses a token", async (lease) => {
  const { stderr } = await agent("--lease", lease)
  expect(stderr).not.toContain("--lease")
  expect(stderr).toContain("token")
})
