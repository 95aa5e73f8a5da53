// A temporary folder with all that a run needs: its configuration, the workspace's state and variables, and the program.
import { execFile, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Claim, Run, Variable } from "./claim.ts"
import type { Log } from "./log.ts"

export interface Workbench extends AsyncDisposable {
  readonly planPath: string
  /** Runs the program, logs its output and returns its exit status. `signal` interrupts it, as Ctrl-C does. */
  run(words: readonly string[], log: Log): Promise<number>
  /** Returns the program's output instead of logging it. */
  output(words: readonly string[]): Promise<Buffer>
  /** Returns the state if the program changed it. */
  newState(): Promise<NewState | undefined>
  /** Keeps the folder for inspection and returns its path. */
  keep(): string
}

interface NewState {
  readonly bytes: Buffer
  readonly announced: { readonly serial: number; readonly lineage: string; readonly md5: string }
}

/** One that does not stop when it is interrupted is killed. */
const timeoutMs = 60_000
const maxOutputBytes = 64 * 1024 * 1024

export async function openWorkbench(program: string, claim: Claim, signal: AbortSignal): Promise<Workbench> {
  const root = await mkdtemp(join(tmpdir(), "chancery-run-"))
  let isSaved = false
  const close = async (): Promise<void> => {
    if (!isSaved) await rm(root, { recursive: true, force: true })
  }
  try {
    const configuration = join(root, "configuration")
    await mkdir(configuration)
    const archive = await claim.configuration()
    if (archive === undefined) throw new Error("the run has no configuration here")
    const archivePath = join(root, "configuration.tar.gz")
    await writeFile(archivePath, archive)
    await promisify(execFile)("tar", ["-xzf", archivePath, "-C", configuration])

    const folder = join(configuration, claim.workingDirectory)
    const statePath = join(folder, "terraform.tfstate")
    const planPath = join(folder, "chancery.tfplan")
    const before = await claim.state()
    if (before !== undefined) await writeFile(statePath, before)
    // Whatever the configuration says of a backend, the state is the one beside it.
    const local = { terraform: { backend: { local: { path: "terraform.tfstate" } } } }
    await writeFile(join(folder, "chancery_override.tf.json"), JSON.stringify(local))
    const variables = await claim.variables()
    await writeFile(join(folder, "zz_chancery.auto.tfvars"), inputs(claim.run, variables), { mode: 0o600 })
    const planFile = await claim.planFile()
    if (planFile !== undefined) await writeFile(planPath, planFile)

    const own = variables.filter(({ category }) => category === "env").map(({ key, value }) => [key, value])
    const { PATH, HOME } = process.env
    const environment = { PATH, HOME, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1", TF_INPUT: "0" }
    const env = { ...environment, ...(Object.fromEntries(own) as Record<string, string>) }

    return {
      planPath,
      run: (words, log) =>
        new Promise((resolve, reject) => {
          const child = spawn(program, [...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })
          let killing: NodeJS.Timeout | undefined
          const interrupt = (): void => {
            child.kill("SIGINT")
            killing = setTimeout(() => child.kill("SIGKILL"), timeoutMs)
          }
          if (signal.aborted) interrupt()
          else signal.addEventListener("abort", interrupt, { once: true })
          child.stdout.on("data", (piece: Buffer) => log.write(piece))
          child.stderr.on("data", (piece: Buffer) => log.write(piece))
          child.on("error", reject)
          child.on("close", (code) => {
            signal.removeEventListener("abort", interrupt)
            clearTimeout(killing)
            resolve(code ?? 1)
          })
        }),
      async output(words) {
        const options = { cwd: folder, env, encoding: "buffer", maxBuffer: maxOutputBytes } as const
        return (await promisify(execFile)(program, [...words], options)).stdout
      },
      async newState() {
        const bytes = await readFile(statePath).catch(() => undefined)
        if (bytes === undefined || (before !== undefined && bytes.equals(before))) return undefined
        const { serial, lineage } = JSON.parse(bytes.toString()) as { serial: number; lineage: string }
        return { bytes, announced: { serial, lineage, md5: createHash("md5").update(bytes).digest("hex") } }
      },
      keep() {
        isSaved = true
        return statePath
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Values for the configuration's variables; those of the run count before those of its workspace. */
function inputs(run: Run, variables: readonly Variable[]): string {
  const values = new Map<string, string>()
  for (const { key, value, category, hcl } of variables)
    if (category === "terraform") values.set(key, hcl ? value : quoted(value))
  for (const { key, value } of run.variables) values.set(key, value)
  return [...values].map(([key, value]) => `${key} = ${value}\n`).join("")
}

/** As text of the configuration language, in which `${` and `%{` begin something. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll(/([$%])\{/g, "$1$1{")
