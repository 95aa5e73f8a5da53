/** Where the audit log goes. */
export type AuditTarget =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stdout" }
  | ({ readonly kind: "syslog" } & SyslogAddress)

export type SyslogAddress =
  | { readonly transport: "udp" | "tcp" | "tls"; readonly host: string; readonly port: number }
  | { readonly transport: "unix"; readonly path: string }

/** Registered for syslog over UDP, TCP (RFC 6587 names 514 and 601) and TLS (RFC 5425). */
const usualPorts = { udp: 514, tcp: 601, tls: 6514 } as const

/**
 * The path of a file, `stdout`, `syslog+udp://HOST:PORT`, `syslog+tcp://…`, `syslog+tls://…` or `syslog+unix:PATH` of a stream
 * socket; undefined for an address that is none.
 */
export function parseAuditTarget(text: string): AuditTarget | undefined {
  if (text === "stdout") return { kind: "stdout" }
  if (text.startsWith("syslog+unix:")) {
    const path = text.slice("syslog+unix:".length)
    return path.startsWith("/") ? { kind: "syslog", transport: "unix", path } : undefined
  }
  if (!/^syslog(\+|:)/.test(text)) return text === "" ? undefined : { kind: "file", path: text }
  const [, transport, rest] = /^syslog\+(udp|tcp|tls):\/\/([^/?#@]+)\/?$/.exec(text) ?? []
  // Of a scheme that URL knows the syntax of.
  const url = rest === undefined ? null : URL.parse(`http://${rest}`)
  if (url === null || url.hostname === "" || url.port === "0") return undefined
  const usual = usualPorts[transport as keyof typeof usualPorts]
  // URL drops the port that its scheme has anyway.
  const port = rest?.endsWith(":80") === true ? 80 : url.port === "" ? usual : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return { kind: "syslog", transport: transport as keyof typeof usualPorts, host, port }
}

/** As it would be typed. */
export function formatAuditTarget(target: AuditTarget): string {
  if (target.kind === "file") return target.path
  if (target.kind === "stdout") return "stdout"
  if (target.transport === "unix") return `syslog+unix:${target.path}`
  const host = target.host.includes(":") ? `[${target.host}]` : target.host
  return `syslog+${target.transport}://${host}:${target.port}`
}
