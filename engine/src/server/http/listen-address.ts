import { isIPv6 } from "node:net"

export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** Parses `127.0.0.1:8420`, `[::1]:8420`, `:8420` (every interface) or `unix:/run/chancery.sock`. Returns undefined for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  if (text.startsWith("unix:")) return text.length > "unix:".length ? { path: text.slice("unix:".length) } : undefined
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) return undefined
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined
  return { host: plain === "" || plain === undefined ? "::" : plain, port }
}

/** Returns `http://127.0.0.1:8420`, `https://[::1]:8420` or `unix:/run/chancery.sock`. */
export function urlOf(address: ListenAddress, scheme: "http" | "https"): string {
  if ("path" in address) return `unix:${address.path}`
  return `${scheme}://${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`
}
