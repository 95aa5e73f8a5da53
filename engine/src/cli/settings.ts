// All settings, defined once: flags, environment variables, file, help, documentation and checks are derived from this table. The name
// `publicUrl` gives `--public-url`, `CHANCERY_PUBLIC_URL` and the member `publicUrl` of the file.
import { z } from "zod"
import { parseAuditTarget } from "../audit/audit-target.ts"
import { parsePermittedAddresses } from "../client/outgoing/address-guard.ts"
import type { Edition } from "../core/edition.ts"
import { defaultJsonBounds } from "../core/json-bounds.ts"
import { parseTrustedProxies, proxyHeaders } from "../server/http/client-address.ts"
import { type ListenAddress, parseListenAddress } from "../server/http/listen-address.ts"
import { parseByteSize } from "./byte-size.ts"
import { dayMs, hourMs, parseDuration } from "../core/time.ts"
import { parseManagedTls } from "./managed-tls-setting.ts"
import { logLevels } from "./log-level.ts"
import { parseRsaKeyStock } from "./rsa-key-stock.ts"

export interface Setting {
  /** Value as shown in the help, such as `<address>`. */
  readonly placeholder: string
  readonly summary: string
  /** Completes the sentence "must be …", and contains an example. */
  readonly expects: string
  /** Parses text, since environment variables and flags have no other types. */
  readonly schema: z.ZodType<unknown, string>
  /** Default as a user would type it. Absent means unset. */
  readonly default?: string
  /** Default of `chancery dev`, if it differs. */
  readonly devDefault?: string
  /** Default in the help, if it depends on other settings. */
  readonly defaultNote?: string
  /** Variable under another name that also sets this value. `means` translates its text, and returns undefined to ignore it. */
  readonly also?: { readonly variable: string; readonly means: (text: string) => string | undefined }
  /** Not accepted on the command line, where other users of the machine can read it, and never repeated in a message. */
  readonly secret?: true
  /** May contain a password; never repeated in a message. */
  readonly unquotable?: true
}

const setting = <const S extends Setting>(options: S): S => options

const parsed = <T>(parse: (text: string) => T | undefined): z.ZodType<T, string> =>
  z.string().transform((text, context): T => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: "custom", message: "unreadable" })
    return z.NEVER
  })

const text = z.string().min(1)

const editions = ["self-hosted", "hosted"] as const satisfies readonly Edition[]

export const settings = {
  listen: setting({
    placeholder: "<address>",
    summary: "Address to listen on.",
    expects: "host:port, [ipv6]:port, :port for every interface, or unix:/path, such as 127.0.0.1:8420",
    schema: parsed(parseListenAddress),
    default: "127.0.0.1:8420",
  }),
  data: setting({
    placeholder: "<folder>",
    summary: "Folder for the embedded store, the seal key, the audit log and, in dev, the root token.",
    expects: "the path of a folder",
    schema: text,
    default: ".chancery",
  }),
  storage: setting({
    placeholder: "<url>",
    summary: "URL of the store: an embedded SQLite file or a PostgreSQL database.",
    expects: "sqlite:PATH or postgres://user:password@host/database",
    schema: parsed((url) => (/^(sqlite:.|postgres(ql)?:\/\/.)/.test(url) ? url : undefined)),
    defaultNote: "sqlite:chancery.db in the data folder",
    unquotable: true,
  }),
  storageConnections: setting({
    placeholder: "<number>",
    summary:
      "Maximum number of connections of each server to PostgreSQL and to each read replica, or of read connections to the embedded store.",
    expects: "a whole number from 1 to 1000",
    schema: parsed(parseConnections),
    defaultNote: "10 for PostgreSQL, 4 for the embedded store",
  }),
  storageConnectTimeout: setting({
    placeholder: "<duration>",
    summary: "Maximum time that a request waits for a connection to PostgreSQL. After that, the request gets 503.",
    expects: "a duration from 100ms to 1m, such as 5s",
    schema: parsed((duration) => within(parseDuration(duration), 100, 60_000)),
    default: "5s",
  }),
  storageStatementTimeout: setting({
    placeholder: "<duration>",
    summary:
      "Maximum duration of one PostgreSQL statement. All attempts of one transaction together have the same limit. After that, the request gets 503.",
    expects: "a duration from 100ms to 10m, such as 10s",
    schema: parsed((duration) => within(parseDuration(duration), 100, 600_000)),
    default: "10s",
  }),
  storageLockTimeout: setting({
    placeholder: "<duration>",
    summary: "Maximum time that a statement waits for a PostgreSQL lock. After that, the request gets 503.",
    expects: "a duration from 100ms to 10m, such as 5s",
    schema: parsed((duration) => within(parseDuration(duration), 100, 600_000)),
    default: "5s",
  }),
  storageIdleTimeout: setting({
    placeholder: "<duration>",
    summary:
      "Maximum idle time of an open PostgreSQL transaction. After that, PostgreSQL ends it and releases its locks.",
    expects: "a duration from 1s to 10m, such as 10s",
    schema: parsed((duration) => within(parseDuration(duration), 1_000, 600_000)),
    default: "10s",
  }),
  storageReadReplica: setting({
    placeholder: "<urls>",
    summary:
      "URLs of PostgreSQL standbys of the store (up to 16), which answer lists and counts instead of the primary.",
    expects: "postgres://user:password@host/database, or several of them separated by commas (one within is %2C)",
    schema: parsed(parseReadReplicas),
    unquotable: true,
  }),
  storageReadReplicaWait: setting({
    placeholder: "<duration>",
    summary:
      "Maximum time that a list or count waits for a read replica to replay all earlier commits. After that, the primary answers.",
    expects: "a duration from 10ms to 10s, such as 250ms",
    schema: parsed((duration) => within(parseDuration(duration), 10, 10_000)),
    default: "250ms",
  }),
  sealKeyFile: setting({
    placeholder: "<file>",
    summary: "File with the seal key, which encrypts the secrets in the store.",
    expects: "the path of a file",
    schema: text,
    defaultNote: "seal-key in the data folder, created at the first start of the embedded store; none for PostgreSQL",
  }),
  sealKey: setting({
    placeholder: "<key>",
    summary: "Seal key, which encrypts the secrets in the store, instead of a file.",
    expects: "the base64 of 32 random bytes; after it, separated by commas, keys that are no longer used to seal",
    schema: text,
    secret: true,
  }),
  auditLog: setting({
    placeholder: "<target>",
    summary: "Destination of the audit log, which records every request and every use of an authority's key.",
    expects:
      "the path of a file, stdout, syslog+tls://HOST:PORT, syslog+tcp://HOST:PORT, syslog+udp://HOST:PORT, syslog+unix:PATH, or off",
    schema: parsed((target) => (target === "off" ? target : parseAuditTarget(target))),
    defaultNote: "audit.log in the data folder",
  }),
  auditLogCa: setting({
    placeholder: "<file>",
    summary: "File with CA certificates (PEM) to verify the receiver of the audit log over syslog+tls.",
    expects: "the path of a file",
    schema: text,
    defaultNote: "the CA certificates of Node.js",
  }),
  auditOpenReads: setting({
    placeholder: "<on|off>",
    summary: "Also record reads without a token (certificates, CRLs, OCSP, ACME orders) in the audit log.",
    expects: "on or off",
    schema: z.enum(["on", "off"]),
    default: "off",
  }),
  edition: setting({
    placeholder: "<edition>",
    summary:
      "Edition whose endpoints and attributes the server has. Only self-hosted has data retention policies; only hosted has assessments-enabled.",
    expects: `one of ${editions.join(", ")}`,
    schema: z.enum(editions),
    default: "self-hosted",
  }),
  publicUrl: setting({
    placeholder: "<url>",
    summary: "URL that clients use to reach the server. Links in responses begin with it.",
    expects: "an http or https URL, such as https://chancery.example",
    schema: parsed(parseHttpUrl),
    defaultNote: "the address in each request",
  }),
  rateLimit: setting({
    placeholder: "<number>",
    summary:
      "Maximum number of requests per second for each token, or for each address without a token. Each server counts separately.",
    expects: "a whole number from 1 to 1000000, or off",
    schema: parsed(parseRateLimit),
    default: "30",
    devDefault: "off",
  }),
  maxConnectionsPerAddress: setting({
    placeholder: "<number>",
    summary: "Maximum number of open connections from one address. Trusted proxies and unix sockets have no limit.",
    expects: "a whole number from 1 to 10000, or off",
    schema: parsed((text) => (text === "off" ? text : within(parseCount(text), 1, 10_000))),
    default: "1000",
  }),
  metricsListen: setting({
    placeholder: "<address>",
    summary: "Address to serve /metrics on, over HTTP, instead of the address of the API.",
    expects: "like listen, such as 127.0.0.1:9420",
    schema: parsed(parseListenAddress),
    defaultNote: "none, the API serves /metrics",
  }),
  hsts: setting({
    placeholder: "<duration>",
    summary:
      "Time for which browsers use only HTTPS for this host, sent as Strict-Transport-Security in every HTTPS response.",
    expects: "a duration from 1s to 730d, such as 365d, or off",
    schema: parsed((text) => (text === "off" ? text : within(parseDuration(text), 1_000, 730 * dayMs))),
    default: "365d",
    devDefault: "off",
  }),
  trustedProxies: setting({
    placeholder: "<addresses>",
    summary:
      "Proxies whose forwarding header sets the client address for rate limits, the audit log and the access log, and that may report client certificates in Client-Cert headers (RFC 9440).",
    expects:
      "private, loopback, unix (clients on a unix socket), and ranges such as 192.0.2.1/32, separated by commas, or none",
    schema: parsed(parseTrustedProxies),
    default: "none",
  }),
  proxyHeader: setting({
    placeholder: "<header>",
    summary:
      "Header to which trusted proxies append the client address. The server ignores the other one, because clients can forge it.",
    expects: `one of ${proxyHeaders.join(", ")}`,
    schema: z.enum(proxyHeaders),
    default: "x-forwarded-for",
  }),
  bodyLimit: setting({
    placeholder: "<size>",
    summary: "Maximum size of a request body, except uploaded states (stateLimit) and configuration archives (64MiB).",
    expects: "a size from 1KiB to 1GiB, such as 64MiB",
    schema: parsed((size) => within(parseByteSize(size), 1024, 2 ** 30)),
    default: "64MiB",
  }),
  maxJsonDepth: setting({
    placeholder: "<number>",
    summary: "Maximum nesting depth of arrays and objects in the JSON of a request.",
    expects: "a whole number from 20 to 10000",
    schema: parsed((text) => within(parseCount(text), 20, 10_000)),
    default: String(defaultJsonBounds.depth),
  }),
  maxJsonMembers: setting({
    placeholder: "<number>",
    summary: "Maximum number of members of one object in the JSON of a request, or of parameters in a form.",
    expects: "a whole number from 100 to 1000000",
    schema: parsed((text) => within(parseCount(text), 100, 1_000_000)),
    default: String(defaultJsonBounds.members),
  }),
  maxJsonElements: setting({
    placeholder: "<number>",
    summary: "Maximum number of elements of one array in the JSON of a request.",
    expects: "a whole number from 100 to 1000000",
    schema: parsed((text) => within(parseCount(text), 100, 1_000_000)),
    default: String(defaultJsonBounds.elements),
  }),
  maxJsonString: setting({
    placeholder: "<size>",
    summary:
      "Maximum size of one string in the JSON of a request. States in base64 are exempt; bodyLimit applies to them.",
    expects: "a size from 1KiB to 1GiB, such as 2MiB",
    schema: parsed((size) => within(parseByteSize(size), 1024, 2 ** 30)),
    default: "2MiB",
  }),
  maxJsonValues: setting({
    placeholder: "<number>",
    summary: "Maximum number of values in the JSON of a request. Arrays and objects count too.",
    expects: "a whole number from 1000 to 10000000",
    schema: parsed((text) => within(parseCount(text), 1_000, 10_000_000)),
    default: String(defaultJsonBounds.values),
  }),
  stateLimit: setting({
    placeholder: "<size>",
    summary: "Maximum size of an uploaded state.",
    expects: "a size from 1MiB to 16GiB, such as 1GiB",
    schema: parsed((size) => within(parseByteSize(size), 2 ** 20, 2 ** 34)),
    default: "1GiB",
  }),
  stateSnapshots: setting({
    placeholder: "<duration>",
    summary:
      "Interval at which clients save intermediate states during an apply (header x-terraform-snapshot-interval).",
    expects: "a duration from 1s to 1h in whole seconds, such as 60s, or off",
    schema: parsed(parseSnapshotInterval),
    default: "60s",
  }),
  events: setting({
    placeholder: "<on|off>",
    summary: "Record changes of workspaces as events in the feed of their organization.",
    expects: "on or off",
    schema: z.enum(["on", "off"]),
    default: "on",
  }),
  eventRetention: setting({
    placeholder: "<duration>",
    summary: "Retention time of events in the feed.",
    expects: "a duration from 1h to 365d, such as 7d",
    schema: parsed((duration) => within(parseDuration(duration), hourMs, 365 * dayMs)),
    default: "7d",
  }),
  logLevel: setting({
    placeholder: "<level>",
    summary: "Minimum level of log lines.",
    expects: `one of ${logLevels.join(", ")}`,
    schema: z.enum(logLevels),
    default: "info",
    devDefault: "warn",
  }),
  accessLog: setting({
    placeholder: "<level>",
    summary: "Level of the access log, which has one line per request; off disables it.",
    expects: "one of off, debug, info",
    schema: z.enum(["off", "debug", "info"]),
    default: "info",
  }),
  otlpEndpoint: setting({
    placeholder: "<url>",
    summary:
      "URL of the OpenTelemetry collector for traces and metrics, by OTLP over HTTP. OTEL_* variables set further options (docs/operations.md).",
    expects: "an http or https URL, such as http://127.0.0.1:4318",
    schema: parsed(parseHttpUrl),
    defaultNote: "OTEL_EXPORTER_OTLP_ENDPOINT if it is set, otherwise none",
    also: { variable: "OTEL_EXPORTER_OTLP_ENDPOINT", means: (text) => (text === "" ? undefined : text) },
    unquotable: true,
  }),
  tlsCert: setting({
    placeholder: "<file>",
    summary:
      "File with the certificate chain (PEM) for HTTPS. The server loads a replaced file within seconds. Needs tlsKey.",
    expects: "the path of a file",
    schema: text,
  }),
  tlsKey: setting({
    placeholder: "<file>",
    summary: "File with the private key (PEM) of the certificate in tlsCert.",
    expects: "the path of a file",
    schema: text,
  }),
  tlsManaged: setting({
    placeholder: "<mount/role:hosts>",
    summary: "Serve HTTPS with a certificate for these hosts that the server issues from its own store and renews.",
    expects: "a mount, a role in it, and names or addresses, such as pki/web:chancery.example,10.0.0.1",
    schema: parsed(parseManagedTls),
  }),
  tlsListen: setting({
    placeholder: "<address>",
    summary: "Address to serve HTTPS on, in addition to HTTP. With off, HTTPS replaces HTTP if there is a certificate.",
    expects: "like listen, such as 127.0.0.1:8421, or next for the port after that of listen, or off",
    schema: parsed(parseTlsListen),
    default: "off",
    devDefault: "next",
  }),
  deviceListen: setting({
    placeholder: "<address>",
    summary:
      "Address to serve devices on, over HTTPS, with the certificate of the server. It requests client certificates and serves only EST and logins with certificates.",
    expects: "like listen, such as 127.0.0.1:8443",
    schema: parsed(parseListenAddress),
    defaultNote: "none, no listener requests client certificates",
  }),
  rsaKeyStock: setting({
    placeholder: "<bits:count>",
    summary:
      "Number of RSA keys of each size to generate in advance, while no request waits for a key, and keep in memory.",
    expects: "counts up to 10000 of 2048, 3072 and 4096 bits, such as 2048:200,4096:10, or none",
    schema: parsed(parseRsaKeyStock),
    default: "none",
  }),
  weakKeys: setting({
    placeholder: "<path>",
    summary:
      "File or folder with fingerprints of weak RSA keys that the server never certifies, in the format of Debian's openssl-blacklist package.",
    expects: "a path, such as /etc/chancery/weak-keys.txt",
    schema: text,
    defaultNote: "/usr/share/openssl-blacklist if it exists",
  }),
  outgoingRanges: setting({
    placeholder: "<ranges>",
    summary:
      "Non-public address ranges that requests to user-supplied hosts may reach (policy services, webhooks, Kubernetes API servers).",
    expects: "private, loopback, link-local and ranges such as 192.0.2.0/24, separated by commas, or none",
    schema: parsed(parsePermittedAddresses),
    default: "private",
    devDefault: "private,loopback",
  }),
  publicAcme: setting({
    placeholder: "<on|off>",
    summary:
      "Allow ACME accounts without an external account binding on mounts that do not require one. With off, every mount requires one. SERVICE_DISABLE_PUBLIC_ACME=true has the same effect as off.",
    expects: "on or off",
    schema: z.enum(["on", "off"]),
    default: "on",
    also: { variable: "SERVICE_DISABLE_PUBLIC_ACME", means: (text) => (isYes(text) ? "off" : undefined) },
  }),
  acmeChallengeRanges: setting({
    placeholder: "<ranges>",
    summary: "Non-public address ranges that ACME challenge validation may reach, on every mount.",
    expects: "private, loopback, link-local and ranges such as 192.0.2.0/24, separated by commas, or none",
    schema: parsed(parsePermittedAddresses),
    default: "none",
    devDefault: "private,loopback",
  }),
  acmeHttpPort: setting({
    placeholder: "<port>",
    summary: "Port to which the server connects for http-01 challenges.",
    expects: "a number from 1 to 65535",
    schema: parsed(parsePort),
    default: "80",
  }),
  acmeTlsPort: setting({
    placeholder: "<port>",
    summary: "Port to which the server connects for tls-alpn-01 challenges.",
    expects: "a number from 1 to 65535",
    schema: parsed(parsePort),
    default: "443",
  }),
  shutdownDelay: setting({
    placeholder: "<duration>",
    summary:
      "Time after SIGTERM in which the server still serves while /readyz answers 503, so that load balancers remove it.",
    expects: "a duration up to 10m, such as 5s",
    schema: parsed((duration) => within(parseDuration(duration), 0, 600_000)),
    default: "0s",
  }),
  shutdownGrace: setting({
    placeholder: "<duration>",
    summary: "Maximum time for requests in flight to complete after the server stops accepting connections.",
    expects: "a duration up to 10m, such as 30s",
    schema: parsed((duration) => within(parseDuration(duration), 0, 600_000)),
    default: "30s",
    devDefault: "5s",
  }),
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as SettingName[]

/** Parsed settings. Those with a default always have a value. */
export type Settings = {
  readonly [Name in SettingName]:
    | z.output<(typeof settings)[Name]["schema"]>
    | ((typeof settings)[Name] extends { readonly default: string } ? never : undefined)
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
export const flagOf = (name: SettingName): string => `--${kebab(name)}`
export const environmentNameOf = (name: SettingName): string =>
  `CHANCERY_${kebab(name).toUpperCase().replaceAll("-", "_")}`

function parseHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" ? url : undefined
}

/** Returns milliseconds. Clients read whole seconds, up to an hour (docs/compatibility.md, "State versions"). */
function parseSnapshotInterval(text: string): number | "off" | undefined {
  if (text === "off") return text
  const intervalMs = within(parseDuration(text), 1_000, 3_600_000)
  return intervalMs !== undefined && intervalMs % 1_000 === 0 ? intervalMs : undefined
}

function parseRateLimit(text: string): number | "off" | undefined {
  if (text === "off") return "off"
  return /^\d{1,7}$/.test(text) ? within(Number(text), 1, 1_000_000) : undefined
}

function parseConnections(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) ? within(Number(text), 1, 1_000) : undefined
}

function parseCount(text: string): number | undefined {
  return /^\d{1,8}$/.test(text) ? Number(text) : undefined
}

const maxReadReplicas = 16

function parseReadReplicas(text: string): readonly string[] | undefined {
  const urls = text.split(",").map((url) => url.trim())
  const areUrls = urls.every((url) => /^postgres(ql)?:\/\/./.test(url) && URL.canParse(url))
  return areUrls && urls.length <= maxReadReplicas ? urls : undefined
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) ? within(Number(text), 1, 65_535) : undefined
}

const isYes = (text: string): boolean => ["1", "t", "true", "y", "yes", "on"].includes(text.toLowerCase())

function parseTlsListen(text: string): ListenAddress | "next" | "off" | undefined {
  return text === "next" || text === "off" ? text : parseListenAddress(text)
}

const within = (value: number | undefined, minimum: number, maximum: number): number | undefined =>
  value !== undefined && value >= minimum && value <= maximum ? value : undefined
