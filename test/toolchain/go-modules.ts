// Builds Go programs for tests into the cache, keyed by their sources, so that an unchanged program is built once.
import { execFile } from "node:child_process"
import { createHash, type Hash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { warnMissing } from "./missing.ts"

const run = promisify(execFile)

/** The public Go client of the workspace API, with a program that exercises the API. */
export const goTfeFolder = join(import.meta.dirname, "../e2e/clients/go-tfe")

/** The ACME code of Caddy and of cert-manager, as one command. */
export const acmeGoFolder = join(import.meta.dirname, "../e2e/clients/acme-go")

/** The public Go clients of the certificate API, with a program that exercises the API. */
export const vaultGoFolder = join(import.meta.dirname, "../e2e/clients/vault-go")

/** The controllers of cert-manager. */
export const certManagerFolder = join(import.meta.dirname, "cert-manager")

/** Renders files from the certificate API. The module only pins the release and has no sources of ours. */
export const consulTemplateFolder = join(import.meta.dirname, "consul-template")

/** Lints certificates, CRLs and OCSP responses. */
export const zlintFolder = join(import.meta.dirname, "../validators/zlint")

/** Writes CRLs. */
export const crlsFolder = join(import.meta.dirname, "../validators/crls")

/** Computes the status of Kubernetes objects as GitOps tools do. */
export const kstatusFolder = join(import.meta.dirname, "../validators/kstatus")

/** The Pulumi engine with its command. The module only pins the release and has no sources of ours. */
export const pulumiFolder = join(import.meta.dirname, "pulumi")

/** Renders the operator's chart. The module only pins the release and has no sources of ours. */
export const helmFolder = join(import.meta.dirname, "helm")

/** The command line tool OpenTofu. The module only pins the release and has no sources of ours. */
export const openTofuFolder = join(import.meta.dirname, "opentofu")

export const goInstallation =
  "Go was not found, so the suites that run public Go programs do not run. Install Go 1.25 or newer (https://go.dev/dl) and " +
  "build them with `npm run toolchain`."

/** Returns the folder of a module that a program is built from. Downloads the module if needed. */
export async function moduleFolder(folder: string, module: string): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", module], { cwd: folder })
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}

/** Returns the binary that was built from the current sources; undefined if there is none. */
export async function findGoProgram(folder: string): Promise<string | undefined> {
  const program = await addressOf(folder)
  return existsSync(program) ? program : undefined
}

/** Returns the binary, building it if needed. If that fails, logs a warning and returns undefined; in CI it throws. */
export async function goProgram(folder: string): Promise<string | undefined> {
  try {
    return (await findGoProgram(folder)) ?? (await buildGoProgram(folder))
  } catch (error) {
    return warnMissing(error instanceof Error ? error.message : String(error))
  }
}

export async function buildGoProgram(folder: string): Promise<string> {
  if (!(await goAnswers())) throw new Error(goInstallation)
  const program = await addressOf(folder)
  await mkdir(cacheFolder("go"), { recursive: true })
  // Renamed once complete: several test runs may build at once.
  const unfinished = `${program}.${process.pid}`
  try {
    const target = await targetOf(folder)
    await run("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", unfinished, ...target], {
      cwd: folder,
      // Without a C compiler the build is the same on every machine.
      env: { ...process.env, CGO_ENABLED: "0" },
    })
    await rename(unfinished, program)
  } finally {
    await rm(unfinished, { force: true })
  }
  return program
}

/** Returns the build arguments for a program of ours, or for the tool that the module names. */
async function targetOf(folder: string): Promise<readonly string[]> {
  if (folder === helmFolder || folder === consulTemplateFolder) return ["-ldflags", "-s -w", "tool"]
  // Without the flag it reports a development version.
  if (folder === openTofuFolder) return ["-ldflags", "-s -w -X github.com/opentofu/opentofu/version.dev=no", "tool"]
  if (folder !== pulumiFolder) return ["."]
  // Sets the version, as Pulumi's own builds do.
  const [, version] = /pulumi\/sdk\/v3 (v\S+)/.exec(await readFile(join(pulumiFolder, "go.mod"), "utf8")) ?? []
  return ["-ldflags", `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${version}`, "tool"]
}

export const goAnswers = (): Promise<boolean> =>
  run("go", ["version"]).then(
    () => true,
    () => false,
  )

/** Returns the path of the binary for the current sources. */
export async function addressOf(folder: string): Promise<string> {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`)
  for (const name of (await readdir(folder)).toSorted()) await addFile(hash, folder, name)
  return join(cacheFolder("go"), `${basename(folder)}-${hash.digest("hex").slice(0, 16)}`)
}

async function addFile(hash: Hash, folder: string, name: string): Promise<void> {
  const content = await readFile(join(folder, name))
  hash.update(`${name} ${content.length}\n`).update(content)
}
