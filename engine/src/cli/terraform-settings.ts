// CLI configuration for Terraform and OpenTofu, written by `chancery dev`: the addresses of the services and the token. With it, plain HTTP
// works and no login is needed.
import { workspaceServices } from "../core/discovery.ts"
import type { RunningServer } from "../server/server.ts"

/** Host name for cloud blocks, and the text of the CLI configuration file. */
export interface TerraformSettings {
  readonly hostname: string
  readonly text: string
}

/**
 * Returns the settings, or undefined for a server on a unix socket, which Terraform cannot reach. The host has the port of HTTPS if HTTPS
 * is served, so that the same configuration also works for users who log in there.
 */
export function terraformSettings(
  { url, httpsUrl }: Pick<RunningServer, "url" | "httpsUrl">,
  token: string,
): TerraformSettings | undefined {
  if (isLocalSocket(url)) return undefined
  const hostname = `localhost:${new URL(httpsUrl === undefined || isLocalSocket(httpsUrl) ? url : httpsUrl).port}`
  const services = Object.entries(workspaceServices).map(
    ([name, path]) => `    "${name}" = "${new URL(path, url).href}"\n`,
  )
  const text = `host "${hostname}" {\n  services = {\n${services.join("")}  }\n}\n\ncredentials "${hostname}" {\n  token = "${token}"\n}\n`
  return { hostname, text }
}

const isLocalSocket = (url: string): boolean => url.startsWith("unix:")
