import { expect, test } from "vitest"
import { nextTurn, sharedTurn } from "./timers.ts"

test("callers of one turn continue together in the order of their calls, and later callers in a later turn", async () => {
  const turn = sharedTurn()
  const continued: string[] = []
  const call = async (name: string) => {
    await turn()
    continued.push(name)
  }
  const first = Promise.all([call("a"), call("b")])
  await Promise.resolve()
  const same = call("c")
  expect(continued).toEqual([])
  await Promise.all([first, same])
  expect(continued).toEqual(["a", "b", "c"])

  const later = call("d")
  await Promise.resolve()
  expect(continued).toEqual(["a", "b", "c"])
  await nextTurn()
  await later
  expect(continued).toEqual(["a", "b", "c", "d"])
})
