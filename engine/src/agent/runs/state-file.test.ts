import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { followState, stateHeader, withSerial } from "./state-file.ts"

const state = (serial: number, value = "1") =>
  `{\n  "version": 4,\n  "terraform_version": "1.11.4",\n  "serial": ${serial},\n  "lineage": "one",\n  "outputs": {"serial": {"value": ${value}}}\n}\n`

test.each([
  { text: state(3), header: { serial: 3, lineage: "one" } },
  { text: state(3).slice(0, -10), header: undefined },
  { text: "", header: undefined },
  { text: "null", header: undefined },
  { text: '{"serial": -1.5, "lineage": "one"}', header: undefined },
  { text: '{"serial": 1}', header: undefined },
])("stateHeader returns $header when the file is $text", ({ text, header }) => {
  expect(stateHeader(text)).toEqual(header)
})

test("withSerial changes the serial of the state and nothing else, also when a number is larger than 2^53", () => {
  expect(withSerial(state(3, "12345678901234567890"), 7)).toBe(state(7, "12345678901234567890"))
})

describe("followState", () => {
  let folder = ""
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "state-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test("returns each change once, with increasing serials", async () => {
    const path = join(folder, "terraform.tfstate")
    const uploads = followState(path, Buffer.from(state(3)))
    expect(await uploads.next(true)).toBeUndefined()
    await writeFile(path, state(3))
    expect(await uploads.next(true)).toBeUndefined()
    await writeFile(path, state(4))
    const first = await uploads.next(true)
    expect(first).toMatchObject({ serial: 4, lineage: "one", intermediate: true, runId: null })
    // Until the server has it, the same version is due.
    expect(await uploads.next(true)).toEqual(first)
    uploads.created()
    expect(await uploads.next(true)).toBeUndefined()
    await writeFile(path, state(4, "2"))
    const second = await uploads.next(false)
    expect(second).toMatchObject({ serial: 5, intermediate: false })
    expect(Buffer.from(second?.state ?? []).toString()).toBe(state(5, "2"))
  })

  test("uses no serial twice when the answer to a version was lost", async () => {
    const path = join(folder, "unanswered.tfstate")
    const uploads = followState(path, Buffer.from(state(3)))
    await writeFile(path, state(4))
    expect(await uploads.next(true)).toMatchObject({ serial: 4 })
    await writeFile(path, state(4, "2"))
    expect(await uploads.next(true)).toMatchObject({ serial: 5 })
    expect(await uploads.next(false)).toMatchObject({ serial: 6, intermediate: false })
  })
})
