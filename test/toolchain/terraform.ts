// Finds the command line tools that keep their state here: terraform, where there is one, and OpenTofu, which is built from its
// module. terraform is not fetched: its makers' terms forbid some to use it.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findGoProgram, openTofuFolder } from "./go-modules.ts"
import { sayMissing } from "./missing.ts"

const variable = "CHANCERY_TERRAFORM"

export const openTofuInstallation =
  "No OpenTofu was built, so the suites in which it keeps its state do not run. `npm run toolchain` builds one where Go 1.26 " +
  "or newer is on the PATH, which takes some minutes."

export interface TerraformProgram {
  readonly program: string
  readonly kind: "terraform" | "opentofu"
  /** As it tells its servers. */
  readonly version: string
}

/** All that there are, terraform first. A missing OpenTofu is said loudly, and in CI it is an error. */
export async function terraformPrograms(): Promise<readonly TerraformProgram[]> {
  const found = [await findTerraform(), (await findOpenTofu()) ?? sayMissing(openTofuInstallation)]
  return found.filter((each) => each !== undefined)
}

/** The one on the PATH or named by the variable; undefined where it names none and none is there. */
export async function findTerraform(): Promise<TerraformProgram | undefined> {
  const named = process.env[variable] || undefined
  const found = await asked(named ?? "terraform")
  if (found === undefined && named !== undefined) throw new Error(`${variable} names ${named}, which is no terraform.`)
  return found
}

export async function findOpenTofu(): Promise<TerraformProgram | undefined> {
  const program = await findGoProgram(openTofuFolder)
  return program === undefined ? undefined : asked(program)
}

async function asked(program: string): Promise<TerraformProgram | undefined> {
  // The machine's own settings are not those of the tests, and nobody is to be told that a newer release is out.
  const env = { ...process.env, TF_CLI_CONFIG_FILE: "", CHECKPOINT_DISABLE: "1" }
  const answer = await promisify(execFile)(program, ["version"], { env }).catch(() => undefined)
  const [, name, version] = /^(Terraform|OpenTofu) v(\S+)/m.exec(answer?.stdout ?? "") ?? []
  if (version === undefined) return undefined
  return { program, kind: name === "OpenTofu" ? "opentofu" : "terraform", version }
}
