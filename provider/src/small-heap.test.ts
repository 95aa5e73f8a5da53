import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const module = new URL("small-heap.ts", import.meta.url).href
const mebibyte = 1_048_576

/** In a process of its own, since what is set there stays set. */
const script = `
  import { getHeapSpaceStatistics } from "node:v8"
  import { runInNewContext } from "node:vm"
  // Not what it has taken of it by now, which is a matter of when the collector comes by.
  const room = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    return young.space_used_size + young.space_available_size
  }
  const churn = () => {
    const kept = []
    let most = 0
    for (let index = 0; index < 4_000_000; index += 1) {
      kept.push({ index })
      if (kept.length < 400_000) continue
      most = Math.max(most, room())
      kept.length = 0
    }
    return most
  }
  const before = churn()
  const { keepHeapSmall } = await import(${JSON.stringify(module)})
  keepHeapSmall()
  console.log(JSON.stringify({ before, after: churn(), collector: runInNewContext("typeof gc") }))
`

test("the young generation of a process that has loaded much becomes small, and stays small", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script])

  const { before, after, collector } = JSON.parse(stdout) as Record<string, unknown>
  expect(before).toBeGreaterThan(16 * mebibyte)
  expect(after).toBeLessThan(16 * mebibyte)
  expect(collector).toBe("undefined")
})
