import { describe, expect, test } from "vitest"
import { type ConfigurationSources, configure } from "./configuration.ts"
import { CommandError, exitCodes } from "./exit-code.ts"

const from = (sources: Partial<ConfigurationSources> = {}) =>
  configure({ flags: {}, environment: {}, file: undefined, dev: false, ...sources })
const file = (content: unknown) => ({
  path: "chancery.json",
  text: typeof content === "string" ? content : JSON.stringify(content),
})

describe("flags take precedence over the environment, and the environment over the file", () => {
  const flags = { listen: "127.0.0.1:1" }
  const environment = { CHANCERY_LISTEN: "127.0.0.1:2" }
  const inFile = file({ listen: "127.0.0.1:3" })
  test.each([
    { given: "all", sources: { flags, environment, file: inFile }, port: 1 },
    { given: "flag and file", sources: { flags, file: inFile }, port: 1 },
    { given: "environment and file", sources: { environment, file: inFile }, port: 2 },
    { given: "file", sources: { file: inFile }, port: 3 },
    { given: "nothing", sources: {}, port: 8420 },
    { given: "an empty variable and file", sources: { environment: { CHANCERY_LISTEN: "" }, file: inFile }, port: 3 },
  ])("with $given the port is $port", ({ sources, port }) => {
    expect(from(sources).listen).toEqual({ host: "127.0.0.1", port })
  })
})

test("settings have production defaults", () => {
  expect(from()).toEqual({
    listen: { host: "127.0.0.1", port: 8420 },
    data: ".chancery",
    storageConnectTimeout: 5_000,
    storageStatementTimeout: 10_000,
    storageLockTimeout: 5_000,
    storageIdleTimeout: 10_000,
    storageReadReplicaWait: 250,
    auditOpenReads: "off",
    edition: "self-hosted",
    rateLimit: 30,
    trustedProxies: { ranges: [], unix: false },
    proxyHeader: "x-forwarded-for",
    bodyLimit: 64 * 1024 * 1024,
    maxJsonDepth: 300,
    maxJsonMembers: 10_000,
    maxJsonElements: 10_000,
    maxJsonString: 2 * 1024 * 1024,
    maxJsonValues: 500_000,
    maxConnectionsPerAddress: 1_000,
    hsts: 365 * 24 * 3_600_000,
    stateLimit: 1024 * 1024 * 1024,
    stateSnapshots: 60_000,
    events: "on",
    eventRetention: 7 * 24 * 3_600_000,
    logLevel: "info",
    accessLog: "info",
    tlsListen: "off",
    rsaKeyStock: new Map(),
    outgoingRanges: { kinds: ["private"], ranges: [] },
    publicAcme: "on",
    acmeChallengeRanges: { kinds: [], ranges: [] },
    acmeHttpPort: 80,
    acmeTlsPort: 443,
    shutdownDelay: 0,
    shutdownGrace: 30_000,
  })
})

test("dev has other defaults for rate limit, log, HTTPS, outgoing ranges and shutdown", () => {
  expect(from({ dev: true })).toEqual({
    ...from(),
    rateLimit: "off",
    hsts: "off",
    logLevel: "warn",
    tlsListen: "next",
    outgoingRanges: { kinds: ["private", "loopback"], ranges: [] },
    acmeChallengeRanges: { kinds: ["private", "loopback"], ranges: [] },
    shutdownGrace: 5_000,
  })
})

test("every setting can be set from the environment", () => {
  const environment = {
    CHANCERY_LISTEN: "[::1]:0",
    CHANCERY_DATA: "/var/lib/chancery",
    CHANCERY_STORAGE: "postgres://chancery@db/chancery",
    CHANCERY_STORAGE_CONNECTIONS: "25",
    CHANCERY_STORAGE_CONNECT_TIMEOUT: "2s",
    CHANCERY_STORAGE_STATEMENT_TIMEOUT: "30s",
    CHANCERY_STORAGE_LOCK_TIMEOUT: "500ms",
    CHANCERY_STORAGE_IDLE_TIMEOUT: "1m",
    CHANCERY_STORAGE_READ_REPLICA: "postgres://chancery:a%2Cb@db-2/chancery, postgresql://chancery@db-3/chancery",
    CHANCERY_STORAGE_READ_REPLICA_WAIT: "1s",
    CHANCERY_SEAL_KEY_FILE: "/etc/chancery/seal.key",
    CHANCERY_AUDIT_OPEN_READS: "on",
    CHANCERY_EDITION: "hosted",
    CHANCERY_PUBLIC_URL: "https://chancery.example/base",
    CHANCERY_RATE_LIMIT: "off",
    CHANCERY_TRUSTED_PROXIES: "10.0.0.0/8,unix",
    CHANCERY_PROXY_HEADER: "forwarded",
    CHANCERY_BODY_LIMIT: "1MiB",
    CHANCERY_MAX_JSON_DEPTH: "50",
    CHANCERY_MAX_JSON_MEMBERS: "1000",
    CHANCERY_MAX_JSON_ELEMENTS: "2000",
    CHANCERY_MAX_JSON_STRING: "512KiB",
    CHANCERY_MAX_JSON_VALUES: "20000",
    CHANCERY_MAX_CONNECTIONS_PER_ADDRESS: "off",
    CHANCERY_METRICS_LISTEN: "127.0.0.1:9420",
    CHANCERY_HSTS: "30d",
    CHANCERY_LOG_LEVEL: "debug",
    CHANCERY_ACCESS_LOG: "off",
    CHANCERY_OTLP_ENDPOINT: "http://collector:4318",
    CHANCERY_TLS_CERT: "cert.pem",
    CHANCERY_TLS_KEY: "key.pem",
    CHANCERY_TLS_LISTEN: ":8443",
    CHANCERY_DEVICE_LISTEN: ":8444",
    CHANCERY_RSA_KEY_STOCK: "2048:200",
    CHANCERY_OUTGOING_RANGES: "none",
    CHANCERY_PUBLIC_ACME: "off",
    CHANCERY_ACME_CHALLENGE_RANGES: "10.0.0.0/8",
    CHANCERY_ACME_HTTP_PORT: "5002",
    CHANCERY_ACME_TLS_PORT: "5001",
    CHANCERY_STATE_LIMIT: "2GiB",
    CHANCERY_STATE_SNAPSHOTS: "off",
    CHANCERY_EVENTS: "off",
    CHANCERY_EVENT_RETENTION: "30d",
    CHANCERY_SHUTDOWN_DELAY: "5s",
    CHANCERY_SHUTDOWN_GRACE: "1m",
  }
  expect(from({ environment })).toEqual({
    listen: { host: "::1", port: 0 },
    data: "/var/lib/chancery",
    storage: "postgres://chancery@db/chancery",
    storageConnections: 25,
    storageConnectTimeout: 2_000,
    storageStatementTimeout: 30_000,
    storageLockTimeout: 500,
    storageIdleTimeout: 60_000,
    storageReadReplica: ["postgres://chancery:a%2Cb@db-2/chancery", "postgresql://chancery@db-3/chancery"],
    storageReadReplicaWait: 1_000,
    sealKeyFile: "/etc/chancery/seal.key",
    auditOpenReads: "on",
    edition: "hosted",
    publicUrl: new URL("https://chancery.example/base"),
    rateLimit: "off",
    trustedProxies: { ranges: [expect.anything()], unix: true },
    proxyHeader: "forwarded",
    bodyLimit: 1024 * 1024,
    maxJsonDepth: 50,
    maxJsonMembers: 1_000,
    maxJsonElements: 2_000,
    maxJsonString: 512 * 1024,
    maxJsonValues: 20_000,
    maxConnectionsPerAddress: "off",
    metricsListen: { host: "127.0.0.1", port: 9_420 },
    hsts: 30 * 24 * 3_600_000,
    stateLimit: 2 ** 31,
    stateSnapshots: "off",
    events: "off",
    eventRetention: 30 * 24 * 3_600_000,
    logLevel: "debug",
    accessLog: "off",
    otlpEndpoint: new URL("http://collector:4318"),
    tlsCert: "cert.pem",
    tlsKey: "key.pem",
    tlsListen: { host: "::", port: 8443 },
    deviceListen: { host: "::", port: 8444 },
    rsaKeyStock: new Map([[2048, 200]]),
    outgoingRanges: { kinds: [], ranges: [] },
    publicAcme: "off",
    acmeChallengeRanges: { kinds: [], ranges: [expect.anything()] },
    acmeHttpPort: 5_002,
    acmeTlsPort: 5_001,
    shutdownDelay: 5_000,
    shutdownGrace: 60_000,
  })
})

test.each([
  ["1", undefined, "off"],
  ["true", undefined, "off"],
  ["false", undefined, "on"],
  ["", undefined, "on"],
  ["true", "on", "on"],
])(
  "SERVICE_DISABLE_PUBLIC_ACME %j requires ACME account bindings unless CHANCERY_PUBLIC_ACME is %j",
  (named, own, publicAcme) => {
    const environment = { SERVICE_DISABLE_PUBLIC_ACME: named, CHANCERY_PUBLIC_ACME: own }
    expect(from({ environment }).publicAcme).toBe(publicAcme)
  },
)

test.each([
  ["http://theirs:4318", undefined, "http://theirs:4318/"],
  ["", undefined, undefined],
  ["http://theirs:4318", "http://ours:4318", "http://ours:4318/"],
])(
  "OTEL_EXPORTER_OTLP_ENDPOINT %j sets the collector unless CHANCERY_OTLP_ENDPOINT is %j",
  (theirs, ours, expected) => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: theirs, CHANCERY_OTLP_ENDPOINT: ours }
    expect(from({ environment }).otlpEndpoint?.href).toBe(expected)
  },
)

test("an invalid collector URL is rejected without repeating it", () => {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "grpc://user:hunter2@collector:4317" }
  expect(() => from({ environment })).toThrow(
    "The setting otlpEndpoint cannot be the given value (from OTEL_EXPORTER_OTLP_ENDPOINT); it must be an http or https URL, such as http://127.0.0.1:4318.",
  )
})

test("tlsManaged is a mount, a role and hosts", () => {
  const { tlsManaged } = from({ flags: { tlsManaged: "team/pki/web:chancery.example, ::1,*.chancery.example" } })
  expect(tlsManaged).toEqual({
    mount: "team/pki",
    role: "web",
    hosts: ["chancery.example", "::1", "*.chancery.example"],
  })
})

test("a number in the configuration file equals its string", () => {
  expect(from({ file: file({ rateLimit: 50 }) }).rateLimit).toBe(50)
})

describe("an invalid setting is one sentence with problem and remedy", () => {
  test.each<{ why: string; sources: Partial<ConfigurationSources>; sentence: string }>([
    {
      why: "an address without port",
      sources: { environment: { CHANCERY_LISTEN: "localhost" } },
      sentence:
        'The setting listen cannot be "localhost" (from CHANCERY_LISTEN); it must be host:port, [ipv6]:port, :port for every interface, or unix:/path, such as 127.0.0.1:8420.',
    },
    {
      why: "an unknown edition",
      sources: { flags: { edition: "cloud" } },
      sentence: 'The setting edition cannot be "cloud" (from --edition); it must be one of self-hosted, hosted.',
    },
    {
      why: "a rate of zero",
      sources: { file: file({ rateLimit: 0 }) },
      sentence:
        'The setting rateLimit cannot be "0" (from "rateLimit" in chancery.json); it must be a whole number from 1 to 1000000, or off.',
    },
    {
      why: "an unknown store, whose URL may contain a password",
      sources: { environment: { CHANCERY_STORAGE: "mysql://root:hunter2@db" } },
      sentence:
        "The setting storage cannot be the given value (from CHANCERY_STORAGE); it must be sqlite:PATH or postgres://user:password@host/database.",
    },
    {
      why: "an invalid public URL",
      sources: { environment: { CHANCERY_PUBLIC_URL: "chancery.example" } },
      sentence:
        'The setting publicUrl cannot be "chancery.example" (from CHANCERY_PUBLIC_URL); it must be an http or https URL, such as https://chancery.example.',
    },
    {
      why: "a size too small for any document",
      sources: { environment: { CHANCERY_BODY_LIMIT: "10" } },
      sentence:
        'The setting bodyLimit cannot be "10" (from CHANCERY_BODY_LIMIT); it must be a size from 1KiB to 1GiB, such as 64MiB.',
    },
    {
      why: "a duration without unit",
      sources: { environment: { CHANCERY_SHUTDOWN_GRACE: "30" } },
      sentence:
        'The setting shutdownGrace cannot be "30" (from CHANCERY_SHUTDOWN_GRACE); it must be a duration up to 10m, such as 30s.',
    },
    {
      why: "a certificate without key",
      sources: { flags: { tlsCert: "cert.pem" } },
      sentence: "HTTPS needs a certificate and its key; set --tls-key or CHANCERY_TLS_KEY too.",
    },
    {
      why: "an invalid address for HTTPS",
      sources: { flags: { tlsListen: "later" } },
      sentence:
        'The setting tlsListen cannot be "later" (from --tls-listen); it must be like listen, such as 127.0.0.1:8421, or next for the port after that of listen, or off.',
    },
    {
      why: "HTTPS without a certificate",
      sources: { flags: { tlsListen: ":8443" } },
      sentence: "--tls-listen serves HTTPS, which needs a certificate; set --tls-cert and --tls-key, or --tls-managed.",
    },
    {
      why: "a device listener without a certificate",
      sources: { flags: { deviceListen: ":8443" } },
      sentence:
        "--device-listen serves HTTPS, which needs a certificate; set --tls-cert and --tls-key, or --tls-managed.",
    },
    {
      why: "a device listener without HTTPS in dev",
      sources: { dev: true, flags: { deviceListen: ":8443", tlsListen: "off" } },
      sentence:
        "--device-listen serves HTTPS, which needs a certificate; set --tls-cert and --tls-key, or --tls-managed.",
    },
    {
      why: "a read replica that is not PostgreSQL",
      sources: {
        flags: { storage: "postgres://db/chancery", storageReadReplica: "postgres://a:hunter2@db-2/c,sqlite:other.db" },
      },
      sentence:
        "The setting storageReadReplica cannot be the given value (from --storage-read-replica); it must be postgres://user:password@host/database, or several of them separated by commas (one within is %2C).",
    },
    {
      why: "a read replica of an embedded store",
      sources: { flags: { storageReadReplica: "postgres://db-2/chancery" } },
      sentence:
        "--storage-read-replica needs a store in PostgreSQL; set --storage or CHANCERY_STORAGE to a postgres:// URL, or omit it.",
    },
    {
      why: "two certificates",
      sources: { flags: { tlsCert: "c.pem", tlsKey: "k.pem", tlsManaged: "pki/web:a.example" } },
      sentence: "--tls-cert and --tls-managed both set a certificate; omit one of them.",
    },
    {
      why: "a managed certificate without hosts",
      sources: { flags: { tlsManaged: "pki/web" } },
      sentence:
        'The setting tlsManaged cannot be "pki/web" (from --tls-managed); it must be a mount, a role in it, and names or addresses, such as pki/web:chancery.example,10.0.0.1.',
    },
    {
      why: "two seal keys",
      sources: { environment: { CHANCERY_SEAL_KEY: "secret", CHANCERY_SEAL_KEY_FILE: "seal.key" } },
      sentence: "Both CHANCERY_SEAL_KEY and a seal key file are set; omit one of them.",
    },
    {
      why: "a file that is not JSON",
      sources: { file: file("listen: here") },
      sentence: expect.stringMatching(
        /^The configuration file chancery.json is not valid JSON \(.*\); correct or omit it.$/,
      ) as string,
    },
    {
      why: "a file that is a list",
      sources: { file: file([]) },
      sentence:
        "The configuration file chancery.json must be a JSON object whose members are strings, numbers or booleans.",
    },
    {
      why: "an unknown member",
      sources: { file: file({ listne: ":1" }) },
      sentence: expect.stringMatching(
        /^The configuration file chancery.json has "listne", which is not a setting; the settings are listen, data, .*\.$/,
      ) as string,
    },
    {
      why: "a secret in the file",
      sources: { file: file({ sealKey: "secret" }) },
      sentence: expect.stringContaining('has "sealKey", which is not a setting') as string,
    },
    {
      why: "several at once",
      sources: { flags: { edition: "cloud", logLevel: "loud" } },
      sentence:
        'The setting edition cannot be "cloud" (from --edition); it must be one of self-hosted, hosted.\n' +
        'The setting logLevel cannot be "loud" (from --log-level); it must be one of debug, info, warn, error, silent.',
    },
  ])("$why", ({ sources, sentence }) => {
    const thrown = errorOf(() => from(sources))
    expect(thrown).toBeInstanceOf(CommandError)
    expect(thrown).toMatchObject({ exitCode: exitCodes.configuration, message: sentence })
  })
})

function errorOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}
