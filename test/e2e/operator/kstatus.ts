// Status of objects as Flux, kpt and other GitOps tools read it, computed by the Go library of cli-utils (pkg/kstatus/status).
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { goProgram, kstatusFolder } from "../../toolchain/go-modules.ts"

export type KStatus = "Terminating" | "InProgress" | "Failed" | "Current"

/** Undefined without Go. Suites that need the program are skipped then. */
export const kstatusProgram = await goProgram(kstatusFolder)

/** Returns the status of each object, which may be an earlier version of it. */
export async function kstatuses(objects: readonly object[]): Promise<readonly KStatus[]> {
  const child = spawn(kstatusProgram!)
  const errors = text(child.stderr)
  const output = text(child.stdout)
  child.stdin.on("error", () => {})
  for (const object of objects) child.stdin.write(`${JSON.stringify(object)}\n`)
  child.stdin.end()
  const found = (await output).split("\n").filter((line) => line !== "")
  if (found.length !== objects.length) throw new Error(await errors)
  return found.map((line) => (JSON.parse(line) as { readonly status: KStatus }).status)
}

export async function kstatus(object: object): Promise<KStatus> {
  const [status] = await kstatuses([object])
  return status!
}

/** Returns the statuses without repetitions in succession. */
export const courseOf = (statuses: readonly KStatus[]): readonly KStatus[] =>
  statuses.filter((status, index) => status !== statuses[index - 1])
