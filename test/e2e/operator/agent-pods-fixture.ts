// An engine with runs, and a namespace with the rights that the chart of agents gives. Tests play the kubelet: they write the status of
// pods, because the control plane has no nodes.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { actingFor } from "../../../engine/src/acting-for.ts"
import type { PodClaims, PodExecutorOptions } from "../../../engine/src/agent/pod-executor.ts"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import type { RunClaimView } from "../../../engine/src/workspaces/runs/run-claim.ts"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { tarball } from "../../../engine/testing/tar-archive.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"
import { type Pod, pods } from "../../../operator/src/agent-pods/pod.ts"
import { podName } from "../../../operator/src/agent-pods/run-pod.ts"
import { type KubernetesObject, secrets } from "../../../operator/src/kube/kubernetes-object.ts"
import type { Cluster } from "./cluster.ts"
import { administrator, eventually } from "./fixture.ts"
import { type Helm, manifestsIn } from "./helm.ts"

const organization = "acme"
export const agent = "agent-0"
/** Leases of the server do not end, because its clock stands still. This one sets how often the executor reads the claim. */
const leaseMs = 1_500

export type PodsFixture = Awaited<ReturnType<typeof openPodsFixture>>

export async function openPodsFixture(cluster: Cluster, helm: Helm, namespace: string) {
  await using opening = new AsyncDisposableStack()
  await cluster.kubectl(["create", "namespace", namespace])
  const values = ["engineUrl=https://chancery.example", "token.existingSecret=pool"]
  const access = manifestsIn(await helm.template({ name: agent, namespace, values }))
  for (const manifest of access.filter(({ kind }) => /^(ServiceAccount|Role|RoleBinding)$/.test(kind)))
    await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(manifest))
  const config = await cluster.accessOf(namespace, agent)
  const admin = opening.use(administrator(cluster.adminAccess()))
  const clock = manualClock(Date.now())
  const runtime = { ...systemRuntime(), clock }
  const { engine } = opening.use(await openTestEngine({ jobs: false, runtime }))
  await engine.organizations.create({ name: organization, email: "acme@example.com" })
  const pool = await engine.agentPools.create(organization, { name: "cluster" })
  const { secret } = await engine.tokens.createForAgentPool(pool.id, { description: agent })
  const { runClaims } = actingFor(engine, secret)
  let heartbeats = 0
  const claims: PodClaims = {
    heartbeat: (id) => {
      heartbeats += 1
      return runClaims.heartbeat(id)
    },
    get: (id) => runClaims.get(id),
    report: (id, step) => runClaims.report(id, step),
    appendLog: (...args) => runClaims.appendLog(...args),
    createToken: (id) => runClaims.createToken(id),
  }
  const closing = opening.move()
  const keyOf = ({ id: claimId, run }: RunClaimView) =>
    `${namespace}/${podName({ claimId, runId: run.id, workspace: "" })}`
  const isThere = (resource: typeof pods, key: string) =>
    admin.api.get(resource, key).then(
      () => true,
      () => false,
    )
  return {
    engine,
    claims,
    release: (claimId: string) => runClaims.release(claimId),
    config,
    admin: admin.api,
    clock,
    heartbeats: () => heartbeats,
    /** Options of an executor in the namespace. Its output is added to `printed`. */
    options: (printed: string[], other: Partial<PodExecutorOptions> = {}): PodExecutorOptions => ({
      claims,
      agent,
      image: "registry.example/chancery-agent:1",
      namespace,
      startTimeoutMs: 60_000,
      args: ["agent", "--engine-url", "https://chancery.example"],
      passed: {},
      files: {},
      leaseMs,
      graceMs: 120_000,
      maxLogBytes: 1_000_000,
      print: (text) => void printed.push(text),
      ...other,
    }),
    /** Queues a run in a new workspace, and claims it. */
    async claimRun(): Promise<RunClaimView> {
      const { id } = await engine.workspaces.create(organization, { name: `web-${crypto.randomUUID()}` })
      const version = await engine.configurationVersions.create(
        { id },
        { speculative: false, provisional: false, autoQueueRuns: false, ingressAttributes: null, readme: null },
      )
      await engine.configurationVersions.upload(version.id, tarball({ "main.tf": "" }))
      const input = { message: null, isDestroy: false, planOnly: false, refreshOnly: false, autoApply: null }
      await engine.runs.create({ id }, { ...input, configurationVersionId: version.id })
      const claim = await runClaims.claim({ kind: "own-pool" }, { name: agent, leaseMs: 600_000, waitMs: 0 })
      if (claim === undefined) throw new Error("no run waits")
      return claim
    },
    /** Waits until the executor has created the pod and the Secret of a claim, and returns both. */
    async created(claim: RunClaimView): Promise<{ readonly pod: Pod; readonly secret: KubernetesObject }> {
      await eventually(() => isThere(secrets, keyOf(claim)), Boolean)
      return { pod: await admin.api.get(pods, keyOf(claim)), secret: await admin.api.get(secrets, keyOf(claim)) }
    },
    /** Writes the status as a kubelet does. */
    play: (pod: Pod, status: object): Promise<unknown> => admin.api.applyStatus(pods, pod, status, "kubelet"),
    async remains(claim: RunClaimView): Promise<{ readonly pod: boolean; readonly secret: boolean }> {
      return { pod: await isThere(pods, keyOf(claim)), secret: await isThere(secrets, keyOf(claim)) }
    },
    statusOf: async (claim: RunClaimView) => (await engine.runs.get(claim.run.id)).status,
    /** Returns the log of the plan. */
    async log(claim: RunClaimView): Promise<string> {
      const { planId: id } = await engine.runs.get(claim.run.id)
      const slice = { id, credential: engine.runLogs.grant(id), offset: 0, limit: 100_000 }
      return Buffer.from(await engine.runLogs.read(slice)).toString()
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const containerStatus = (state: object) => ({
  name: "agent",
  image: "registry.example/chancery-agent:1",
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
})

/** Statuses that a kubelet writes. */
export const statuses = {
  running: {
    phase: "Running",
    containerStatuses: [containerStatus({ running: { startedAt: "2026-01-01T00:00:00Z" } })],
  },
  waiting: (reason: string, message: string) => ({
    phase: "Pending",
    containerStatuses: [containerStatus({ waiting: { reason, message } })],
  }),
  terminated: (exitCode: number, reason: string, other: object = {}) => ({
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    containerStatuses: [containerStatus({ terminated: { exitCode, reason } })],
    ...other,
  }),
  unschedulable: {
    phase: "Pending",
    conditions: [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/3 nodes are available: 3 Insufficient memory.",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
}

const module = pathToFileURL(join(import.meta.dirname, "../../../operator/dist/pods.js")).href

/** Executes a claim in a process of its own, whose claims are alive. Returns a function that kills it. */
export async function startDispatcher(
  kubeconfig: string,
  options: Omit<PodExecutorOptions, "claims" | "print">,
  claim: RunClaimView,
): Promise<() => Promise<void>> {
  const program = `
    const { openPodExecutor } = await import(${JSON.stringify(module)})
    const claim = ${JSON.stringify(claim)}
    const alive = async () => claim
    const claims = { heartbeat: alive, get: alive, createToken: async () => ({ secret: "token of a killed agent" }) }
    const print = (text) => process.stderr.write(text + "\\n")
    const executor = await openPodExecutor({ ...${JSON.stringify(options)}, claims, print })
    await executor.execute(claim, 1)`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, KUBECONFIG: kubeconfig },
  })
  const ended = once(child, "exit")
  return async () => {
    child.kill("SIGKILL")
    await ended
  }
}
