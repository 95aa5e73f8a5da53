// The provider as users have it: what `npm pack` takes, without the sources, beside the packages that it stands on.
import { execFile } from "node:child_process"
import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

/** Into a folder of programs; what is built has been built. */
export async function installPackedProvider(folder: string): Promise<void> {
  const packages = join(folder, "node_modules")
  const installed = join(packages, "@chancery/pulumi")
  await mkdir(installed, { recursive: true })
  // Nothing else is found from the provider's package where pnpm has laid it.
  await symlink(join(root, "node_modules/@pulumi"), join(packages, "@pulumi"))
  await symlink(join(root, "engine"), join(packages, "@chancery/engine"))
  const words = ["pack", "--silent", "--workspace", "provider", "--pack-destination", folder]
  const { stdout } = await run("npm", words, { cwd: root })
  await run("tar", ["-xzf", join(folder, stdout.trim()), "--strip-components=1", "-C", installed])
}
