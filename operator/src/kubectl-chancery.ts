#!/usr/bin/env node
// Plugin of kubectl: `kubectl chancery` runs the executable `kubectl-chancery` on the PATH.
import { Command, processTerminal, runProgram } from "@chancery/engine/cli"
import { clusterCommands } from "./kubectl/cluster-commands.ts"

const program = new Command("kubectl chancery").description(
  "Shows and renews what the Chancery operator manages in a Kubernetes cluster.",
)
for (const command of clusterCommands(processTerminal)) program.addCommand(command)
process.exitCode = await runProgram(program, process.argv.slice(2), processTerminal)
