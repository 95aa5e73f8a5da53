// Finds the tools that store their state here: terraform if it is installed, and OpenTofu, which is built from its module. terraform is not
// downloaded, because its license forbids some users to use it.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findGoProgram, openTofuFolder } from "./go-modules.ts"
import { warnMissing } from "./missing.ts"

const variable = "CHANCERY_TERRAFORM"

export const openTofuInstallation =
  "No OpenTofu was built, so the suites in which it keeps its state do not run. `npm run toolchain` builds one where Go 1.26 " +
  "or newer is on the PATH, which takes some minutes."

export interface TerraformProgram {
  readonly program: string
  readonly kind: "terraform" | "opentofu"
  /** Version as the tool reports it to servers. */
  readonly version: string
}

/** Returns all tools, terraform first. A missing OpenTofu is logged as a warning; in CI it is an error. */
export async function terraformPrograms(): Promise<readonly TerraformProgram[]> {
  const found = [await findTerraform(), (await findOpenTofu()) ?? warnMissing(openTofuInstallation)]
  return found.filter((each) => each !== undefined)
}

/** Returns the terraform on the PATH or named by the variable. Undefined if the variable is unset and there is none. */
export async function findTerraform(): Promise<TerraformProgram | undefined> {
  const named = process.env[variable] || undefined
  const found = await versionOf(named ?? "terraform")
  if (found === undefined && named !== undefined) throw new Error(`${variable} names ${named}, which is no terraform.`)
  return found
}

export async function findOpenTofu(): Promise<TerraformProgram | undefined> {
  const program = await findGoProgram(openTofuFolder)
  return program === undefined ? undefined : versionOf(program)
}

async function versionOf(program: string): Promise<TerraformProgram | undefined> {
  // Ignores the user's own settings, and disables the check for newer releases.
  const env = { ...process.env, TF_CLI_CONFIG_FILE: "", CHECKPOINT_DISABLE: "1" }
  const answer = await promisify(execFile)(program, ["version"], { env }).catch(() => undefined)
  const [, name, version] = /^(Terraform|OpenTofu) v(\S+)/m.exec(answer?.stdout ?? "") ?? []
  if (version === undefined) return undefined
  return { program, kind: name === "OpenTofu" ? "opentofu" : "terraform", version }
}
