import { isIP } from "node:net"

export interface ManagedTls {
  readonly mount: string
  readonly role: string
  /** Names and addresses of the server. The first name becomes the common name. */
  readonly hosts: readonly string[]
}

/** Parses `pki/web:chancery.example,10.0.0.1`. Returns undefined for anything else. */
export function parseManagedTls(text: string): ManagedTls | undefined {
  const [, mount, role, list] = /^(.+)\/([^/:]+):([^/]+)$/.exec(text) ?? []
  if (mount === undefined || role === undefined || list === undefined) return undefined
  const hosts = list.split(",").map((host) => host.trim())
  return hosts.every((host) => isIP(host) !== 0 || isHostName(host)) ? { mount, role, hosts } : undefined
}

const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(text)
