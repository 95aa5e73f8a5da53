import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { expect, onTestFinished, test } from "vitest"
import { killProcessesOfRuns } from "./left-processes.ts"

const runs = `/nonexistent-${process.pid}/runs`

async function sleeper(environment: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn("sleep", ["100"], { env: { PATH: process.env["PATH"], ...environment }, detached: true })
  onTestFinished(() => void child.kill("SIGKILL"))
  await once(child, "spawn")
  return child
}

test.skipIf(process.platform !== "linux")(
  "killProcessesOfRuns kills processes of the folder's runs, and leaves all others",
  async () => {
    const ofRuns = await Promise.all([
      sleeper({ HOME: `${runs}/run-1/home` }),
      sleeper({ HOME: "/own", TF_CLI_CONFIG_FILE: `${runs}/run-2/terraformrc` }),
      sleeper({ TMPDIR: `${runs}/run-2/tmp` }),
    ])
    const others = await Promise.all([
      sleeper({ HOME: `${runs}-of-another/run-1/home` }),
      // The shell of an operator who looks at the folder.
      sleeper({ PWD: `${runs}/run-1`, OLDPWD: `${runs}/run-2` }),
      sleeper({ NOTE: `HOME=${runs}/run-1` }),
    ])
    const ended = Promise.all(ofRuns.map((child) => once(child, "exit")))
    expect(await killProcessesOfRuns(runs)).toBe(3)
    expect(await ended).toEqual([
      [null, "SIGKILL"],
      [null, "SIGKILL"],
      [null, "SIGKILL"],
    ])
    expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null, null])
    expect(await killProcessesOfRuns(runs)).toBe(0)
  },
)
