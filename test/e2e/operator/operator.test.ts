// The operator against a real API server, with only the rights that `operator/deploy/rbac.yaml` grants it.
import type { KubeConfig } from "@kubernetes/client-node"
import { request } from "undici"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"
import { runOperator } from "../../../operator/src/operator.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { type Cluster, openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const shared = sharedCluster()

interface Replica {
  readonly url: Promise<string>
  /** Stops the replica and waits until it has stopped. */
  end(): Promise<"ended" | "lost">
}

function startReplica(config: KubeConfig, namespace: string, identity: string): Replica {
  const ending = new AbortController()
  const url = Promise.withResolvers<string>()
  const running = runOperator(
    {
      config,
      namespace,
      identity,
      runtime: systemRuntime(silent),
      // Other suites run operators in the same cluster.
      watched: [namespace],
      clusterWide: true,
      listen: { host: "127.0.0.1", port: 0 },
      listening: url.resolve,
    },
    ending.signal,
  )
  running.catch(url.reject)
  const end = () => {
    ending.abort()
    return running
  }
  onTestFinished(async () => void (await end()))
  return { url: url.promise, end }
}

async function startEngine() {
  const testEngine = await openTestEngine({ jobs: false })
  await testEngine.engine.organizations.create({ name: "acme", email: "acme@example.com" })
  const server = await startServer({ engine: testEngine.engine })
  onTestFinished(async () => {
    await server.close()
    await testEngine[Symbol.asyncDispose]()
  })
  return { url: server.url, token: testEngine.rootToken, close: () => server.close() }
}

interface Shown {
  readonly metadata: { readonly generation: number; readonly resourceVersion: string }
  readonly status: {
    readonly observedGeneration: number
    readonly lastHandledReconcileAt?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
  }
}

/** Operations on a cluster in these tests. */
const actor = ({ kubectl }: Cluster, namespace: string) => ({
  kubectl,
  putToken: (token: string, name = "engine") =>
    kubectl(
      ["apply", "-f", "-"],
      JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        stringData: { token },
      }),
    ),
  connect: (name: string, spec: Record<string, unknown>) =>
    kubectl(
      ["apply", "-f", "-"],
      JSON.stringify({
        apiVersion: "chancery.dev/v1alpha1",
        kind: "ClusterConnection",
        metadata: { name },
        spec: { tokenSecretRef: { name: "engine" }, ...spec },
      }),
    ),
  async shown(name: string): Promise<Shown> {
    return JSON.parse(await kubectl(["get", "clusterconnections.chancery.dev", name, "-o", "json"])) as Shown
  },
  waitFor: (name: string, condition: string) =>
    kubectl(["wait", `--for=condition=${condition}`, `clusterconnections.chancery.dev/${name}`, "--timeout=120s"]),
})

const reasons = ({ status }: Shown) =>
  status.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)

describe.skipIf(shared === undefined)("the operator", () => {
  let cluster: Cluster
  beforeAll(() => {
    cluster = shared!
  })

  test("reports the status of a connection, from the apply to the delete", async () => {
    const namespace = "lifecycle"
    const config = await cluster.operatorAccess(namespace)
    const engine = await startEngine()
    const { kubectl, putToken, connect, shown, waitFor } = actor(cluster, namespace)
    await putToken(engine.token)
    await connect("lifecycle", { baseURL: engine.url, organization: "acme" })
    // Not reconciled yet, so GitOps tools must not take it for finished.
    expect((await shown("lifecycle")).status).toEqual({ observedGeneration: 0 })

    const replica = startReplica(config, namespace, "one")
    await waitFor("lifecycle", "Ready")
    const ready = await shown("lifecycle")
    expect(ready.status.observedGeneration).toBe(ready.metadata.generation)
    expect(reasons(ready)).toEqual(["Ready=True Connected"])
    const columns = await kubectl(["get", "eclconn", "lifecycle", "-o", "wide"])
    expect(columns.replaceAll(/ +/g, " ")).toMatch(
      /^NAME URL READY REASON ORGANIZATION EXPIRES API REFERENCES AGE\nlifecycle \S+ True Connected acme 2\.6 0 /,
    )
    await expect
      .poll(() => kubectl(["get", "events", "--namespace", "default", "-o", "json"]))
      .toContain('"reason": "Connected"')

    await connect("lifecycle", { baseURL: engine.url, organization: "nobody" })
    await waitFor("lifecycle", "Stalled")
    expect(reasons(await shown("lifecycle"))).toEqual([
      "Ready=False OrganizationNotFound",
      "Stalled=True OrganizationNotFound",
    ])
    await connect("lifecycle", { baseURL: engine.url, organization: "acme" })
    await waitFor("lifecycle", "Ready")

    // Changes to the referenced Secret are reconciled too, without an annotation that requests it.
    await kubectl(["delete", "secret", "engine", "--namespace", namespace])
    await expect.poll(async () => reasons(await shown("lifecycle"))).toContain("Stalled=True SecretMissing")
    await putToken("chy_of-nobody")
    await expect.poll(async () => reasons(await shown("lifecycle"))).toContain("Stalled=True TokenRefused")
    await putToken(engine.token)
    await waitFor("lifecycle", "Ready")

    await engine.close()
    await kubectl(["annotate", "eclconn", "lifecycle", "chancery.dev/reconcile-requested-at=once"])
    await waitFor("lifecycle", "Reconciling")
    const away = await shown("lifecycle")
    expect(away.status.lastHandledReconcileAt).toBe("once")
    expect(reasons(away)).toEqual(["Ready=False EngineUnavailable", "Reconciling=True EngineUnavailable"])

    const address = await replica.url
    const text = async (path: string) => (await request(`${address}${path}`)).body.text()
    const { statusCode } = await request(`${address}/readyz`)
    expect(statusCode).toBe(200)
    expect(await text("/healthz")).toBe("ok\n")
    const metrics = await text("/metrics")
    // One write for each of: ready, stalled, ready, no Secret, token refused, ready, engine unreachable.
    expect(metrics).toContain('chancery_operator_status_writes_total{controller="clusterconnections"} 7')
    expect(metrics).toContain(`leader_election_master_status{name="${namespace}/chancery-operator"} 1`)
    expect(metrics).toMatch(/rest_client_requests_total\{code="200",method="PATCH"\} \d+/)
    await kubectl(["delete", "eclconn", "lifecycle", "--timeout=60s"])
    expect(await replica.end()).toBe("ended")
  })

  test("starts with existing objects, and writes nothing when they are unchanged", async () => {
    const namespace = "restart"
    const config = await cluster.operatorAccess(namespace)
    const engine = await startEngine()
    const { putToken, connect, shown, waitFor } = actor(cluster, namespace)
    await putToken(engine.token)
    const names = Array.from({ length: 8 }, (_, index) => `restart-${index}`)
    const first = startReplica(config, namespace, "one")
    for (const name of names) await connect(name, { baseURL: engine.url })
    for (const name of names) await waitFor(name, "Ready")
    const before = await Promise.all(names.map(shown))
    await first.end()

    const second = startReplica(config, namespace, "two")
    const metrics = async () => (await request(`${await second.url}/metrics`)).body.text()
    const done = /controller_runtime_reconcile_total\{controller="clusterconnections",result="requeue_after"\} (\d+)/
    await expect.poll(async () => Number(done.exec(await metrics())?.[1] ?? 0)).toBeGreaterThanOrEqual(names.length)
    expect(await metrics()).not.toMatch(/chancery_operator_status_writes_total\{/)
    expect(await Promise.all(names.map(shown))).toEqual(before)
    expect(await second.end()).toBe("ended")
  })

  test("has one leader among its replicas, and another one at once when the leader ends", async () => {
    const namespace = "replicas"
    const config = await cluster.operatorAccess(namespace)
    const holder = () =>
      cluster.kubectl(["get", "lease", "chancery-operator", "-n", namespace, "-o", "jsonpath={.spec.holderIdentity}"])
    const leads = async (replica: Replica) =>
      /leader_election_master_status\{[^}]*\} 1/.test(await (await request(`${await replica.url}/metrics`)).body.text())
    const one = startReplica(config, namespace, "one")
    await expect.poll(() => leads(one)).toBe(true)
    const two = startReplica(config, namespace, "two")
    await expect.poll(async () => (await request(`${await two.url}/readyz`)).statusCode).toBe(200)
    expect(await holder()).toBe("one")
    expect(await leads(two)).toBe(false)
    expect(await one.end()).toBe("ended")
    await expect.poll(() => leads(two)).toBe(true)
    expect(await holder()).toBe("two")
    expect(await two.end()).toBe("ended")
    expect(await holder()).toBe("")
  })

  test.each([
    { may: "yes", what: ["list", "clusterconnections.chancery.dev"] },
    { may: "yes", what: ["patch", "clusterconnections.chancery.dev", "--subresource=status"] },
    { may: "yes", what: ["watch", "secrets", "-n", "rights"] },
    { may: "no", what: ["update", "secrets", "-n", "rights"] },
    // Patches add and remove finalizers.
    { may: "yes", what: ["patch", "clusterconnections.chancery.dev"] },
    { may: "yes", what: ["patch", "connections.chancery.dev", "--subresource=status", "-n", "default"] },
    { may: "yes", what: ["get", "secrets", "-n", "default"] },
    // Secrets of Certificates.
    { may: "yes", what: ["delete", "secrets", "-n", "default"] },
    { may: "yes", what: ["patch", "certificates.chancery.dev", "--subresource=status", "-n", "default"] },
    { may: "yes", what: ["patch", "configmaps", "-n", "default"] },
    // ConfigMaps of Workspaces that no longer publish outputs.
    { may: "yes", what: ["delete", "configmaps", "-n", "default"] },
    { may: "no", what: ["update", "configmaps", "-n", "default"] },
    { may: "yes", what: ["patch", "deployments.apps", "-n", "default"] },
    { may: "no", what: ["list", "deployments.apps", "-n", "default"] },
    { may: "no", what: ["delete", "certificates.chancery.dev", "-n", "default"] },
    { may: "no", what: ["delete", "clusterconnections.chancery.dev"] },
    { may: "no", what: ["patch", "namespaces"] },
    { may: "no", what: ["list", "events.events.k8s.io"] },
    { may: "no", what: ["update", "leases.coordination.k8s.io", "-n", "kube-system"] },
    { may: "no", what: ["create", "pods", "-n", "rights"] },
  ])("may it $what? $may", async ({ may, what }) => {
    await cluster.kubectl(["get", "namespace", "rights"]).catch(() => cluster.operatorAccess("rights"))
    const as = "--as=system:serviceaccount:rights:chancery-operator"
    const answer = await cluster.kubectl(["auth", "can-i", as, ...what]).catch(() => "no")
    expect(answer.trim()).toBe(may)
  })

  test("survives an outage of the API server: it finds all changes, and loses none", async () => {
    await using controlPlane = await startControlPlane((await findKubernetes())!)
    const own = openCluster(controlPlane)
    await own.installDefinitions()
    const namespace = "outage"
    const config = await own.operatorAccess(namespace)
    const engine = await startEngine()
    const { putToken, connect, waitFor } = actor(own, namespace)
    await putToken(engine.token)
    const replica = startReplica(config, namespace, "one")
    await connect("before", { baseURL: engine.url })
    await waitFor("before", "Ready")
    await controlPlane.restartServer()
    await connect("before", { baseURL: engine.url, organization: "nobody" })
    await connect("after", { baseURL: engine.url })
    await waitFor("before", "Stalled")
    await waitFor("after", "Ready")
    expect(await replica.end()).toBe("ended")
  })
})
