// What `chancery dev` leaves for terraform and OpenTofu: where its services are and the token to send, so that plain HTTP will
// do and nobody has to sign in first.
import { workspaceServices } from "../core/discovery.ts"
import type { RunningServer } from "../server/server.ts"

/** A host as configurations name it, and the tools' own settings for it. */
export interface TerraformSettings {
  readonly hostname: string
  readonly text: string
}

/**
 * The host is the one at which HTTPS is served, where it is, so that a configuration stays as it is for whoever signs in there
 * instead. Undefined for a server on a local socket, which the tools cannot reach.
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
