// Claims runs and executes them, one after another. See README.md.
import { hostname } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { claimRun } from "./claim.ts"
import { execute, leaseSeconds } from "./execute.ts"

const { values } = parseArgs({
  options: {
    /** The server, without `/api/v2`. */
    address: { type: "string", default: "http://127.0.0.1:8420" },
    /** Whose runs: `agent-pools/…`, `workspaces/…` or `organizations/…`. */
    of: { type: "string" },
    /** terraform or tofu. */
    program: { type: "string", default: "terraform" },
    name: { type: "string", default: hostname() },
    /** How often the server is told that this executor is alive. */
    "heartbeat-seconds": { type: "string", default: "20" },
    /** Ends once no run is waiting. */
    once: { type: "boolean", default: false },
  },
})

const token = process.env["CHANCERY_TOKEN"]
const { address, of, program, name, once } = values
if (token === undefined || of === undefined) {
  console.error("usage: CHANCERY_TOKEN=… node executor.ts --of agent-pools/apool-… [--address URL] [--program tofu]")
  process.exit(2)
}

const ending = new AbortController()
// The run at hand is brought to its end first.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort())

const print = (text: string): void => console.log(text)
const pauseMs = 5_000

while (!ending.signal.aborted) {
  try {
    const claim = await claimRun({ address, token }, of, { name, leaseSeconds, waitSeconds: once ? 0 : 30 })
    if (claim === undefined) {
      if (once) break
      continue
    }
    print(`${claim.run.id} of ${claim.workspaceName}: ${claim.run.status}`)
    const heartbeatMs = Number(values["heartbeat-seconds"]) * 1000
    print(`${claim.run.id} of ${claim.workspaceName}: ${await execute(claim, { program, print, heartbeatMs })}`)
  } catch (error) {
    console.error(String(error))
    if (once) process.exit(1)
    await sleep(pauseMs)
  }
}
