// Finds the command line tool that keeps its state here. It is not fetched: its makers' terms forbid some to use it.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { sayLoudly } from "./missing.ts"

const variable = "CHANCERY_TERRAFORM"

const advice = `No terraform was found, so the suite that runs it stays out. Put one on the PATH, or name one in ${variable}.`

/** Undefined, and said loudly, where there is none. */
export async function findTerraform(): Promise<string | undefined> {
  const program = process.env[variable] || "terraform"
  try {
    await promisify(execFile)(program, ["version"], { env: { ...process.env, CHECKPOINT_DISABLE: "1" } })
    return program
  } catch {
    sayLoudly(advice)
    return undefined
  }
}
