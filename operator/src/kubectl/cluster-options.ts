// Options of commands for a cluster, named as those of kubectl.
import { type Command, CommandError, exitCodes } from "@chancery/engine/cli"

export interface ClusterOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly allNamespaces?: true
}

export const addClusterOptions = (command: Command): Command =>
  command
    .option("-n, --namespace <name>", "namespace of the objects (default: that of the context)")
    .option("-A, --all-namespaces", "objects of all namespaces")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("--kubeconfig <file>", "kubeconfig (default: KUBECONFIG, otherwise ~/.kube/config)")

export type OutputFormat = "json" | "table"

export const addOutputOption = (command: Command): Command =>
  command.option("-o, --output <format>", "format of the output: table or json", parseOutput, "table")

function parseOutput(text: string): OutputFormat {
  if (text === "json" || text === "table") return text
  throw new CommandError(exitCodes.usage, `--output cannot be "${text}"; it must be json or table.`)
}
