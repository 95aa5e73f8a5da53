import { type SealKeysAtHand, SealedStore } from "../../storage/sealing/seal-keys.ts"
import { exitCodes } from "../exit-code.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

/** Reports on the seal keys. `counts` is the number of sealed values by key id; undefined if they were not counted. */
export function sealFindings(
  { ring, problem, file, used }: SealKeysAtHand,
  counts: ReadonlyMap<string, number> | undefined,
): readonly Finding[] {
  if (problem !== undefined) {
    const meaning = problem instanceof SealedStore ? "A server that starts now is sealed until the key is present." : ""
    const advice = "Provide the keys that sealed this store; check them with `chancery seal status`."
    return [fail("seal", [problem.message, meaning].filter(Boolean).join(" "), advice, exitCodes.configuration)]
  }
  if (ring === undefined) {
    return [ok("seal", `No seal key exists yet; the first start of a server creates one in ${file}.`)]
  }
  const current = ring.current.id
  const findings = [
    ok(
      "seal",
      `The current key is ${current}. The store needs ${used.length} keys to open; ${ring.keys.size} are present.`,
    ),
  ]
  if (counts === undefined) return findings
  const lost = [...counts].filter(([id]) => !ring.keys.has(id))
  for (const [id, count] of lost) {
    const advice = "Find the key in a backup of the key file, and add it after the current one."
    findings.push(fail("seal", `${count} secrets are sealed under the key ${id}, which is missing.`, advice))
  }
  const old = [...counts].filter(([id]) => id !== current && ring.keys.has(id))
  for (const [id, count] of old) {
    const advice = "Run: chancery seal rotate --no-new-key"
    findings.push(warn("seal", `${count} secrets are still sealed under the old key ${id}.`, advice))
  }
  if (lost.length === 0 && old.length === 0) {
    const total = counts.get(current) ?? 0
    findings.push(ok("seal", `All ${total} secrets are sealed under the current key.`))
  }
  return findings
}
