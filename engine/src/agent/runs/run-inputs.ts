// Variables of a run, as files and environment of the tool.
import type { ExecutionVariable } from "../../workspaces/runs/run-claim.ts"
import type { RunView } from "../../workspaces/runs/run.ts"

/**
 * Returns the text of a file for `-var-file`, which takes precedence over the files of the configuration, as the variables of a workspace
 * do in HCP Terraform. Variables of the run take precedence over those of the workspace.
 */
export function variableFile(
  run: Pick<RunView, "variables">,
  variables: readonly Pick<ExecutionVariable, "key" | "value" | "category" | "hcl">[],
): string {
  const values = new Map<string, string>()
  for (const { key, value, category, hcl } of variables)
    if (category === "terraform") values.set(key, hcl ? value : quoted(value))
  for (const { key, value } of run.variables) values.set(key, value)
  return [...values].map(([key, value]) => `${key} = ${value}\n`).join("")
}

/** A string of HCL: `${` and `%{` would begin a template. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll(/([$%])\{/g, "$1$1{")

/** Folders and files of a run that its environment names. */
export interface RunPaths {
  readonly home: string
  readonly temporary: string
  readonly cliConfiguration: string
  /** Private SSH key. Undefined if the workspace has none. */
  readonly sshKey: string | undefined
  readonly knownHosts: string
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/**
 * Returns the whole environment of the tool. Variables of the workspace take precedence; of the agent's own, only the variables in `passed`
 * are there. The `TFC_` variables can also be read as variables of the configuration, as in HCP Terraform.
 */
export function runEnvironment(
  variables: readonly Pick<ExecutionVariable, "key" | "value" | "category">[],
  { workspaceName, paths, passed }: RunSurroundings,
): Readonly<Record<string, string>> {
  const own = variables.filter(({ category }) => category === "env").map(({ key, value }) => [key, value] as const)
  const inputs = own.filter(([key]) => key.startsWith("TFC_")).map(([key, value]) => [`TF_VAR_${key}`, value] as const)
  return {
    PATH: defaultPath,
    ...passed,
    HOME: paths.home,
    TMPDIR: paths.temporary,
    TF_CLI_CONFIG_FILE: paths.cliConfiguration,
    TF_WORKSPACE: workspaceName,
    TF_IN_AUTOMATION: "1",
    TF_INPUT: "0",
    CHECKPOINT_DISABLE: "1",
    ...(paths.sshKey === undefined ? {} : { GIT_SSH_COMMAND: sshCommand(paths.sshKey, paths.knownHosts) }),
    ...Object.fromEntries(inputs),
    ...Object.fromEntries(own),
  }
}

export interface RunSurroundings {
  readonly workspaceName: string
  readonly paths: RunPaths
  /** Variables of the agent that runs see: `--pass-env`. */
  readonly passed: Readonly<Record<string, string>>
}

/** The folder of a run knows no host yet, so each host key is accepted on first use. */
const sshCommand = (key: string, knownHosts: string): string =>
  `ssh -i ${shellQuoted(key)} -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=${shellQuoted(knownHosts)}`

const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
