import { zstdCompressSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { manualTimers } from "../../../../testing/manual-timers.ts"
import { stateContentsReader } from "../../../workspaces/state/state-parser.ts"
import { StateContents } from "./state-contents.ts"

const stateOf = (count: number): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      version: 4,
      serial: 1,
      lineage: "one",
      outputs: { color: { value: ["red", { deep: "blue" }], type: "dynamic", sensitive: true } },
      resources: Array.from({ length: count }, (_, index) => ({
        mode: "managed",
        type: "null_resource",
        name: `n${index}`,
        provider: 'provider["registry.terraform.io/hashicorp/null"]',
        instances: [{ attributes: { id: String(index) } }],
      })),
    }),
  )

/** Compresses a state into two frames, and splits the result into chunks at unrelated offsets. */
async function* compressed(state: Uint8Array): AsyncGenerator<Uint8Array> {
  const half = state.length >> 1
  const frames = Buffer.concat([zstdCompressSync(state.subarray(0, half)), zstdCompressSync(state.subarray(half))])
  for (let at = 0; at < frames.length; at += 5_000) yield frames.subarray(at, at + 5_000)
}

function readHere(state: Uint8Array) {
  const reader = stateContentsReader()
  reader.write(state)
  return reader.end()
}

const timers = manualTimers(manualClock())
const never = new AbortController().signal
let contents: StateContents | undefined
const thread = () => (contents ??= new StateContents(timers))

afterEach(() => {
  contents?.[Symbol.dispose]()
  contents = undefined
})

describe("state contents read by another thread", () => {
  test("equal those read in the main thread, in sequence and concurrently", async () => {
    const [one, other] = [stateOf(12_000), stateOf(3)]
    expect(await thread().read(compressed(one), never)).toEqual(readHere(one))
    expect(await Promise.all([one, other].map((state) => thread().read(compressed(state), never)))).toEqual(
      [one, other].map(readHere),
    )
  })

  test("fail when their source or their thread fails, and the next ones are read", async () => {
    async function* failing() {
      yield* compressed(stateOf(1))
      throw new Error("the store is away")
    }
    async function* strange() {
      yield Buffer.from("anything but zstd")
    }
    const state = stateOf(2)
    await expect(thread().read(failing(), never)).rejects.toThrow("the store is away")
    await expect(thread().read(strange(), never)).rejects.toThrow(/frame|zstd|format/i)
    await expect(thread().read(compressed(Buffer.from("[1,")), never)).rejects.toThrow("state must be a JSON object")
    expect(await thread().read(compressed(state), never)).toEqual(readHere(state))
  })

  test("are abandoned when the signal aborts in the middle of a state", async () => {
    const giveUp = new AbortController()
    async function* endless() {
      yield* compressed(stateOf(1))
      giveUp.abort(new Error("the engine is closing"))
      for (;;) yield zstdCompressSync(Buffer.alloc(10, 0x20))
    }
    await expect(thread().read(endless(), giveUp.signal)).rejects.toThrow("the engine is closing")
    await expect(thread().read(compressed(stateOf(1)), giveUp.signal)).rejects.toThrow("the engine is closing")
  })

  test("are read by the next thread after the idle time of the first", async () => {
    const state = stateOf(2)
    await thread().read(compressed(state), never)
    expect(timers.pendingCount).toBe(1)
    await timers.advance(60_000)
    expect(await thread().read(compressed(state), never)).toEqual(readHere(state))
  })
})
