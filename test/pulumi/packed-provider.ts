// The provider as users have it: what its package holds, without the sources, beside the packages that it stands on.
import { cp, mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleProvider } from "../../provider/scripts/bundle.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Into a folder of programs; what is built has been built. Tells where in it the provider's package lies. */
export async function installPackedProvider(folder: string): Promise<string> {
  const packages = join(folder, "node_modules")
  await mkdir(join(packages, "@chancery"), { recursive: true })
  // Nothing else is found from the provider's package where pnpm has laid it.
  await symlink(join(root, "node_modules/@pulumi"), join(packages, "@pulumi"))
  await symlink(join(root, "engine"), join(packages, "@chancery/engine"))
  const installed = join(packages, "@chancery/pulumi")
  for (const name of ["package.json", "dist"])
    await cp(join(root, "provider", name), join(installed, name), { recursive: true })
  await bundleProvider(join(installed, "bundled"))
  return installed
}
