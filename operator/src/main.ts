#!/usr/bin/env node
// Entry point of the operator: parses flags and runs until SIGTERM or SIGINT. Logs one JSON object per line.
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { parseArgs } from "node:util"
import { type Log, parsePermittedAddresses } from "@chancery/engine"
import { KubeConfig } from "@kubernetes/client-node"
import { runOperator } from "./operator.ts"
import { systemRuntime } from "./runtime.ts"
import { parseShard } from "./controllers/shard.ts"
import { isRequestKindName, requestKindNames } from "./signing/request-kinds.ts"
import { isClusterName } from "./controllers/workspace/tag-owner.ts"

const usage = `chancery-operator [options]

Reconciles workspaces, issuers, roles and certificates with the objects of a Kubernetes cluster.

  --kubeconfig FILE   file with the access to the cluster (default: KUBECONFIG, otherwise ~/.kube/config, otherwise
                      the service account of the pod)
  --namespace NAME    namespace of the operator itself (default: that of the pod; required outside of a pod)
  --cluster-name NAME name of this cluster in the owners of tags; unique among the clusters that use one engine
                      (default: default)
  --identity NAME     unique name of this replica (default: the host name)
  --listen HOST:PORT  address of /healthz, /readyz and /metrics (default: 0.0.0.0:8080)
  --shard INDEX/COUNT part of the objects to reconcile, such as 0/4; at most 256 parts (default: all objects)
  --watch-namespaces NAME,NAME
                      namespaces to watch, without cluster-scoped objects (default: all, with cluster-scoped objects)
  --answer KIND,KIND  requests of other API groups for Issuers to sign: cert-manager, csr, pods (default: none)
  --trust-bundles     publish the roots of issuers as ClusterTrustBundles, for pods to mount
  --embedded FOLDER   run an engine inside the operator, with its data in this folder (default: none)
  --embedded-connection NAME
                      name of the ClusterConnection for this engine; the object is optional (default: default)
  --embedded-organization NAME
                      organization of objects that name none, in this engine; created if it is missing
                      (default: default)
  --engine-addresses KIND,RANGE
                      non-public addresses that namespaced Connections may reach: private, loopback, link-local,
                      ranges such as 192.0.2.0/24, or none (default: private)
  --help              print this help
`

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
const exitCodes = { ended: 0, usage: 2, lost: 3 }

const line =
  (level: string) =>
  (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    void process.stderr.write(`${JSON.stringify({ level, time: clockTime(), event, ...fields })}\n`)
const log: Log = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") }
const runtime = systemRuntime(log)
function clockTime(): string {
  return new Date(runtime.clock.now()).toISOString()
}

function podNamespace(): string | undefined {
  try {
    return readFileSync(namespaceFile, "utf8").trim()
  } catch {
    return undefined
  }
}

function settings() {
  const text = { type: "string" } as const
  const { values } = parseArgs({
    options: {
      kubeconfig: text,
      namespace: text,
      "cluster-name": text,
      identity: text,
      listen: text,
      shard: text,
      "watch-namespaces": text,
      answer: text,
      "trust-bundles": { type: "boolean" },
      embedded: text,
      "embedded-connection": text,
      "embedded-organization": text,
      "engine-addresses": text,
      help: { type: "boolean" },
    },
  })
  if (values.help === true) return undefined
  const { identity = hostname(), listen = "0.0.0.0:8080", namespace = podNamespace() } = values
  const [, host, port] = /^(?:\[([^\]]+)\]|[^:]+):(\d{1,5})$/.exec(listen) ?? []
  if (port === undefined || Number(port) > 65_535) throw new Error("--listen must be HOST:PORT")
  if (namespace === undefined || namespace === "") throw new Error("--namespace is required outside of a pod")
  const clusterName = values["cluster-name"]
  if (clusterName !== undefined && !isClusterName(clusterName))
    throw new Error("--cluster-name must consist of at most 63 lower-case letters, digits, hyphens and dots")
  const shard = values.shard === undefined ? undefined : parseShard(values.shard)
  if (values.shard !== undefined && shard === undefined) throw new Error("--shard must be INDEX/COUNT, such as 0/4")
  const watched = values["watch-namespaces"]?.split(",")
  if (watched?.some((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)))
    throw new Error("--watch-namespaces must be a comma-separated list of namespaces")
  const answered = values.answer?.split(",") ?? []
  if (!answered.every(isRequestKindName)) throw new Error(`--answer must be a list of ${requestKindNames.join(", ")}`)
  const addresses = parsePermittedAddresses(values["engine-addresses"] ?? "private")
  if (addresses === undefined)
    throw new Error(
      "--engine-addresses must be none, or a comma-separated list of private, loopback, link-local and ranges",
    )
  const { "embedded-connection": name = "default", "embedded-organization": organization = "default" } = values
  const config = new KubeConfig()
  if (values.kubeconfig === undefined) config.loadFromDefault()
  else config.loadFromFile(values.kubeconfig)
  return {
    config,
    identity,
    namespace,
    listen: { host: host ?? listen.slice(0, listen.lastIndexOf(":")), port: Number(port) },
    addresses,
    answered,
    publishesTrustBundles: values["trust-bundles"] === true,
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(watched === undefined ? {} : { watched }),
    ...(values.embedded === undefined ? {} : { embedded: { folder: values.embedded, name, organization } }),
    ...(shard === undefined ? {} : { shard }),
  }
}

async function main(): Promise<number> {
  let parsed: ReturnType<typeof settings>
  try {
    parsed = settings()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return exitCodes.usage
  }
  if (parsed === undefined) {
    process.stdout.write(usage)
    return exitCodes.ended
  }
  const ending = new AbortController()
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => ending.abort())
  const listening = (url: string) => log.info("listening", { url })
  return exitCodes[await runOperator({ ...parsed, runtime, listening }, ending.signal)]
}

process.exitCode = await main()
