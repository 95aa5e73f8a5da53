import { readFileSync } from "node:fs"
import { Command, CommanderError } from "commander"
import { EngineError } from "../core/errors.ts"
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from "./exit-code.ts"
import { agentCommand } from "./agent.ts"
import { agentPoolCommand } from "./agent-pool.ts"
import { acmeCommand } from "./acme.ts"
import { auditCommand } from "./audit.ts"
import { backupCommand } from "./backup.ts"
import { addCompletion, asksForCompletion, completionCommand } from "./completion.ts"
import { devCommand } from "./dev.ts"
import { doctorCommand } from "./doctor.ts"
import { layOutHelp } from "./help.ts"
import { mountCommand } from "./mount.ts"
import { operatorCommands } from "./operator.ts"
import { organizationCommand } from "./organization.ts"
import { certificateCommand } from "./certificate.ts"
import { crlCommand } from "./crl.ts"
import { blockedKeyCommand } from "./blocked-key.ts"
import { enrolmentCommand } from "./enrolment.ts"
import { policyCommand } from "./policy.ts"
import { restoreCommand } from "./restore.ts"
import { sealCommand } from "./seal.ts"
import { serveCommand } from "./serve.ts"
import { storageCommand } from "./storage.ts"
import type { Terminal } from "./terminal.ts"
import { tokenCommand } from "./token.ts"
import { workspaceCommand } from "./workspace.ts"

/** Defines all commands. Each action loads its code when it runs. */
export function createProgram(terminal: Terminal, further: readonly Command[] = []): Command {
  const program = new Command("chancery")
    .description("Self-hosted control plane for infrastructure workspaces and certificates.")
    .version(version(), "--version", "print the version")
    .addCommand(serveCommand(terminal))
    .addCommand(devCommand(terminal))
    .addCommand(agentCommand(terminal))
    .addCommand(agentPoolCommand(terminal))
    .addCommand(organizationCommand(terminal))
    .addCommand(tokenCommand(terminal))
    .addCommand(mountCommand(terminal))
    .addCommand(acmeCommand(terminal))
    .addCommand(enrolmentCommand(terminal))
    .addCommand(workspaceCommand(terminal))
    .addCommand(policyCommand(terminal))
    .addCommand(blockedKeyCommand(terminal))
    .addCommand(certificateCommand(terminal))
    .addCommand(crlCommand(terminal))
    .addCommand(backupCommand(terminal))
    .addCommand(restoreCommand(terminal))
    .addCommand(storageCommand(terminal))
    .addCommand(sealCommand(terminal))
    .addCommand(auditCommand(terminal))
    .addCommand(doctorCommand(terminal))
    .addCommand(completionCommand())
  for (const command of further) program.addCommand(command)
  return prepared(program, terminal)
}

/** Sets the layout of the help and the output of a program and its commands. */
function prepared(program: Command, terminal: Terminal): Command {
  for (const { command, path } of [{ command: program, path: "" }, ...descendants(program)]) {
    layOutHelp(command, path)
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    })
  }
  return program
}

/** The relative path is the same for the sources and the built files. */
function version(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  return (JSON.parse(manifest) as { version: string }).version
}

interface NamedCommand {
  readonly command: Command
  /** Words of the command, such as `token create`. */
  readonly path: string
}

const descendants = (parent: Command, parentPath: readonly string[] = []): NamedCommand[] =>
  parent.commands.flatMap((command) => {
    const path = [...parentPath, command.name()]
    return [{ command, path: path.join(" ") }, ...descendants(command, path)]
  })

/** Runs one command line. Prints errors as one sentence and returns the exit code. */
export const run = (words: readonly string[], terminal: Terminal): Promise<ExitCode> =>
  ended(terminal, "chancery", async () => {
    const program = createProgram(terminal, await operatorCommands(words, terminal))
    if (asksForCompletion(words)) await addCompletion(program)
    await program.parseAsync([...words], { from: "user" })
  })

/** Runs one command line of another program, as `run` does. */
export const runProgram = (program: Command, words: readonly string[], terminal: Terminal): Promise<ExitCode> =>
  ended(terminal, program.name(), async () => {
    await prepared(program, terminal).parseAsync([...words], { from: "user" })
  })

async function ended(terminal: Terminal, name: string, work: () => Promise<void>): Promise<ExitCode> {
  try {
    await work()
    return exitCodes.success
  } catch (error) {
    // Commander has already printed the message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage
    terminal.say(`${name}: ${sentenceOf(error)}`)
    return exitCodeOf(error)
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof EngineError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
