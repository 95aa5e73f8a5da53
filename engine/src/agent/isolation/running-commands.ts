import type { RunningCommand } from "./isolation.ts"

/** Commands to end with the agent. */
export class RunningCommands {
  readonly #commands = new Set<RunningCommand>()

  get size(): number {
    return this.#commands.size
  }

  add(command: RunningCommand): RunningCommand {
    this.#commands.add(command)
    const remove = () => void this.#commands.delete(command)
    command.ended.then(remove, remove)
    return command
  }

  /** Kills all commands and waits for their end. */
  async end(): Promise<void> {
    const commands = [...this.#commands]
    for (const command of commands) command.kill()
    await Promise.allSettled(commands.map(({ ended }) => ended))
  }
}
