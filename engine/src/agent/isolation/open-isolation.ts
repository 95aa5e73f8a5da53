import { openContainers } from "./containers.ts"
import { type Isolation, IsolationError, type IsolationOptions } from "./isolation.ts"
import { openNoIsolation } from "./no-isolation.ts"
import { openSandbox } from "./sandbox.ts"
import { openUserIsolation } from "./user-isolation.ts"

/**
 * Opens the isolation of this kind, and checks that it works. `auto` is a sandbox: falling back to less without the operator's word would
 * expose the token.
 */
export async function openIsolation(options: IsolationOptions, agentEnvironment = process.env): Promise<Isolation> {
  assertLimits(options)
  switch (options.kind) {
    case "container":
      return openContainers(options, agentEnvironment)
    case "user":
      return openUserIsolation(options)
    case "none":
      return openNoIsolation(options)
    case "auto":
    case "sandbox":
    default:
      return openSandbox(options, agentEnvironment)
  }
}

/** Less than this starts neither terraform nor a provider. */
const minMemoryBytes = 64 * 1_048_576

/** Longest delay of a timer in Node. */
const maxTimerMs = 2_147_483_647

function assertLimits({ limits: { timeMs, memoryBytes, graceMs } }: IsolationOptions): void {
  if (!(timeMs >= 1 && timeMs <= maxTimerMs)) throw new IsolationError(`time limit must be 1 to ${maxTimerMs} ms`)
  if (!(graceMs >= 0 && graceMs <= maxTimerMs)) throw new IsolationError(`grace time must be 0 to ${maxTimerMs} ms`)
  if (memoryBytes !== null && !(Number.isSafeInteger(memoryBytes) && memoryBytes >= minMemoryBytes))
    throw new IsolationError("memory limit must be at least 64 MiB")
}
