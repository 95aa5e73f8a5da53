import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const module = new URL("small-heap.ts", import.meta.url).href
const mebibyte = 1_048_576

/** In a process of its own, since what is set there stays set. */
const script = `
  import { getHeapSpaceStatistics } from "node:v8"
  import { runInNewContext } from "node:vm"
  const churn = () => {
    const kept = []
    for (let index = 0; index < 2_000_000; index += 1) {
      kept.push({ index })
      if (kept.length === 200_000) kept.length = 0
    }
  }
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size
  churn()
  const before = young()
  const { keepHeapSmall } = await import(${JSON.stringify(module)})
  keepHeapSmall()
  churn()
  console.log(JSON.stringify({ before, after: young(), collector: runInNewContext("typeof gc") }))
`

test("the young generation of a process that has loaded much becomes small, and stays small", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script])

  const { before, after, collector } = JSON.parse(stdout) as Record<string, unknown>
  expect(before).toBeGreaterThan(16 * mebibyte)
  expect(after).toBeLessThanOrEqual(8 * mebibyte)
  expect(collector).toBe("undefined")
})
