// node test/long/fuzz.ts [--seconds N] [--seed N] [--target NAME]…
// node test/long/fuzz.ts --target NAME --replay FILE
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { fuzz } from "../fuzz/fuzz.ts"
import { newSeed, sentences } from "../fuzz/report.ts"
import { openTargets } from "../fuzz/targets.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    seed: { type: "string" },
    target: { type: "string", multiple: true, default: [] },
    replay: { type: "string" },
  },
})

if (values.replay === undefined) {
  const report = await fuzz({
    seconds: Number(values.seconds),
    seed: Number(values.seed ?? newSeed()),
    targets: values.target,
  })
  for (const sentence of sentences(report)) console.log(sentence)
  if (report.faults.length > 0) process.exitCode = 1
} else {
  const input = readFileSync(values.replay)
  await using opened = await openTargets()
  const target = opened.targets.find(({ name }) => values.target.includes(name))
  if (target === undefined) throw new Error("--replay needs the --target that the input is for")
  const begun = performance.now()
  const complaint = await target.attempt(input)
  console.log(`${complaint ?? "nothing wrong"}, after ${Math.round(performance.now() - begun)} ms`)
}
