/** Destination of the audit log. */
export type AuditTarget =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stdout" }
  | ({ readonly kind: "syslog" } & SyslogAddress)

export type SyslogAddress =
  | { readonly transport: "udp" | "tcp" | "tls"; readonly host: string; readonly port: number }
  | { readonly transport: "unix"; readonly path: string }

/** Registered ports of syslog over UDP, TCP (RFC 6587 names 514 and 601) and TLS (RFC 5425). */
const usualPorts = { udp: 514, tcp: 601, tls: 6514 } as const

/**
 * Parses a path, `stdout`, `syslog+udp://HOST:PORT`, `syslog+tcp://…`, `syslog+tls://…`, or `syslog+unix:PATH` of a stream socket. Returns
 * undefined if the text is invalid.
 */
export function parseAuditTarget(text: string): AuditTarget | undefined {
  if (text === "stdout") return { kind: "stdout" }
  if (text.startsWith("syslog+unix:")) {
    const path = text.slice("syslog+unix:".length)
    return path.startsWith("/") ? { kind: "syslog", transport: "unix", path } : undefined
  }
  if (!/^syslog(\+|:)/.test(text)) return text === "" ? undefined : { kind: "file", path: text }
  const [, transport, rest] = /^syslog\+(udp|tcp|tls):\/\/([^/?#@]+)\/?$/.exec(text) ?? []
  // Parsed as http, whose syntax `URL` knows.
  const url = rest === undefined ? null : URL.parse(`http://${rest}`)
  if (url === null || url.hostname === "" || url.port === "0") return undefined
  const usual = usualPorts[transport as keyof typeof usualPorts]
  // `URL` drops the default port of its scheme.
  const port = rest?.endsWith(":80") === true ? 80 : url.port === "" ? usual : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return { kind: "syslog", transport: transport as keyof typeof usualPorts, host, port }
}

/** Returns the text that `parseAuditTarget` parses. */
export function formatAuditTarget(target: AuditTarget): string {
  if (target.kind === "file") return target.path
  if (target.kind === "stdout") return "stdout"
  if (target.transport === "unix") return `syslog+unix:${target.path}`
  const host = target.host.includes(":") ? `[${target.host}]` : target.host
  return `syslog+${target.transport}://${host}:${target.port}`
}
