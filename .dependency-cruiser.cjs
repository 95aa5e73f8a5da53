// What may import what (docs: CONTRIBUTING.md, "Directions"). Type imports count, because a type that points the wrong
// way is a dependency as well. Tests are left out: they may look at anything. test/house/boundaries.test.ts breaks
// every rule once and sees it reported.
const domain = "events|organizations|workspaces|pki|access|acme"
const npm = (...names) => `(^|node_modules/)(${names.join("|")})(/|$)`
const node = (...names) => `^(node:)?(${names.join("|")})(/|$)`

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "core-imports-nothing",
      comment:
        "core holds the words every folder shares, and those of OpenTelemetry's API, and evicts with lru-cache. If it imported more, everything would.",
      severity: "error",
      from: { path: "^engine/src/core/", pathNot: "^engine/src/core/runtime\\.ts$" },
      to: { pathNot: `^engine/src/core/|${npm("@opentelemetry/api", "lru-cache")}` },
    },
    {
      name: "runtime-touches-the-platform-only",
      comment: "The clock and the random source of the process come in here; nothing of ours or from npm does.",
      severity: "error",
      from: { path: "^engine/src/core/runtime\\.ts$" },
      to: { pathNot: "^engine/src/core/", dependencyTypesNot: ["core"] },
    },
    {
      name: "domain-knows-no-outside",
      comment:
        "Rules and services are plain functions over values and ports; how they are stored, sent or run is not theirs.",
      severity: "error",
      from: { path: `^engine/src/(${domain}|engine\\.ts)` },
      to: {
        path: "^engine/src/((contracts|storage|server|client|cli|jobs|telemetry|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "declared-knows-no-transport",
      comment:
        "A declared resource is driven through an engine, embedded or remote. Contracts say what its fields mean.",
      severity: "error",
      from: { path: "^engine/src/declared/" },
      to: {
        path: "^engine/src/((storage|server|client|cli|jobs|telemetry|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "domain-uses-no-platform",
      comment:
        "A rule that reads a file, a socket or the random source cannot be tested as a function; node:crypto is x509's.",
      severity: "error",
      from: { path: `^engine/src/(${domain}|declared)/` },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "x509-knows-no-policy",
      comment: "x509 turns bytes into values and back. It knows RFC 5280 and no role, mount or store.",
      severity: "error",
      from: { path: "^engine/src/x509/" },
      to: { pathNot: `^engine/src/(core|x509)/|${npm("pkijs", "asn1js", "pvtsutils")}|${node("crypto", "module")}` },
    },
    {
      name: "only-policies-pass",
      comment:
        "What has a policy's pass may be signed; whoever else could give one would be a way around all policies.",
      severity: "error",
      from: { pathNot: "^engine/src/pki/(policy/|external-policy/overlay\\.ts$)" },
      to: { path: "^engine/src/pki/policy/approved\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "pki-never-imports-acme",
      comment: "ACME is one way to ask the PKI for a certificate; the PKI does not know who asks.",
      severity: "error",
      from: { path: "^engine/src/(core|x509|pki|access)/" },
      to: { path: "^engine/src/acme/" },
    },
    {
      name: "workspaces-and-pki-are-strangers",
      comment:
        "The two halves of the product share organizations and core, nothing else, so that each can be read alone.",
      severity: "error",
      from: { path: "^engine/src/(organizations|workspaces)/" },
      to: { path: "^engine/src/(x509|pki|access|acme)/" },
    },
    {
      name: "pki-and-workspaces-are-strangers",
      comment: "The same, seen from the other half.",
      severity: "error",
      from: { path: "^engine/src/(x509|pki|access|acme)/" },
      to: { path: "^engine/src/workspaces/" },
    },
    {
      name: "pki-reaches-no-workspaces",
      comment:
        "At any depth, through any file: neither the PKI and ACME nor organizations depend on workspaces and the event feed. Ports of their own take what others implement.",
      severity: "error",
      from: { path: "^engine/src/(x509|pki|access|acme|organizations)/" },
      to: { path: "^engine/src/(workspaces|events)/", reachable: true },
    },
    {
      name: "workspaces-reach-no-pki",
      comment: "The same, seen from the other half.",
      severity: "error",
      from: { path: "^engine/src/(organizations|workspaces|events)/" },
      to: { path: "^engine/src/(pki|access|acme)/", reachable: true },
    },
    {
      name: "services-declare-their-stores",
      comment:
        "repositories.ts imports the ports of every domain. A service that imports it would depend on all of them, so only composition and storage may.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/((storage|composition)/|embedded\\.ts)" },
      to: { path: "^engine/src/storage/repositories/repositories\\.ts$" },
    },
    {
      name: "sql-only-in-storage",
      comment: "One folder speaks SQL, so that a second database is a change in one folder.",
      severity: "error",
      from: { pathNot: "^engine/(src/storage|testing)/" },
      to: { path: `${npm("kysely", "pg")}|${node("sqlite")}` },
    },
    {
      name: "sockets-only-in-http",
      comment:
        "Routes answer values with values; only server/http knows the server underneath. The client dials with undici. The test kit plays whoever is dialled.",
      severity: "error",
      from: {
        pathNot: "^(engine/(src/server/http|testing)/|operator/src/(health-server|kube/api-client)\\.ts$)",
      },
      to: { path: node("http", "https", "http2") },
    },
    {
      name: "undici-only-where-we-dial",
      comment:
        "Every outgoing request goes through a dispatcher of ours; a second place that dials would have no guard.",
      severity: "error",
      from: { pathNot: "^(engine/src/(client|core/runtime\\.ts)|operator/src/kube/api-client\\.ts$)" },
      to: { path: npm("undici") },
    },
    {
      name: "opentelemetry-sdk-only-in-telemetry",
      comment: "Code records on the API's instruments and on core/tracing.ts; the SDK and its exporters are large.",
      severity: "error",
      from: {
        pathNot: "^(engine/src/telemetry/(otlp|otlp-tracer|metrics|process-metrics)|operator/src/metrics)\\.ts$",
      },
      to: { path: npm("@opentelemetry/(?!api(/|$))[^/]+", "prom-client") },
    },
    {
      name: "telemetry-listens",
      comment: "It wraps ports; what is done behind them is other people's business.",
      severity: "error",
      from: { path: "^engine/src/telemetry/" },
      to: {
        path: "^engine/src/((contracts|storage|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "zod-only-at-the-edge",
      comment: "Documents and configuration are parsed once, at the edge; past it values have the domain's own types.",
      severity: "error",
      from: { pathNot: "^(engine/src/(contracts|declared|cli)|operator/src/api|provider/scripts)/" },
      to: { path: npm("zod") },
    },
    {
      name: "packages-by-name",
      comment: "A deep path into another package breaks when that package moves a file; its exports are the contract.",
      severity: "error",
      from: { path: "^(provider|operator|examples)/" },
      to: { path: "^engine/", dependencyTypes: ["local"] },
    },
    {
      name: "engine-stands-alone",
      comment: "The engine is what the other packages are built on.",
      severity: "error",
      from: { path: "^engine/" },
      to: { path: "^(provider|operator|examples|test)/" },
    },
    {
      name: "contracts-are-pure",
      comment: "A contract or a codec is used by server and client alike, so it may see neither, and no store.",
      severity: "error",
      from: { path: "^engine/src/contracts/" },
      to: {
        path: "^engine/src/((storage|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "storage-serves-the-domain",
      comment: "Storage implements the domain's ports; documents, requests and jobs are other people's business.",
      severity: "error",
      from: { path: "^engine/src/storage/" },
      to: {
        path: "^engine/src/((contracts|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "storage-is-opened-in-one-place",
      comment: "Only the composition root and the commands that back up a store see storage beside services.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/((storage|composition|cli)/|embedded\\.ts)" },
      to: { path: "^engine/src/storage/" },
    },
    {
      name: "audit-writes-what-it-is-told",
      comment:
        "The audit log is a file or a wire and knows values to write into it; a store or a request is other people's business.",
      severity: "error",
      from: { path: "^engine/src/audit/" },
      to: {
        pathNot: `^engine/src/(core|audit)/|${node("crypto", "dgram", "fs", "net", "os", "path", "timers/promises", "tls", "util")}`,
      },
    },
    {
      name: "audit-is-opened-in-one-place",
      comment:
        "Who has something to record is handed a trail; where that leads is decided where the engine is composed.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/((audit|composition|cli)/|embedded\\.ts)" },
      to: { path: "^engine/src/audit/" },
    },
    {
      name: "server-serves-any-engine",
      comment: "The server is handed an engine. It neither opens one, nor dials one, nor runs its jobs.",
      severity: "error",
      from: { path: "^engine/src/server/" },
      to: { path: "^engine/src/((client|cli|jobs|composition)/|(embedded|open|index)\\.ts)" },
    },
    {
      name: "client-knows-no-server",
      comment: "The remote engine shares codecs with the server, never code that needs the server's own store.",
      severity: "error",
      from: { path: "^engine/src/client/" },
      to: { path: "^engine/src/((server|cli|jobs|composition)/|(embedded|open|index)\\.ts)" },
    },
    {
      name: "jobs-know-no-transport",
      comment: "What runs without a request must not depend on one.",
      severity: "error",
      from: { path: "^engine/src/jobs/" },
      to: {
        path: "^engine/src/((contracts|server|client|cli|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "nothing-imports-the-command-line",
      comment: "Commands are the outermost layer.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/cli/" },
      to: { path: "^engine/src/cli/" },
    },
    {
      name: "testing-stays-in-tests",
      comment: "Manual clocks and seeded randomness in a running server would be a disaster nobody sees.",
      severity: "error",
      from: { path: "^(engine|provider|operator)/src/" },
      to: { path: "^(engine|operator)/testing/" },
    },
    {
      name: "tags-below-workspaces",
      comment: "Workspaces carry tags; a tag does not know what carries it.",
      severity: "error",
      from: { path: "^engine/src/workspaces/tags/", pathNot: "/tag-(service|events)\\.ts$" },
      to: { path: "^engine/src/workspaces/(?!tags/)" },
    },
    {
      name: "organizations-below-workspaces",
      comment: "Workspaces live in organizations; an organization is complete without them.",
      severity: "error",
      from: { path: "^engine/src/organizations/" },
      to: { path: "^engine/src/workspaces/" },
    },
    {
      name: "no-cycles",
      comment: "Two files that import each other are one file; type imports included.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    doNotFollow: { path: ["node_modules", "/dist/"] },
    exclude: { path: "\\.test\\.ts$" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
}
