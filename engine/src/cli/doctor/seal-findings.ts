import { counted } from "../../core/text.ts"
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
      `The current key is ${current}. The store needs ${counted(used.length, "key")} to open. Keys given: ${ring.keys.size}.`,
    ),
  ]
  if (counts === undefined) return findings
  const lost = [...counts].filter(([id]) => !ring.keys.has(id))
  for (const [id, count] of lost) {
    const advice = "Find the key in a backup of the key file, and add it after the current one."
    findings.push(fail("seal", `The key ${id}, which seals ${counted(count, "secret")}, is missing.`, advice))
  }
  const old = [...counts].filter(([id]) => id !== current && ring.keys.has(id))
  for (const [id, count] of old) {
    const advice = "Run: chancery seal rotate --no-new-key"
    findings.push(warn("seal", `The old key ${id} still seals ${counted(count, "secret")}.`, advice))
  }
  if (lost.length === 0 && old.length === 0) {
    const total = counts.get(current) ?? 0
    findings.push(ok("seal", `The current key seals all secrets (${total}).`))
  }
  return findings
}
