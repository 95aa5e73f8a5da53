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

test.each([
  { words: [], message: "--isolation pod needs --pod-image, or --pod-template with an image of the container agent." },
  { words: ["--pod-image", "a", "--claim", "claim-1"], message: "--claim cannot be used with --isolation pod." },
  {
    words: ["--pod-image", "a", "--pod-namespace", "A"],
    message: '--pod-namespace cannot be "A"; it must be the name of a namespace.',
  },
  {
    words: ["--pod-image", "a", "--pod-start-timeout", "soon"],
    message: '--pod-start-timeout cannot be "soon"; it must be a duration of at least 1s, such as 90s or 2h.',
  },
  {
    words: ["--pod-image", "a", "--pass-env", "CHANCERY_TOKEN"],
    message:
      '--pass-env cannot be "CHANCERY_TOKEN" with --isolation pod; it must be the name of a variable that does not begin with CHANCERY_.',
  },
])("agent rejects $words when the isolation is pod", async ({ words, message }) => {
  const { code, stderr } = await agent("--isolation", "pod", ...words)
  expect([code, stderr]).toEqual([64, expect.stringContaining(message)])
})
