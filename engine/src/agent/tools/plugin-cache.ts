// Caches of provider plugins (`plugin_cache_dir`). Terraform documents that the folder is not safe for several `terraform init` at the same
// time (https://developer.hashicorp.com/terraform/cli/config/config-file#provider-plugin-cache); OpenTofu locks it from 1.10 on.
//
// Each slot of an agent therefore has a folder of its own, because a slot executes one run at a time. A lock around `init` would need
// an owner and an expiry that survive a killed agent, and every run would wait for the slowest download. The price is a copy of each
// provider for each slot.
import { mkdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { isAtLeast } from "../../workspaces/workspace/terraform-version.ts"
import type { ToolKind } from "./tool.ts"
import { ToolError } from "./tool-error.ts"

const slotName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/

/**
 * Creates the cache folder of a slot and returns its absolute path. `slot` must be unique among the runs in progress of all agents that
 * share `cache`, for example the name of the agent and a number.
 */
export async function preparePluginCache(cache: string, slot: string): Promise<string> {
  if (!slotName.test(slot))
    throw new ToolError(
      "slot must have 1 to 63 letters, digits, dashes and underscores, and begin with a letter or digit",
    )
  const folder = join(resolve(cache), "plugins", slot)
  // Only the agent's user: a program that another user replaces would run with the credentials of a workspace.
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

/**
 * Returns whether runs of different workspaces may share a plugin cache. A run could replace a plugin in the cache. Terraform uses a
 * cached plugin only if the workspace's dependency lock file has its checksum, but only from 1.4 on. OpenTofu began after that.
 */
export const canSharePluginCache = (kind: ToolKind, version: string): boolean =>
  kind === "opentofu" || isAtLeast(version, "1.4.0")
