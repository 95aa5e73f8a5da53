import { hostProcessControl } from "./host-process.ts"
import type { Isolation, IsolationOptions } from "./isolation.ts"
import { assertProgram, findProgram } from "./programs.ts"
import { describeMemory } from "./resource-limits.ts"
import { RunningCommands } from "./running-commands.ts"
import { superviseCommand } from "./supervised-command.ts"

export async function openNoIsolation({ limits }: IsolationOptions): Promise<Isolation> {
  const prlimit = process.platform === "linux" ? await findProgram("prlimit") : undefined
  const running = new RunningCommands()
  return {
    describe: () => [
      "isolation: none: runs can read the files, the memory and the token of this agent",
      describeMemory(limits, process.platform, prlimit),
    ],
    run(command) {
      const prepare = async () => {
        await assertProgram(command.program)
        return hostProcessControl(command, { limits, prlimit })
      }
      return running.add(superviseCommand(prepare, limits, command.onOutput))
    },
    [Symbol.asyncDispose]: () => running.end(),
  }
}
