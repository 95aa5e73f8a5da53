// Fixture for tests of the operator: replicas with the rights of its ServiceAccount, an engine behind a socket, and an administrator who
// applies objects and reads their status.
import { setTimeout as sleep } from "node:timers/promises"
import type { KubeConfig } from "@kubernetes/client-node"
import { startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine, type TestEngineOptions } from "../../../engine/testing/test-engine.ts"
import { ApiClient } from "../../../operator/src/kube/api-client.ts"
import { ApiError } from "../../../operator/src/kube/cluster.ts"
import { connection } from "../../../operator/src/api/connection.ts"
import {
  apiVersionOf,
  type KubernetesObject,
  type Resource,
  secrets,
} from "../../../operator/src/kube/kubernetes-object.ts"
import { type OperatorOptions, runOperator } from "../../../operator/src/operator.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }
/** Test engines listen on the loopback interface. */
const loopback = { kinds: ["loopback"], ranges: [] } as const

export interface Replica {
  readonly url: Promise<string>
  /** Stops the replica and waits until it has stopped. */
  end(): Promise<"ended" | "lost">
}

export function startReplica(
  config: KubeConfig,
  namespace: string,
  identity: string,
  options: Partial<OperatorOptions> = {},
): Replica {
  const ending = new AbortController()
  const url = Promise.withResolvers<string>()
  const run = () =>
    runOperator(
      {
        config,
        namespace,
        identity,
        runtime: systemRuntime(silent),
        listen: { host: "127.0.0.1", port: 0 },
        listening: url.resolve,
        addresses: loopback,
        ...options,
      },
      ending.signal,
    )
  async function keepRunning(): Promise<"ended" | "lost"> {
    for (;;) {
      const outcome = await run()
      if (outcome === "ended" || ending.signal.aborted) return outcome
      // Kubernetes restarts a process that ended this way. Logged, because it means that a server did not answer for ten seconds.
      console.warn(`the replica ${identity} in ${namespace} lost its lease, and is started again`)
    }
  }
  const running = keepRunning()
  running.catch(url.reject)
  return {
    url: url.promise,
    end() {
      ending.abort()
      return running
    },
  }
}

export async function startEngine(options: TestEngineOptions = {}) {
  const testEngine = await openTestEngine({ jobs: false, ...options })
  await testEngine.engine.organizations.create({ name: "acme", email: "acme@example.com" })
  const server = await startServer({ engine: testEngine.engine })
  return {
    engine: testEngine.engine,
    url: server.url,
    token: testEngine.rootToken,
    close: () => server.close(),
    async [Symbol.asyncDispose]() {
      await server.close()
      await testEngine[Symbol.asyncDispose]()
    },
  }
}

const timeoutMs = 120_000

/** Polls until the value meets the condition. */
export async function eventually<Value>(look: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const value = await look()
    if (isSo(value)) return value
    if (Date.now() > until) throw new Error(`it never was: ${JSON.stringify(value, undefined, 2)}`)
    await sleep(40)
  }
}

export interface Shown extends KubernetesObject {
  readonly status: {
    readonly observedGeneration: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
      readonly observedGeneration: number
    }[]
    readonly [member: string]: unknown
  }
}

type ShownCondition = NonNullable<Shown["status"]["conditions"]>[number]

const described = ({ type, status, reason }: ShownCondition): string => `${type}=${status} ${reason}`

export const summary = ({ status }: Shown): readonly string[] => (status.conditions ?? []).map(described)

/** Opens an administrator's client, which applies and reads objects. */
export function administrator(config: KubeConfig) {
  const api = new ApiClient(config, systemRuntime(silent))
  const keyOf = (namespace: string | undefined, name: string) =>
    namespace === undefined ? name : `${namespace}/${name}`
  return {
    api,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    /** Operations in a namespace, or on cluster-scoped objects. */
    in: (namespace?: string) => ({
      apply: (resource: Resource, name: string, spec: unknown, metadata: Record<string, unknown> = {}) =>
        api.apply(
          resource,
          {
            apiVersion: apiVersionOf(resource),
            kind: resource.kind,
            metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...metadata },
            ...(spec === undefined ? {} : { spec }),
          },
          "somebody",
        ),
      putToken: (token: string, name = "engine") =>
        api.apply(
          secrets,
          {
            metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
            data: { token: Buffer.from(token).toString("base64") },
          },
          "somebody",
        ),
      patch: (resource: Resource, name: string, patch: unknown) =>
        api.mergePatch(resource, keyOf(namespace, name), patch),
      delete: (resource: Resource, name: string) => api.delete(resource, keyOf(namespace, name)),
      shown: async (resource: Resource, name: string) => (await api.get(resource, keyOf(namespace, name))) as Shown,
      async isGone(resource: Resource, name: string): Promise<boolean> {
        try {
          await api.get(resource, keyOf(namespace, name))
          return false
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return true
          throw error
        }
      },
      /**
       * Waits until the condition holds for the latest generation. A failed reconciliation leaves some conditions at an earlier generation.
       */
      async until(resource: Resource, name: string, condition: string): Promise<Shown> {
        return eventually(
          async () => (await api.get(resource, keyOf(namespace, name))) as Shown,
          ({ metadata, status }) => {
            const { generation } = metadata
            const met = status.conditions?.find((one) => described(one) === condition)
            return status.observedGeneration === generation && met?.observedGeneration === generation
          },
        )
      },
    }),
  }
}

export type Actor = ReturnType<ReturnType<typeof administrator>["in"]>

/** Creates the connection of a namespace to an engine. */
export async function connect(
  actor: Actor,
  { url, token }: { readonly url: string; readonly token: string },
  spec = {},
) {
  await actor.putToken(token)
  await actor.apply(connection, "engine", {
    baseURL: url,
    tokenSecretRef: { name: "engine" },
    organization: "acme",
    ...spec,
  })
  await actor.until(connection, "engine", "Ready=True Connected")
}
