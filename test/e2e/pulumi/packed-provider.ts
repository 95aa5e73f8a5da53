// Installs the provider as users have it: the files that `npm pack` includes, without the sources, next to its dependencies.
import { execFile } from "node:child_process"
import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

/** Installs into a folder of programs. The provider must have been built. */
export async function installPackedProvider(folder: string): Promise<void> {
  const packages = join(folder, "node_modules")
  const installed = join(packages, "@chancery/pulumi")
  await mkdir(installed, { recursive: true })
  // With pnpm's layout, the provider's package resolves nothing else.
  await symlink(join(root, "node_modules/@pulumi"), join(packages, "@pulumi"))
  await symlink(join(root, "engine"), join(packages, "@chancery/engine"))
  const words = ["pack", "--silent", "--workspace", "provider", "--pack-destination", folder]
  const { stdout } = await run("npm", words, { cwd: root })
  await run("tar", ["-xzf", join(folder, stdout.trim()), "--strip-components=1", "-C", installed])
}
