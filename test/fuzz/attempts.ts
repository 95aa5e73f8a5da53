// The process that tries inputs. It records each input in a file before it tries it, because the input may end the process.
import { pathToFileURL } from "node:url"
import { openSync, writeSync } from "node:fs"
import { type AttemptMessage, type AttemptSettings, maxFaults, record } from "./attempt.ts"
import { chance } from "./chance.ts"
import { mutate } from "./mutations.ts"
import type { FuzzTarget, OpenTargets } from "./target.ts"

/** Larger inputs are refused before they are parsed. */
const maxSlowInput = 64 * 1024

const slowMs = 50

const usualTurnMs = 250

async function attemptAll({ seed, module, targets: names, current, milliseconds }: AttemptSettings): Promise<void> {
  const deadline = Date.now() + milliseconds
  const { openTargets } = (await import(pathToFileURL(module).href)) as { openTargets(): Promise<OpenTargets> }
  await using opened = await openTargets()
  const targets = opened.targets.filter(({ name }) => names.length === 0 || names.includes(name))
  if (targets.length === 0) throw new Error(`there is no target named ${names.join(" or ")}`)
  const file = openSync(current, "w")
  const made = targets.map(() => 0)
  let number = 0n
  // Each target gets a turn, however long opening them took.
  const isOver = (turn: number) => turn >= targets.length && Date.now() >= deadline
  for (let turn = 0; !isOver(turn) && reportedFaults.size < maxFaults; turn += 1) {
    const index = turn % targets.length
    const target = targets[index]!
    const begun = made[index]!
    for (const end = Date.now() + (target.turnMs ?? usualTurnMs); Date.now() < end; made[index]! += 1) {
      const input = inputOf(target, chance(seed, index, made[index]!))
      const attempted = record({ target: target.name, input }, number++)
      writeSync(file, attempted, 0, attempted.length, 0)
      await attempt(target, input)
    }
    report({ kind: "count", target: target.name, count: made[index]! - begun })
  }
}

function inputOf({ corpus, mutations, repair }: FuzzTarget, choice: ReturnType<typeof chance>): Uint8Array {
  const mutated = mutate(mutations, choice.of(corpus), corpus, choice)
  return repair === undefined || choice.oneIn(3) ? mutated : repair(mutated)
}

/** Kinds of reported faults. Many inputs cause the same fault, and the first is enough. */
const reportedFaults = new Set<string>()
/** Number of reported slow inputs by target. */
const reportedSlow = new Map<string, number>()

/** Slow inputs that are reported for one target; further ones are similar. */
const maxSlow = 20

async function attempt(target: FuzzTarget, input: Uint8Array): Promise<void> {
  const { complaint, ms } = await timed(target, input)
  const encoded = () => Buffer.from(input).toString("base64")
  const kind = `${target.name} ${complaint?.replaceAll(/\d+/g, "0")}`
  if (complaint !== undefined && !reportedFaults.has(kind)) {
    reportedFaults.add(kind)
    report({ kind: "fault", target: target.name, input: encoded(), complaint })
  }
  const slowBefore = reportedSlow.get(target.name) ?? 0
  if (ms <= slowMs || input.length > maxSlowInput || slowBefore >= maxSlow) return
  // Measured again, because a busy machine or garbage collection can delay any input.
  const again = [await timed(target, input), await timed(target, input)]
  const least = Math.min(ms, ...again.map((each) => each.ms))
  if (least <= slowMs) return
  reportedSlow.set(target.name, slowBefore + 1)
  report({ kind: "slow", target: target.name, input: encoded(), ms: least })
}

async function timed(target: FuzzTarget, input: Uint8Array): Promise<{ complaint: string | undefined; ms: number }> {
  const begun = performance.now()
  let complaint: string | undefined
  try {
    complaint = await target.attempt(input)
  } catch (error) {
    complaint = `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
  }
  return { complaint, ms: performance.now() - begun }
}

function report(message: AttemptMessage): void {
  process.send?.(message)
}

await attemptAll(JSON.parse(process.argv[2] ?? "") as AttemptSettings)
