// Builds go-tfe's own integration tests from the module's zip. The sources are copied into the cache, outside the checkout.
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "../../../toolchain/cache.ts"
import { goAnswers, goInstallation } from "../../../toolchain/go-modules.ts"
import { warnMissing } from "../../../toolchain/missing.ts"
import { type Edit, edits } from "./edits.ts"
import { testFiles } from "./test-files.ts"

const run = promisify(execFile)

/** Holds go.mod, which pins the release, and `go.sum`, which pins its content. */
const moduleFolder = import.meta.dirname
const modulePath = "github.com/hashicorp/go-tfe"

export interface TestProgram {
  readonly binary: string
  /** Holds the fixtures that the tests read by relative paths. */
  readonly folder: string
}

/** Builds the program, or returns the one built before. Without Go, it logs a warning and returns undefined; in CI it throws. */
export async function goTfeTests(): Promise<TestProgram | undefined> {
  try {
    return (await findGoTfeTests()) ?? (await buildGoTfeTests())
  } catch (error) {
    return warnMissing(error instanceof Error ? error.message : String(error))
  }
}

/** Returns undefined if this release has not been built with these edits. */
export async function findGoTfeTests(): Promise<TestProgram | undefined> {
  const program = await programAddress()
  return existsSync(program.binary) ? program : undefined
}

async function programAddress(): Promise<TestProgram> {
  const folder = join(cacheFolder("go"), `go-tfe-suite-${await cacheKey()}`)
  return { binary: join(folder, "suite"), folder }
}

export async function buildGoTfeTests(): Promise<TestProgram> {
  if (!(await goAnswers())) throw new Error(goInstallation)
  const program = await programAddress()
  const { folder } = program
  await mkdir(cacheFolder("go"), { recursive: true })
  // Renamed once complete: several test runs may build at once.
  const unfinished = await mkdtemp(`${folder}.`)
  try {
    await copySources(await downloadModule(), unfinished)
    const args = ["test", "-c", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", "suite", "."]
    await run("go", args, { cwd: unfinished, env: { ...process.env, CGO_ENABLED: "0" }, maxBuffer: 16 * 1024 * 1024 })
    await rename(unfinished, folder).catch((error: unknown) => {
      if (!existsSync(program.binary)) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return program
}

async function cacheKey(): Promise<string> {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`)
  hash.update(await readFile(join(moduleFolder, "go.sum")))
  return hash
    .update(JSON.stringify([testFiles, edits]))
    .digest("hex")
    .slice(0, 16)
}

async function downloadModule(): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", modulePath], { cwd: moduleFolder })
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}

async function copySources(from: string, to: string): Promise<void> {
  const { stdout } = await run("go", ["list", "-f", '{{join .GoFiles "\\n"}}', "."], { cwd: from })
  const names = [...stdout.split("\n").filter((name) => name !== ""), ...testFiles, "go.mod", "go.sum"]
  for (const name of names) {
    const text = await readFile(join(from, name), "utf8")
    // Rewritten instead of copied, because files of the module cache are read-only.
    await writeFile(join(to, name), applyEdits(name, text))
  }
  await cp(join(from, "test-fixtures"), join(to, "test-fixtures"), { recursive: true })
  await run("chmod", ["-R", "u+w", to])
}

function applyEdits(name: string, text: string): string {
  return edits.filter(({ file }) => file === name).reduce((edited, edit) => applyEdit(edited, edit), text)
}

/** Throws if the pattern is not found, because the edit was made for another release. */
function applyEdit(text: string, { file, find, replacement }: Edit): string {
  const pieces = text.split(find)
  if (pieces.length === 1) throw new Error(`${file} does not contain ${find}`)
  return pieces.join(replacement)
}
