import { readFile } from "node:fs/promises"
import { Command } from "commander"
import type { PolicySubject } from "../access/policies/policy.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { json } from "./report.ts"
import { parseTeamName } from "./team-name.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function policyCommand(terminal: Terminal): Command {
  return new Command("policy")
    .description("Manage policies, which grant rights on the certificate API.")
    .addCommand(writeCommand(terminal))
    .addCommand(readCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(attachmentCommand(terminal, "attach"))
    .addCommand(attachmentCommand(terminal, "detach"))
}

function writeCommand(terminal: Terminal): Command {
  const command = new Command("write")
    .description("Create or replace a policy.")
    .argument("<name>", "name of the policy, of letters, digits and _ . -")
    .argument("<file>", 'file with rules path "…" { capabilities = […] }, or the same as JSON; - reads standard input')
  addCallerOptions(command)
  return command.action(async (name: string, file: string) => {
    const written = await textOf(file, terminal)
    await withCallerEngine(command, terminal, ({ policies }) => policies.put(name, written))
    terminal.say(`Wrote the policy ${name}.`)
  })
}

function readCommand(terminal: Terminal): Command {
  const command = new Command("read")
    .description("Print a policy as it was written.")
    .argument("<name>", "name of the policy")
  addCallerOptions(command)
  return command.action((name: string) =>
    withCallerEngine(command, terminal, async ({ policies }) => {
      terminal.out((await policies.get(name)).text.trimEnd())
    }),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = addHolderOptions(new Command("list"))
    .description("List all policies, or the policies attached to a user, a team or a token.")
    .option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action(async ({ json: asJson, user, team, token }: HolderOptions & { readonly json?: true }) => {
    const isHolderNamed = user !== undefined || team !== undefined || token !== undefined
    const holder = isHolderNamed ? subjectOf({ user, team, token }) : undefined
    await withCallerEngine(command, terminal, async ({ policies }) => {
      const names = holder === undefined ? await policies.list() : await policies.attached(holder)
      if (asJson === true) terminal.out(json(names))
      else for (const name of names) terminal.out(name)
    })
  })
}

function deleteCommand(terminal: Terminal): Command {
  const command = new Command("delete")
    .description("Delete a policy, and detach it from all users, teams and tokens.")
    .argument("<name>", "name of the policy")
  addCallerOptions(command)
  return command.action((name: string) =>
    withCallerEngine(command, terminal, async ({ policies }) => {
      await policies.delete(name)
      terminal.say(`The policy ${name} is deleted.`)
    }),
  )
}

function attachmentCommand(terminal: Terminal, verb: "attach" | "detach"): Command {
  const command = addHolderOptions(new Command(verb))
    .description(
      verb === "attach"
        ? "Attach a policy to a user, to a team and its members, or to one token."
        : "Detach a policy from a user, a team or a token.",
    )
    .argument("<name>", "name of the policy")
  addCallerOptions(command)
  return command.action((name: string, holder: HolderOptions) => {
    const subject = subjectOf(holder)
    return withCallerEngine(command, terminal, async ({ policies }) => {
      await policies[verb](name, subject)
      terminal.say(verb === "attach" ? `Attached the policy ${name}.` : `Detached the policy ${name}.`)
    })
  })
}

interface HolderOptions {
  readonly user?: string | undefined
  readonly team?: string | undefined
  readonly token?: string | undefined
}

const addHolderOptions = (command: Command): Command =>
  command
    .option("--user <name>", "user, whose tokens all get the policy")
    .option("--team <organization/team>", "team, whose tokens and members get the policy, such as acme/platform")
    .option("--token <id>", "id of one token (at-…) of a user, a team or an organization")

function subjectOf({ user, team, token }: HolderOptions): PolicySubject {
  if ([user, team, token].filter((option) => option !== undefined).length !== 1) {
    throw usageError("Give exactly one of --user, --team and --token.")
  }
  if (user !== undefined) return { kind: "user", username: user }
  if (token !== undefined) return { kind: "token", id: token }
  return { kind: "team", ...parseTeamName(team ?? "") }
}

async function textOf(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") return terminal.input()
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The policy cannot be read from ${file}.`, { cause: error })
  }
}
