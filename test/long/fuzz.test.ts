// Ten minutes of malformed inputs, or thirty seconds in a short run. CHANCERY_SEED repeats a run.
import { expect, test } from "vitest"
import { fuzz } from "../fuzz/fuzz.ts"
import { newSeed, sentences } from "../fuzz/report.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? newSeed())
const seconds = process.env["CHANCERY_SHORT"] === "1" ? 30 : 600

test(
  `every parser of untrusted input handles mutated input (seed ${seed})`,
  async () => {
    const report = await fuzz({ seconds, seed })
    console.log(sentences(report).join("\n"))
    expect(report.attempts.size).toBeGreaterThan(0)
    expect(report.faults).toEqual([])
  },
  (seconds + 120) * 1_000,
)
