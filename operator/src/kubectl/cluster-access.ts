// Access to a cluster with a kubeconfig, for commands. Loaded on demand, because it loads the Kubernetes client.
import { KubeConfig } from "@kubernetes/client-node"
import { CommandError, exitCodes } from "@chancery/engine/cli"
import { ApiClient } from "../kube/api-client.ts"
import { ApiError } from "../kube/cluster.ts"
import { KubernetesCluster } from "../kube/kubernetes-cluster.ts"
import type { KubernetesObject, Resource } from "../kube/kubernetes-object.ts"
import { type OperatorRuntime, systemRuntime } from "../runtime.ts"
import type { ClusterOptions } from "./cluster-options.ts"

export interface ClusterAccess extends AsyncDisposable {
  readonly api: ApiClient
  readonly cluster: KubernetesCluster
  readonly runtime: OperatorRuntime
  /** Namespace of `--namespace`, or of the context. */
  readonly namespace: string
  /** Namespace to list; undefined for all. */
  readonly listed: string | undefined
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export function openClusterAccess(options: ClusterOptions): ClusterAccess {
  const config = configOf(options)
  const runtime = systemRuntime(silent)
  const api = new ApiClient(config, runtime)
  const namespace = options.namespace ?? (config.getContextObject(config.currentContext)?.namespace || "default")
  return {
    api,
    cluster: new KubernetesCluster({ api, runtime }),
    runtime,
    namespace,
    listed: options.allNamespaces === true ? undefined : namespace,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

function configOf({ kubeconfig, context }: ClusterOptions): KubeConfig {
  const config = new KubeConfig()
  try {
    if (kubeconfig === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfig)
  } catch (cause) {
    const message = `The kubeconfig cannot be read: ${(cause as Error).message}`
    throw new CommandError(exitCodes.configuration, message, { cause })
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new CommandError(exitCodes.usage, `--context cannot be "${context}"; the kubeconfig has no such context.`)
    config.setCurrentContext(context)
  }
  return config
}

const pageSize = 500

/** Returns all objects of a kind in a namespace, or in the cluster. */
export async function listAll(
  { api }: Pick<ClusterAccess, "api">,
  resource: Resource,
  namespace: string | undefined,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly KubernetesObject[]> {
  const found: KubernetesObject[] = []
  const { signal } = new AbortController()
  for (let next = ""; ;) {
    const page = await api.list(
      resource,
      resource.scope === "Cluster" ? undefined : namespace,
      { ...query, limit: String(pageSize), ...(next === "" ? {} : { continue: next }) },
      signal,
    )
    found.push(...page.items)
    if (page.next === "") return found
    next = page.next
  }
}

/** Runs a request. Reports an error of the API server, or of the connection to it, as one of the command. */
export async function answered<Value>(request: () => Promise<Value>): Promise<Value> {
  try {
    return await request()
  } catch (cause) {
    if (cause instanceof ApiError) throw new CommandError(exitCodes.failure, rejection(cause), { cause })
    const { code } = cause as { readonly code?: unknown }
    if (typeof code !== "string" || !(cause instanceof Error) || cause instanceof TypeError) throw cause
    const message = `The API server of the cluster does not answer: ${cause.message || code}`
    throw new CommandError(exitCodes.unavailable, message, { cause })
  }
}

/** For an unknown resource, the API server answers without a status object. */
const rejection = ({ status, reason, message }: ApiError): string =>
  status === 404 && reason === "Unknown"
    ? "The cluster does not have the kinds of chancery.dev; install the CustomResourceDefinitions of the operator."
    : `The API server rejects the request: ${message}`
