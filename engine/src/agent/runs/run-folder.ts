// Folder of one run: its configuration, state, variables, HOME and temporary files. It is removed with all its content after the run.
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import type { RunClaims, RunClaimView } from "../../workspaces/runs/run-claim.ts"
import { isEngineError } from "../../core/errors.ts"
import { runEnvironment, variableFile } from "./run-inputs.ts"
import { RunFailure } from "./run-failure.ts"
import type { PlanPaths } from "./tool-arguments.ts"
import { unpackConfiguration } from "./unpack-configuration.ts"

export interface RunFolder extends AsyncDisposable {
  readonly root: string
  /** Working directory of the tool, in the configuration. */
  readonly cwd: string
  readonly paths: PlanPaths
  readonly statePath: string
  readonly environment: Readonly<Record<string, string>>
  /** Values that the log must not contain. */
  readonly secrets: readonly string[]
  /** State at the beginning. Undefined if the workspace had none. */
  readonly stateBefore: Buffer | undefined
  /** Throws `RunFailure` if the tool would store its state elsewhere. */
  assertOwnBackend(): Promise<void>
}

export interface RunFolderOptions {
  readonly claims: RunClaims
  readonly claim: RunClaimView
  /** Folder in which the run's folder is made. */
  readonly parent: string
  readonly cliConfiguration: string
  readonly passed: Readonly<Record<string, string>>
}

/** Last name of all that a configuration is likely to have, because the last override counts. */
const overrideFile = "zzzz_chancery_override.tf.json"

export async function openRunFolder(options: RunFolderOptions): Promise<RunFolder> {
  const { claims, claim, parent, cliConfiguration, passed } = options
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const root = await realpath(await mkdtemp(join(parent, `${claim.run.id}-`)))
  const remove = () => removeFolder(root)
  try {
    const inRoot = (name: string) => join(root, name)
    const [configuration, home, temporary, states] = ["configuration", "home", "tmp", "state"].map(inRoot) as [
      string,
      string,
      string,
      string,
    ]
    for (const folder of [configuration, home, temporary]) await mkdir(folder, { mode: 0o700 })
    // A workspace of the local backend exists if its folder does.
    const stateFolder = join(states, claim.workspace.name)
    await mkdir(stateFolder, { recursive: true, mode: 0o700 })
    const archive = await orNothing(claims.configuration(claim.id))
    if (archive === undefined) throw new RunFailure("The run has no configuration that the server stores.")
    await unpackConfiguration(archive, configuration)
    const cwd = await workingFolder(configuration, claim.workspace.workingDirectory)

    const statePath = join(stateFolder, "terraform.tfstate")
    const stateBefore = await readState(claims, claim.id)
    if (stateBefore !== undefined) {
      await writeFile(statePath, stateBefore, { mode: 0o600 })
      // After a crash of the agent, it shows whether the tool has changed the state.
      await writeFile(inRoot("state-before"), stateBefore, { mode: 0o600 })
    }
    // Relative, because a plan contains it, and the apply can happen in another folder.
    const workspaceFolder = relative(cwd, states)
    const backend = { terraform: { backend: { local: { workspace_dir: workspaceFolder } } } }
    await writeFile(join(cwd, overrideFile), JSON.stringify(backend))

    const variables = await claims.variables(claim.id)
    const paths: PlanPaths = {
      plan: inRoot("plan.tfplan"),
      variables: inRoot("run.tfvars"),
      generatedConfiguration: inRoot("generated.tf"),
    }
    await writeFile(paths.variables, variableFile(claim.run, variables), { mode: 0o600 })
    await writeFile(inRoot("terraformrc"), cliConfiguration, { mode: 0o600 })
    const key = claim.workspace.hasSshKey ? await orNothing(claims.sshKey(claim.id)) : undefined
    const sshKey = key === undefined ? undefined : inRoot("ssh-key")
    if (sshKey !== undefined) await writeFile(sshKey, `${key?.trimEnd()}\n`, { mode: 0o600 })
    const sensitive = variables.filter((variable) => variable.sensitive).map(({ value }) => value)
    return {
      root,
      cwd,
      paths,
      statePath,
      environment: runEnvironment(variables, {
        workspaceName: claim.workspace.name,
        passed,
        paths: {
          home,
          temporary,
          cliConfiguration: inRoot("terraformrc"),
          sshKey,
          knownHosts: inRoot("known-hosts"),
        },
      }),
      secrets: key === undefined ? sensitive : [...sensitive, key],
      stateBefore,
      assertOwnBackend: () => assertOwnBackend(cwd, workspaceFolder),
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Removes a folder whose content may forbid it, as a program of the run can make read-only folders. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    await makeWritable(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
}

async function workingFolder(configuration: string, directory: string | null): Promise<string> {
  const wanted = join(configuration, directory ?? "")
  const found = await realpath(wanted).catch(() => undefined)
  const isInside = found === configuration || found?.startsWith(configuration + sep) === true
  if (found === undefined || !isInside || !(await lstat(found)).isDirectory())
    throw new RunFailure(
      `The configuration has no folder ${JSON.stringify(directory)}, the workspace's working-directory.`,
    )
  return found
}

async function assertOwnBackend(cwd: string, workspaceFolder: string): Promise<void> {
  const text = await readFile(join(cwd, ".terraform", "terraform.tfstate"), "utf8").catch(() => "{}")
  const { backend } = JSON.parse(text) as {
    readonly backend?: { readonly type?: string; readonly config?: { readonly workspace_dir?: unknown } }
  }
  if (backend?.type === "local" && backend.config?.workspace_dir === workspaceFolder) return
  throw new RunFailure(
    `The configuration sets its backend in an override file that is read after ${overrideFile}. Remove it: the state of a remote run is stored by its workspace.`,
  )
}

async function readState(claims: RunClaims, id: string): Promise<Buffer | undefined> {
  const stream = await orNothing(claims.state(id))
  if (stream === undefined) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
