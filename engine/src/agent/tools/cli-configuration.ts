// Text of the CLI configuration file of a run (`TF_CLI_CONFIG_FILE`): where providers are installed from, and their cache.
import { isAbsolute } from "node:path"
import { ToolError } from "./tool-error.ts"

export interface CliConfigurationOptions {
  /** `--provider-mirror`: https URL of a network mirror, or absolute path of a folder. Providers are then installed from nowhere else. */
  readonly providerMirror?: string
  /** Folder of `preparePluginCache`. */
  readonly pluginCache?: string
}

/** Returns the text. Throws `ToolError` if an option is not usable. */
export function cliConfiguration({ providerMirror, pluginCache }: CliConfigurationOptions): string {
  return [
    // The agent may not reach the service that announces new releases, and a log of a run needs no such notice.
    "disable_checkpoint = true\n",
    ...(pluginCache === undefined ? [] : [`plugin_cache_dir = ${quote(pluginCache, "cache")}\n`]),
    ...(providerMirror === undefined ? [] : [`provider_installation {\n${mirrorBlock(providerMirror)}}\n`]),
  ].join("")
}

/** Without a block `direct`, the registries are never contacted. */
function mirrorBlock(mirror: string): string {
  if (isAbsolute(mirror)) return `  filesystem_mirror {\n    path = ${quote(mirror, "--provider-mirror")}\n  }\n`
  const url = URL.parse(mirror)
  // The text is not repeated, because it may contain a password.
  if (url?.protocol !== "https:" || url.search !== "" || url.hash !== "")
    throw new ToolError("--provider-mirror must be an https URL without a query, or an absolute path")
  // Both programs read credentials for a host from other settings, and send none from this URL.
  if (url.username !== "" || url.password !== "")
    throw new ToolError("--provider-mirror must not contain a user name or password; set TF_TOKEN_<host> instead")
  const base = url.href.endsWith("/") ? url.href : `${url.href}/`
  return `  network_mirror {\n    url = ${quote(base, "--provider-mirror")}\n  }\n`
}

/**
 * Returns a string of HCL 1, the language of this file. `$` is rejected: Terraform replaces environment variables in `plugin_cache_dir`,
 * and the language has no escape for it.
 */
function quote(text: string, member: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\u007f]/.test(text) || text.includes("$"))
    throw new ToolError(`${member} must not contain $ or control characters`)
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
