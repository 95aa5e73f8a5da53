// Finds the real Pulumi engine: the one built from the pinned module, else one on the PATH. Its language host for Node is in no module that
// could be built; programs that run inside the test (the SDK's Automation API) need none.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findGoProgram, pulumiFolder } from "./go-modules.ts"
import { warnMissing } from "./missing.ts"

export const pulumiInstallation =
  "No Pulumi 3.254 or newer was found, so the suites that drive its engine do not run. `npm run toolchain` builds one where Go " +
  "1.26 or newer is on the PATH, which takes some minutes; else put `pulumi` there."

export async function findPulumi(): Promise<string | undefined> {
  for (const program of [await findGoProgram(pulumiFolder), "pulumi"]) {
    if (program === undefined) continue
    const answer = await promisify(execFile)(program, ["version"]).catch(() => undefined)
    if (/^v3\.(25[4-9]|2[6-9]\d|[3-9]\d\d)\./.test(answer?.stdout ?? "")) return program
  }
  return undefined
}

/** Returns the program. If there is none, logs a warning and returns undefined; in CI it throws. */
export const pulumiProgram = async (): Promise<string | undefined> =>
  (await findPulumi()) ?? warnMissing(pulumiInstallation)
