import { Command } from "commander"
import { formatInstant } from "../core/time.ts"
import type { AgentPoolView } from "../organizations/agent-pool.ts"
import { everyItem, json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { withCallerEngine } from "./with-caller-engine.ts"
import { addOrganizationOptions, type Common, organizationOf } from "./workspace-selection.ts"

export function agentPoolCommand(terminal: Terminal): Command {
  return new Command("agent-pool")
    .description("Create and list agent pools, whose agents execute runs.")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
}

const addPoolOptions = (command: Command): Command => addOrganizationOptions(command, "organization of the agent pools")

function createCommand(terminal: Terminal): Command {
  const command = addPoolOptions(new Command("create"))
    .description("Create an agent pool that serves every workspace of the organization.")
    .argument("<name>", "name of the agent pool, of letters, digits, - and _")
  return command.action((name: string, options: Common) =>
    withCallerEngine(command, terminal, async (engine) => {
      const created = await engine.agentPools.create(await organizationOf(engine, terminal, options), { name })
      if (options.json === true) terminal.out(json(shown(created)))
      else terminal.out(`Created the agent pool ${created.organizationName}/${created.name} (${created.id}).`)
    }),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = addPoolOptions(new Command("list")).description("List the agent pools of an organization.")
  return command.action((options: Common) =>
    withCallerEngine(command, terminal, async (engine) => {
      const organization = await organizationOf(engine, terminal, options)
      const pools = await everyItem((page) => engine.agentPools.list(organization, {}, page))
      if (options.json === true) {
        terminal.out(json(pools.map(shown)))
        return
      }
      const rows = pools.map(({ name, id, organizationScoped, createdAt }) => [
        name,
        id,
        organizationScoped ? "all" : "some",
        formatInstant(createdAt),
      ])
      terminal.out(table(["NAME", "ID", "WORKSPACES", "CREATED"], rows))
    }),
  )
}

const shown = ({ id, name, organizationName, organizationScoped, createdAt }: AgentPoolView) => ({
  id,
  name,
  organization: organizationName,
  organizationScoped,
  createdAt: formatInstant(createdAt),
})
