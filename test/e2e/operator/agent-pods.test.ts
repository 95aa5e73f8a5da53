// `chancery agent --isolation pod` on a real API server, with the Role of the chart. The control plane has no nodes, so no container runs: the
// tests play the kubelet, which writes the status of pods, and the agent in the pod, which reports on its run. They show what the agent
// outside of the pod does.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { KubeConfig } from "@kubernetes/client-node"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { actingFor } from "../../../engine/src/acting-for.ts"
import type { PodExecutorOptions } from "../../../engine/src/agent/pod-executor.ts"
import type { RunExecutor } from "../../../engine/src/agent/run-executor.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { openPodExecutor } from "../../../operator/src/agent-pods/pod-executor.ts"
import { pods } from "../../../operator/src/agent-pods/pod.ts"
import { keyOf } from "../../../operator/src/kube/kubernetes-object.ts"
import { builtChancery, start, temporaryFolder } from "../../cli/chancery.ts"
import { agent, openPodsFixture, type PodsFixture, startDispatcher, statuses } from "./agent-pods-fixture.ts"
import { sharedCluster } from "./cluster.ts"
import { agentChartFolder, findHelm, type Helm } from "./helm.ts"

const cluster = sharedCluster()
const found = await findHelm(agentChartFolder)
const namespace = "agent-pods"
const gone = { pod: false, secret: false }

describe.skipIf(cluster === undefined || found === undefined)("an agent with the isolation pod", () => {
  let fixture: PodsFixture
  beforeAll(async () => {
    fixture = await openPodsFixture(cluster!, found as Helm, namespace)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** Opens an executor with the rights of the chart. */
  async function open(other: Partial<PodExecutorOptions> = {}) {
    const printed: string[] = []
    const executor = await openPodExecutor(fixture.options(printed, other), fixture.config)
    return { printed, ...disposedOnce(executor) }
  }

  /** Executes a new run until its pod exists. */
  async function begin(other: Partial<PodExecutorOptions> = {}) {
    const opened = await open(other)
    onTestFinished(() => opened[Symbol.asyncDispose]())
    const claim = await fixture.claimRun()
    const ended = opened.execute(claim, 1)
    return { ...opened, claim, ended, ...(await fixture.created(claim)) }
  }

  test("creates a pod with a token of the claim only, renews the lease until it starts, and leaves nothing when the run has ended", async () => {
    const { folder, file } = await templateFile(`
metadata:
  labels: { team: platform }
  annotations: { cluster-autoscaler.kubernetes.io/safe-to-evict: "false" }
spec:
  nodeSelector: { disk: ssd }
  containers:
    - name: proxy
      image: proxy:1
    - name: agent
      resources: { limits: { memory: 2Gi } }
      env: [{ name: TZ, value: UTC }]
`)
    onTestFinished(() => folder[Symbol.asyncDispose]())
    const files = { "ca.crt": "certificate" }
    const passed = { HTTPS_PROXY: "http://user:secret@proxy" }
    const { claim, ended, pod, secret, describe: lines } = await begin({ templateFile: file, files, passed })
    expect(lines()).toEqual([
      `isolation: pod: each run has a pod in the namespace ${namespace} with the image registry.example/chancery-agent:1, and no token but that of its claim`,
      "cpu of pods is not limited, because the pod template sets no limit",
    ])
    const { name, uid } = pod.metadata
    const labels = {
      "app.kubernetes.io/managed-by": "chancery-agent",
      "chancery.dev/agent": agent,
      "chancery.dev/run": claim.run.id,
    }
    expect({ metadata: pod.metadata, spec: pod.spec }).toEqual({
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion: expect.any(String),
        generation: 1,
        creationTimestamp: expect.any(String),
        labels: { ...labels, team: "platform" },
        annotations: {
          "chancery.dev/claim": claim.id,
          "chancery.dev/workspace": `acme/${claim.workspace.name}`,
          "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        },
      },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        nodeSelector: { disk: "ssd" },
        restartPolicy: "Never",
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        terminationGracePeriodSeconds: 150,
        containers: [
          {
            name: "agent",
            image: "registry.example/chancery-agent:1",
            imagePullPolicy: "IfNotPresent",
            command: ["chancery"],
            args: [
              ...["agent", "--engine-url", "https://chancery.example"],
              ...["--claim", claim.id, "--pass-env", "HTTPS_PROXY"],
            ],
            env: [
              { name: "TZ", value: "UTC" },
              { name: "CHANCERY_TOKEN", valueFrom: { secretKeyRef: { name, key: "token" } } },
              { name: "HTTPS_PROXY", valueFrom: { secretKeyRef: { name, key: "env.HTTPS_PROXY" } } },
            ],
            resources: { limits: { memory: "2Gi" }, requests: { memory: "2Gi" } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "FallbackToLogsOnError",
            volumeMounts: [
              { name: "chancery-data", mountPath: "/data" },
              { name: "chancery-tmp", mountPath: "/tmp" },
              { name: "chancery-claim", mountPath: "/etc/chancery/claim", readOnly: true },
            ],
          },
          {
            name: "proxy",
            image: "proxy:1",
            imagePullPolicy: "IfNotPresent",
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
          },
        ],
        volumes: [
          { name: "chancery-data", emptyDir: {} },
          { name: "chancery-tmp", emptyDir: {} },
          {
            name: "chancery-claim",
            secret: { secretName: name, defaultMode: 0o444, items: [{ key: "ca.crt", path: "ca.crt" }] },
          },
        ],
        // Defaults of the API server.
        dnsPolicy: "ClusterFirst",
        preemptionPolicy: "PreemptLowerPriority",
        priority: 0,
        schedulerName: "default-scheduler",
        tolerations: expect.any(Array),
      },
    })
    const base64 = (text: string) => Buffer.from(text).toString("base64")
    expect(secret).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        namespace,
        uid: expect.any(String),
        resourceVersion: expect.any(String),
        creationTimestamp: expect.any(String),
        labels,
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
      },
      type: "Opaque",
      immutable: true,
      data: {
        token: expect.any(String),
        "env.HTTPS_PROXY": base64("http://user:secret@proxy"),
        "ca.crt": base64("certificate"),
      },
    })
    // The token continues the claim, and claims no other run.
    const { token = "" } = (secret as { readonly data?: Readonly<Record<string, string>> }).data ?? {}
    const { runClaims } = actingFor(fixture.engine, Buffer.from(token, "base64").toString())
    expect(await runClaims.heartbeat(claim.id)).toMatchObject({ id: claim.id })
    const input = { name: "pod", leaseMs: 60_000, waitMs: 0 }
    await expect(runClaims.claim({ kind: "own-pool" }, input)).rejects.toMatchObject({ code: "not-found" })

    const before = fixture.heartbeats()
    await expect.poll(fixture.heartbeats).toBeGreaterThan(before + 1)
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })
    await settle()
    const started = fixture.heartbeats()
    await settle()
    expect(fixture.heartbeats()).toBe(started)
    await fixture.claims.report(claim.id, { status: "planned", hasChanges: false })
    await fixture.play(pod, statuses.terminated(0, "Completed"))
    expect(await ended).toBe("planned_and_finished")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("returns planned when the agent in the pod released a plan that waits for a confirmation", async () => {
    const { claim, ended, pod } = await begin()
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })
    await fixture.claims.report(claim.id, { status: "planned", hasChanges: true })
    await fixture.release(claim.id)
    await fixture.play(pod, statuses.terminated(0, "Completed"))
    expect(await ended).toBe("planned")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test.each([
    {
      why: "its image cannot be pulled",
      status: statuses.waiting("ImagePullBackOff", 'Back-off pulling image "nowhere"'),
      line: /cannot start \(ImagePullBackOff: Back-off pulling image "nowhere"\)\.$/m,
    },
    {
      why: "its image has no valid name",
      status: statuses.waiting("InvalidImageName", "couldn't parse image name"),
      line: /cannot start \(InvalidImageName: couldn't parse image name\)\.$/m,
    },
    {
      why: "a node has no room for it within the start timeout",
      status: statuses.unschedulable,
      line: /did not start within 3s \(Unschedulable: 0\/3 nodes are available: 3 Insufficient memory\.\)\.$/m,
    },
    {
      why: "it exceeds its memory",
      status: statuses.terminated(137, "OOMKilled"),
      line: /was stopped at its memory limit \(OOMKilled\)\.$/m,
    },
    {
      why: "its agent fails",
      status: statuses.terminated(78, "Error"),
      line: /ended with the exit code 78\.$/m,
    },
  ])("reports an errored run, whose log names the pod and the reason, when $why", async ({ status, line }) => {
    const { claim, ended, pod } = await begin({ startTimeoutMs: 3_000 })
    await fixture.play(pod, status)
    expect(await ended).toBe("errored")
    expect(await fixture.statusOf(claim)).toBe("errored")
    const log = await fixture.log(claim)
    expect(log).toContain(`The pod ${keyOf(pod)} `)
    expect(log).toMatch(line)
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("leaves a complete plan alone when its pod fails afterwards", async () => {
    const { claim, ended, pod } = await begin()
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })
    await fixture.claims.report(claim.id, { status: "planned", hasChanges: true })
    await fixture.play(pod, statuses.terminated(137, "OOMKilled"))
    expect(await ended).toBe("planned")
    expect(await fixture.statusOf(claim)).toBe("planned")
  })

  test("leaves the run to the server when the pod is evicted", async () => {
    const { claim, ended, pod, printed } = await begin()
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })
    const evicted = { reason: "Evicted", message: "The node was low on resource: memory." }
    await fixture.play(pod, statuses.terminated(137, "Error", evicted))
    expect(await ended).toBe("lost")
    expect(await fixture.statusOf(claim)).toBe("planning")
    expect(printed.join("\n")).toContain("was ended by its node (Evicted: The node was low on resource: memory.)")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("leaves the run to the server, and deletes the Secret, when another client deletes the pod", async () => {
    const { claim, ended, pod } = await begin()
    await fixture.admin.delete(pods, keyOf(pod), undefined, 0)
    expect(await ended).toBe("lost")
    expect(await fixture.statusOf(claim)).toBe("plan_queued")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("deletes the pod and reports a canceled run when the run is canceled before the pod starts", async () => {
    const { claim, ended } = await begin()
    await fixture.engine.runs.cancel(claim.run.id)
    expect(await ended).toBe("canceled")
    expect(await fixture.statusOf(claim)).toBe("canceled")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("deletes the pod at once when the run is canceled by force", async () => {
    const { claim, ended, pod } = await begin()
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })
    await fixture.engine.runs.cancel(claim.run.id)
    fixture.clock.advance(61_000)
    await fixture.engine.runs.forceCancel(claim.run.id)
    expect(await ended).toBe("force_canceled")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("follows the pod of a killed agent of its name to the end", async () => {
    await using folder = await temporaryFolder()
    const claim = await fixture.claimRun()
    const kubeconfig = join(folder.path, "kubeconfig")
    await writeFile(kubeconfig, fixture.config.exportConfig(), { mode: 0o600 })
    const { claims: _, print: __, ...options } = fixture.options([])
    const kill = await startDispatcher(kubeconfig, options, claim)
    const { pod } = await fixture.created(claim)
    await kill()
    await fixture.play(pod, statuses.running)
    await fixture.claims.report(claim.id, { status: "planning", hasChanges: null })

    const next = await open()
    expect(next.printed).toEqual(["An earlier agent of this name left 1 pods. This agent follows them."])
    await settle()
    expect(await fixture.remains(claim)).toEqual({ pod: true, secret: true })
    await fixture.claims.report(claim.id, { status: "planned", hasChanges: false })
    await fixture.play(pod, statuses.terminated(0, "Completed"))
    await next[Symbol.asyncDispose]()
    expect(next.printed.at(-1)).toBe(`${claim.run.id} of acme/${claim.workspace.name}: planned_and_finished`)
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("creates the Secret of a pod that an earlier agent left without one", async () => {
    const { claim, ended, pod } = await begin()
    await fixture.admin.delete({ ...pods, plural: "secrets", kind: "Secret" }, keyOf(pod))
    const next = await open()
    await fixture.created(claim)
    await fixture.play(pod, statuses.terminated(137, "OOMKilled"))
    await next[Symbol.asyncDispose]()
    expect(await ended).toBe("errored")
    expect(await fixture.remains(claim)).toEqual(gone)
  })

  test("removes pods and Secrets of an earlier agent when their runs have ended", async () => {
    await using folder = await temporaryFolder()
    const claim = await fixture.claimRun()
    const kubeconfig = join(folder.path, "kubeconfig")
    await writeFile(kubeconfig, fixture.config.exportConfig(), { mode: 0o600 })
    const { claims: _, print: __, ...options } = fixture.options([])
    const kill = await startDispatcher(kubeconfig, options, claim)
    const { pod } = await fixture.created(claim)
    await kill()
    await fixture.play(pod, statuses.terminated(143, "Error"))
    // The claim has ended: its run belongs to another executor.
    await fixture.release(claim.id)
    const next = await open()
    await next[Symbol.asyncDispose]()
    expect(await fixture.remains(claim)).toEqual(gone)
    expect(await fixture.statusOf(claim)).toBe("plan_queued")
  })

  test("starts from the command line with the access of a kubeconfig, and ends when it is stopped", async () => {
    await using folder = await temporaryFolder()
    await using started = new AsyncDisposableStack()
    const server = await startServer({ engine: fixture.engine })
    started.defer(async () => void (await server.close()))
    const pool = await fixture.engine.agentPools.create("acme", { name: "pods", organizationScoped: false })
    const { secret } = await fixture.engine.tokens.createForAgentPool(pool.id, { description: "pods" })
    const access = JSON.parse(fixture.config.exportConfig()) as { contexts: { context: { namespace?: string } }[] }
    for (const { context } of access.contexts) context.namespace = namespace
    const kubeconfig = join(folder.path, "kubeconfig")
    await writeFile(kubeconfig, JSON.stringify(access), { mode: 0o600 })
    const words = ["agent", "--engine-url", server.url, "--isolation", "pod", "--pod-image", "agent:1", "--name", "cli"]
    const environment = { CHANCERY_TOKEN: secret, KUBECONFIG: kubeconfig }
    const running = started.use(start(words, { folder: folder.path, program: builtChancery, environment }))
    await expect.poll(running.stderr).toContain("The agent cli waits for runs.")
    expect(running.stderr()).toContain(`each run has a pod in the namespace ${namespace} with the image agent:1`)
    running.child.kill("SIGTERM")
    expect((await running.ended).code).toBe(0)
  })

  test.each([
    { why: "there is no kubeconfig", access: undefined, code: 78, message: "no Kubernetes configuration was found" },
    { why: "the cluster does not answer", access: "https://127.0.0.1:1", code: 69, message: "ECONNREFUSED" },
  ])("ends with the exit code $code when $why", async ({ access, code, message }) => {
    await using folder = await temporaryFolder()
    const kubeconfig = join(folder.path, "kubeconfig")
    const config = new KubeConfig()
    if (access !== undefined) {
      config.loadFromClusterAndUser({ name: "a", server: access, skipTLSVerify: true }, { name: "a", token: "a" })
      const written = config.exportConfig().replaceAll("loaded-context", "a")
      await writeFile(kubeconfig, written, { mode: 0o600 })
    }
    const words = ["agent", "--engine-url", "http://127.0.0.1:1", "--isolation", "pod", "--pod-image", "agent:1"]
    const environment = {
      CHANCERY_TOKEN: "token",
      HOME: folder.path,
      KUBECONFIG: access === undefined ? "" : kubeconfig,
    }
    await using running = start(words, { folder: folder.path, program: builtChancery, environment })
    expect(await running.ended).toMatchObject({ code, stderr: expect.stringContaining(message) })
  })

  test("needs no right to read Secrets", async () => {
    const account = `--as=system:serviceaccount:${namespace}:${agent}`
    const can = (verb: string, resource: string, ...options: readonly string[]) =>
      cluster!.kubectl(["auth", "can-i", verb, resource, "-n", namespace, account, ...options]).catch(() => "no\n")
    for (const verb of ["get", "list", "watch", "update", "patch"]) expect(await can(verb, "secrets")).toBe("no\n")
    expect(await can("create", "pods")).toBe("yes\n")
    expect(await can("create", "pods", "--subresource=exec")).toBe("no\n")
  })

  test.each([
    {
      template: "spec: { containers: [{ name: agent, imag: x }] }",
      message: /unknown field "spec\.containers\[0\]\.imag"/,
    },
    { template: "spec: { restartPolicy: Always }", message: /spec\.restartPolicy must be Never/ },
    { template: "spec: { volumes: [{ name: Upper }] }", message: /spec\.volumes\[0\]\.name/ },
  ])("does not start with the template $template", async ({ template, message }) => {
    const { folder, file } = await templateFile(template)
    onTestFinished(() => folder[Symbol.asyncDispose]())
    await expect(open({ templateFile: file })).rejects.toThrow(message)
  })

  test("does not start in a namespace where it may not create pods", async () => {
    await expect(open({ namespace: "default" })).rejects.toThrow(
      /does not accept pods in the namespace default: .*cannot create resource "pods"/,
    )
  })
})

async function templateFile(text: string) {
  const folder = await temporaryFolder()
  const file = join(folder.path, "template.yaml")
  await writeFile(file, text)
  return { folder, file }
}

/** A test and its end may both dispose of an executor. */
function disposedOnce(executor: RunExecutor): RunExecutor {
  let disposed: Promise<void> | undefined
  return {
    describe: () => executor.describe(),
    execute: (claim, slot) => executor.execute(claim, slot),
    [Symbol.asyncDispose]: () => (disposed ??= Promise.resolve(executor[Symbol.asyncDispose]())),
  }
}

/** Waits for two reads of the claim. */
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 1_200))
