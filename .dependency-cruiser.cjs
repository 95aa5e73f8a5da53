// Import rules (CONTRIBUTING.md, "Dependencies"). Type imports count, because a type that points the wrong way is a dependency
// as well. Tests may import anything. test/house/boundaries.test.ts breaks every rule once and checks that it is reported.
const domain = "events|organizations|workspaces|pki|access|acme"
const npm = (...names) => `(^|node_modules/)(${names.join("|")})(/|$)`
const node = (...names) => `^(node:)?(${names.join("|")})(/|$)`

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "core-imports-nothing",
      comment: "Every folder imports core, so its imports are everyone's: only the OpenTelemetry API and lru-cache.",
      severity: "error",
      from: { path: "^engine/src/core/", pathNot: "^engine/src/core/runtime\\.ts$" },
      to: { pathNot: `^engine/src/core/|${npm("@opentelemetry/api", "lru-cache")}` },
    },
    {
      name: "runtime-touches-the-platform-only",
      comment:
        "runtime.ts reads the clock and the random source of the process. It needs no other module of ours or from npm.",
      severity: "error",
      from: { path: "^engine/src/core/runtime\\.ts$" },
      to: { pathNot: "^engine/src/core/", dependencyTypesNot: ["core"] },
    },
    {
      name: "domain-knows-no-outside",
      comment:
        "Rules and services are functions over values and ports. They do not depend on storage, transport or jobs.",
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
        "A rule that reads a file, a socket or the random source cannot be tested as a function. Only x509 uses node:crypto.",
      severity: "error",
      from: { path: `^engine/src/(${domain}|declared)/` },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "x509-knows-no-policy",
      comment: "x509 decodes and encodes the structures of RFC 5280. It does not depend on roles, mounts or databases.",
      severity: "error",
      from: { path: "^engine/src/x509/" },
      to: { pathNot: `^engine/src/(core|x509)/|${npm("pkijs", "asn1js", "pvtsutils")}|${node("crypto", "module")}` },
    },
    {
      name: "only-policies-pass",
      comment: "Approved templates can be signed. Another module that approves them would bypass all policies.",
      severity: "error",
      from: { pathNot: "^engine/src/pki/(policy/|external-policy/overlay\\.ts$)" },
      to: { path: "^engine/src/pki/policy/approved\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "pki-never-imports-acme",
      comment: "ACME is one client of the PKI. The PKI does not depend on its clients.",
      severity: "error",
      from: { path: "^engine/src/(core|x509|pki|access)/" },
      to: { path: "^engine/src/acme/" },
    },
    {
      name: "workspaces-and-pki-are-strangers",
      comment: "Workspaces and the PKI share only organizations and core, so that each can be read alone.",
      severity: "error",
      from: { path: "^engine/src/(organizations|workspaces)/" },
      to: { path: "^engine/src/(x509|pki|access|acme)/" },
    },
    {
      name: "pki-and-workspaces-are-strangers",
      comment: "The same rule for the other direction.",
      severity: "error",
      from: { path: "^engine/src/(x509|pki|access|acme)/" },
      to: { path: "^engine/src/workspaces/" },
    },
    {
      name: "pki-reaches-no-workspaces",
      comment:
        "At any depth: the PKI, ACME and organizations do not depend on workspaces or the event feed. They declare ports for what others implement.",
      severity: "error",
      from: { path: "^engine/src/(x509|pki|access|acme|organizations)/" },
      to: { path: "^engine/src/(workspaces|events)/", reachable: true },
    },
    {
      name: "workspaces-reach-no-pki",
      comment: "The same rule for the other direction.",
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
      comment: "SQL is in one folder, so that another database changes one folder.",
      severity: "error",
      from: { pathNot: "^engine/(src/storage|testing)/" },
      to: { path: `${npm("kysely", "pg")}|${node("sqlite")}` },
    },
    {
      name: "sockets-only-in-http",
      comment:
        "Only server/http uses Node's HTTP server. Handlers map values to values, the client sends requests with undici, and test support runs servers of its own.",
      severity: "error",
      from: {
        pathNot: "^(engine/(src/server/http|testing)/|operator/src/(health-server|kube/api-client)\\.ts$)",
      },
      to: { path: node("http", "https", "http2") },
    },
    {
      name: "undici-only-where-we-dial",
      comment:
        "Every outgoing request uses one of these dispatchers. Another module that sends requests would bypass the address guard.",
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
      comment: "Telemetry wraps ports and does not depend on their implementations.",
      severity: "error",
      from: { path: "^engine/src/telemetry/" },
      to: {
        path: "^engine/src/((contracts|storage|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "zod-only-at-the-edge",
      comment: "Documents and configuration are parsed once, at the edge. Inside, values have domain types.",
      severity: "error",
      from: { pathNot: "^(engine/src/(contracts|declared|cli)|operator/src/api|provider/scripts)/" },
      to: { path: npm("zod") },
    },
    {
      name: "packages-by-name",
      comment: "A deep path into another package breaks if that package moves a file. Only its exports are stable.",
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
      comment: "Server and client both use contracts, so contracts depend on neither, nor on storage.",
      severity: "error",
      from: { path: "^engine/src/contracts/" },
      to: {
        path: "^engine/src/((storage|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "storage-serves-the-domain",
      comment: "Storage implements ports of the domain. It does not depend on documents, requests or jobs.",
      severity: "error",
      from: { path: "^engine/src/storage/" },
      to: {
        path: "^engine/src/((contracts|server|client|cli|jobs|composition)/|(embedded|open|index)\\.ts)",
      },
    },
    {
      name: "storage-is-opened-in-one-place",
      comment: "Only the composition root and the backup commands use storage next to services.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/((storage|composition|cli)/|embedded\\.ts)" },
      to: { path: "^engine/src/storage/" },
    },
    {
      name: "audit-writes-what-it-is-told",
      comment: "The audit log writes values to a file or a socket. It does not depend on databases or requests.",
      severity: "error",
      from: { path: "^engine/src/audit/" },
      to: {
        pathNot: `^engine/src/(core|audit)/|${node("crypto", "dgram", "fs", "net", "os", "path", "timers/promises", "tls", "util")}`,
      },
    },
    {
      name: "audit-is-opened-in-one-place",
      comment: "Modules record on a trail that they are given. The composition root chooses the target.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/((audit|composition|cli)/|embedded\\.ts)" },
      to: { path: "^engine/src/audit/" },
    },
    {
      name: "server-serves-any-engine",
      comment: "The server is given an engine. It does not open one, connect to one or run jobs.",
      severity: "error",
      from: { path: "^engine/src/server/" },
      to: { path: "^engine/src/((client|cli|jobs|composition)/|(embedded|open|index)\\.ts)" },
    },
    {
      name: "client-knows-no-server",
      comment: "The remote engine shares contracts with the server, but no code that needs a database.",
      severity: "error",
      from: { path: "^engine/src/client/" },
      to: { path: "^engine/src/((server|cli|jobs|composition)/|(embedded|open|index)\\.ts)" },
    },
    {
      name: "jobs-know-no-transport",
      comment: "Jobs run without a request and must not depend on one.",
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
      name: "agent-is-a-client",
      comment: "The agent executes runs over the API. It needs no database and no server of its own.",
      severity: "error",
      from: { path: "^engine/src/agent/" },
      to: { path: "^engine/src/((storage|server|jobs|composition)/|(embedded|open|index)\\.ts)" },
    },
    {
      name: "only-the-command-line-imports-the-agent",
      comment: "The agent is a command. The server and the client work without it.",
      severity: "error",
      from: { path: "^engine/src/", pathNot: "^engine/src/(agent|cli)/" },
      to: { path: "^engine/src/agent/" },
    },
    {
      name: "testing-stays-in-tests",
      comment: "Manual clocks and seeded randomness must never run in a server.",
      severity: "error",
      from: { path: "^(engine|provider|operator)/src/" },
      to: { path: "^(engine|operator)/testing/" },
    },
    {
      name: "tags-below-workspaces",
      comment: "Workspaces have tags. The rules of tags do not depend on workspaces.",
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
      comment: "Files that import each other are one unit and belong in one file. Type imports count.",
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
