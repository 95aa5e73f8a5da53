import { Command, Option } from "commander"
import { formatInstant } from "../core/time.ts"
import type { RemoteOperations } from "../organizations/organization.ts"
import { everyItem, json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function organizationCommand(terminal: Terminal): Command {
  return new Command("organization")
    .description("Create, change and list organizations.")
    .addCommand(createCommand(terminal))
    .addCommand(setCommand(terminal))
    .addCommand(listCommand(terminal))
}

function createCommand(terminal: Terminal): Command {
  const command = new Command("create")
    .description("Create an organization, owned by the user of the token, or by root without a server.")
    .argument("<name>", "name of the organization, of letters, digits, - and _")
    .requiredOption("--email <address>", "contact address of the organization")
    .option("--json", "print the organization as JSON")
  addCallerOptions(command)
  return command.action((name: string, { email, json: asJson }: { email: string; json?: true }) =>
    withCallerEngine(command, terminal, async ({ organizations }) => {
      const created = await organizations.create({ name, email })
      if (asJson === true) terminal.out(json(shown(created)))
      else terminal.out(`Created the organization ${created.name} (${created.id}).`)
    }),
  )
}

/** Written here, because the rules of organizations load much that this command does not need. */
const remoteOperationModes: readonly RemoteOperations[] = ["on", "off"]

function setCommand(terminal: Terminal): Command {
  const command = new Command("set")
    .description("Change settings of an organization.")
    .argument("<name>", "name of the organization")
    .addOption(
      new Option("--remote-operations <on|off>", "execute runs on agents (on), or on the machines of the clients (off)")
        .choices(remoteOperationModes)
        .makeOptionMandatory(),
    )
  addCallerOptions(command)
  return command.action((name: string, { remoteOperations }: { readonly remoteOperations: RemoteOperations }) =>
    withCallerEngine(command, terminal, async ({ organizations }) => {
      const changed = await organizations.update(name, { remoteOperations })
      terminal.out(`Remote operations of the organization ${changed.name} are ${remoteOperations}.`)
    }),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = new Command("list").description("List all organizations.").option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action(({ json: asJson }: { json?: true }) =>
    withCallerEngine(command, terminal, async ({ organizations }) => {
      const all = await everyItem((page) => organizations.list(undefined, page))
      if (asJson === true) {
        terminal.out(json(all.map(shown)))
        return
      }
      const rows = all.map(({ name, id, email, createdAt }) => [name, id, email, formatInstant(createdAt)])
      terminal.out(table(["NAME", "ID", "EMAIL", "CREATED"], rows))
    }),
  )
}

interface Shown {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly createdAt: number
}

const shown = ({ id, name, email, createdAt }: Shown) => ({ id, name, email, createdAt: formatInstant(createdAt) })
