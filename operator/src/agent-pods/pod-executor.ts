// Executes each claimed run in a pod of a Kubernetes cluster. The agent in the pod executes the run; this one creates the pod, renews the
// lease until the pod has started, and reports a pod that failed.
import { readFile, stat } from "node:fs/promises"
import {
  type Execution,
  isConfirmable,
  isFinal,
  isLost,
  isTemporary,
  openRunLease,
  openRunLog,
  PodError,
  type PodExecutorOptions,
  podFilesFolder,
  type RunClaimView,
  type RunExecutor,
  type RunLease,
  SecretMask,
  stageOf,
  withRetries,
} from "@chancery/engine/cli"
import { KubeConfig } from "@kubernetes/client-node"
import { ApiClient } from "../kube/api-client.ts"
import { ApiError, isOutdated } from "../kube/cluster.ts"
import { keyOf, secrets } from "../kube/kubernetes-object.ts"
import { type OperatorRuntime, pause, systemRuntime } from "../runtime.ts"
import { type FollowedPods, followPods } from "./followed-pods.ts"
import { agentContainer, type Pod, pods } from "./pod.ts"
import { faultToleranceMs, podProgress, type PodProgress } from "./pod-progress.ts"
import { maxTemplateBytes, parsePodTemplate, type PodTemplate } from "./pod-template.ts"
import { limitsOf, podOf, type PodOptions, type PodRun, podsOfAgent, runOf, secretOf } from "./run-pod.ts"

const listTimeoutMs = 60_000
const createPauseMs = 2_000
const deleteAttempts = 5
/** Pods of an agent are at most its slots, and those of its last start. */
const pageSize = "500"

interface Parts extends Omit<PodExecutorOptions, "image" | "templateFile" | "namespace"> {
  readonly api: ApiClient
  readonly runtime: OperatorRuntime
  readonly followed: FollowedPods
  readonly template: PodTemplate
  readonly pod: PodOptions
}

/**
 * Checks that the cluster accepts the pods, and goes on with those of an earlier start: a pod outlives its agent. `config` is the access to
 * the cluster, by default that of the kubeconfig or of the service account.
 */
export async function openPodExecutor(
  options: PodExecutorOptions,
  config: KubeConfig = defaultConfig(),
): Promise<RunExecutor> {
  const { agent, image, args, passed, files, graceMs, print } = options
  const template = await readTemplate(options.templateFile)
  const given = template.spec.containers?.find(({ name }) => name === agentContainer)?.image
  const chosen = image ?? given
  if (chosen === undefined)
    throw new PodError("--pod-image is required, because the container agent of the pod template has no image")
  const namespace = options.namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? "default"
  const pod: PodOptions = {
    namespace,
    agent,
    image,
    args,
    passed: Object.keys(passed),
    files: Object.keys(files),
    filesFolder: podFilesFolder,
    graceMs,
  }
  const runtime = systemRuntime(printedLog(print))
  await using opening = new AsyncDisposableStack()
  const api = opening.use(new ApiClient(config, runtime))
  await assertAccepted(api, template, pod)
  const found = await listPods(api, pod)
  const followed = opening.use(followPods(api, namespace, podsOfAgent(agent), runtime))
  const parts: Parts = { ...options, api, runtime, followed, template, pod }
  if (found.length > 0) print(`An earlier agent of this name left ${found.length} pods. This agent follows them.`)
  const earlier = Promise.all(found.map((each) => resume(parts, each)))
  const opened = opening.move()
  return {
    describe: () => [
      `isolation: pod: each run has a pod in the namespace ${namespace} with the image ${chosen}, and no token but that of its claim`,
      ...limitsOf(template),
    ],
    execute: (claim) => new PodExecution(parts, runOfClaim(claim)).execute(),
    async [Symbol.asyncDispose]() {
      await earlier
      await opened.disposeAsync()
    },
  }
}

const runOfClaim = ({ id, run, workspace }: RunClaimView): PodRun => ({
  claimId: id,
  runId: run.id,
  workspace: `${workspace.organizationName}/${workspace.name}`,
})

function defaultConfig(): KubeConfig {
  const config = new KubeConfig()
  try {
    config.loadFromDefault()
  } catch (error) {
    throw new PodError(`the Kubernetes configuration cannot be read: ${(error as Error).message}`, error)
  }
  // The library then assumes a server without access control on this machine.
  if (config.getCurrentCluster()?.server === serverWithoutConfiguration)
    throw new PodError("no Kubernetes configuration was found; set KUBECONFIG, or run the agent in a pod")
  return config
}

const serverWithoutConfiguration = "http://localhost:8080"

async function readTemplate(file: string | undefined): Promise<PodTemplate> {
  if (file === undefined) return { spec: {} }
  const text = await readBounded(file)
  const parsed = parsePodTemplate(text)
  if ("template" in parsed) return parsed.template
  throw new PodError(`--pod-template ${file} has faults: ${parsed.faults.join("; ")}`)
}

async function readBounded(file: string): Promise<string> {
  try {
    // A file that is too large is not read. What is read is checked again.
    const { size } = await stat(file)
    if (size > maxTemplateBytes) throw new Error(`it is larger than ${maxTemplateBytes} bytes`)
    return await readFile(file, "utf8")
  } catch (error) {
    throw new PodError(`--pod-template ${file} cannot be read: ${(error as Error).message}`, error)
  }
}

const printedLog = (print: (text: string) => void): OperatorRuntime["log"] => {
  const line = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    print(`Kubernetes: ${event}: ${Object.values(fields).map(String).join(": ")}`)
  return { debug() {}, info() {}, warn: line, error: line }
}

/** A template that the cluster rejects would fail each run, so it fails the start. */
async function assertAccepted(api: ApiClient, template: PodTemplate, options: PodOptions): Promise<void> {
  const example = podOf(template, options, { claimId: "claim-check", runId: "run-check", workspace: "check" })
  try {
    await api.createStrictly(pods, example, { dryRun: true })
  } catch (error) {
    if (isQuota(error)) return
    const { namespace } = options
    throw new PodError(
      `the cluster does not accept pods in the namespace ${namespace}: ${(error as Error).message}`,
      error,
    )
  }
}

async function listPods(api: ApiClient, { namespace, agent }: PodOptions): Promise<readonly Pod[]> {
  try {
    const query = { labelSelector: podsOfAgent(agent), limit: pageSize }
    const { items } = await api.list(pods, namespace, query, AbortSignal.timeout(listTimeoutMs))
    return items.map((pod) => ({ ...pod, apiVersion: "v1", kind: "Pod" }))
  } catch (error) {
    throw new PodError(`the pods in the namespace ${namespace} cannot be listed: ${(error as Error).message}`, error)
  }
}

/** A quota rejects a pod until others end. */
const isQuota = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 403 && error.message.includes("exceeded quota")

/** Returns whether the cluster may accept the same pod later. Other errors are those of connections. */
const isTemporaryIn = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 429 || error.status >= 500 || isQuota(error)

/** Follows a pod of an earlier start until it ends. */
async function resume(parts: Parts, pod: Pod): Promise<void> {
  const run = runOf(pod)
  const label = `${run?.runId ?? "a pod"} of ${run?.workspace ?? "no workspace"}`
  try {
    if (run === undefined) return await removePod(parts, pod)
    parts.print(`${label}: ${await new PodExecution(parts, run).resume(pod)}`)
  } catch (error) {
    parts.print(`${label}: ${(error as Error).message}`)
  }
}

/** Deletes the pod and its Secret. Kubernetes deletes the Secret too, but later, and a token is not left longer than needed. */
async function removePod({ api, runtime, print }: Parts, pod: Pod, graceSeconds?: number): Promise<void> {
  const key = keyOf(pod)
  for (let attempt = 1; ; attempt += 1) {
    try {
      await api.delete(secrets, key).catch(ignoreOutdated)
      return await api.delete(pods, key, pod.metadata.uid, graceSeconds).catch(ignoreOutdated)
    } catch (error) {
      if (attempt === deleteAttempts) {
        print(`The pod ${key} is left, because the cluster does not delete it: ${(error as Error).message}`)
        return
      }
      await pause(createPauseMs, runtime, never)
    }
  }
}

const never = new AbortController().signal

function ignoreOutdated(error: unknown): void {
  if (!isOutdated(error)) throw error
}

class PodExecution {
  readonly #parts: Parts
  readonly #run: PodRun
  /** Time at which this agent first saw the pod, and first saw its present fault. */
  readonly #since: number
  #faultySince: number | undefined

  constructor(parts: Parts, run: PodRun) {
    this.#parts = parts
    this.#run = run
    this.#since = parts.runtime.stopwatch()
  }

  async execute(): Promise<Execution> {
    const { template, pod: options, print } = this.#parts
    try {
      const token = await this.#createToken()
      await using lease = this.#openLease()
      const wanted = podOf(template, options, this.#run)
      let pod: Pod | undefined
      // The pod is first, although it waits for its Secret: the Secret then has an owner from its creation. A crash between both leaves
      // a pod, which the next start finds by its label, and never a token without a pod. The agent needs no right to read Secrets.
      try {
        const created = await this.#untilAccepted(lease, () => this.#createPod(wanted))
        pod = created
        print(`${this.#run.runId}: created the pod ${keyOf(created)}`)
        await this.#untilAccepted(lease, () => this.#createSecret(created, token))
      } catch (error) {
        if (lease.stopped.aborted) return await this.#stop(pod, lease)
        return await this.#fail(pod ?? wanted, `cannot be created: ${(error as Error).message}`)
      }
      return await this.#follow(pod, lease)
    } catch (error) {
      return await this.#lostOr(error)
    }
  }

  /** Goes on with the pod of an earlier start. */
  async resume(pod: Pod): Promise<Execution> {
    // Without an end, as an agent waits for its server at the start.
    let claim = await this.#claim().catch(ignoreTemporary)
    while (claim === "unknown") claim = await this.#claim().catch(ignoreTemporary)
    // Another token made the claim, or it has ended. The agent in the pod stops by itself then.
    if (claim === undefined) return await this.#abandon(pod)
    try {
      await using lease = this.#openLease()
      // The earlier agent may have ended before it created the Secret.
      if (this.#progress(pod).kind === "waiting") {
        const token = await this.#createToken()
        await this.#untilAccepted(lease, () => this.#createSecret(pod, token)).catch(() => undefined)
      }
      return await this.#follow(pod, lease)
    } catch (error) {
      return await this.#lostOr(error)
    }
  }

  async #createToken(): Promise<string> {
    const { claims, leaseMs } = this.#parts
    return (await withRetries(() => claims.createToken(this.#run.claimId), leaseMs)).secret
  }

  #openLease(): RunLease {
    const { claims } = this.#parts
    return openRunLease(claims, { id: this.#run.claimId }, this.#pollMs())
  }

  /** Heartbeats leave room for two that fail. */
  #pollMs(): number {
    return this.#parts.leaseMs / 3
  }

  async #createPod(wanted: Pod): Promise<Pod> {
    const { api } = this.#parts
    try {
      return await api.createStrictly(pods, wanted)
    } catch (error) {
      // The answer to an earlier request was lost. The name contains a digest of the claim, so it is the same pod.
      if (error instanceof ApiError && error.status === 409) return await api.get(pods, keyOf(wanted))
      throw error
    }
  }

  async #createSecret(pod: Pod, token: string): Promise<void> {
    const { api, passed, files } = this.#parts
    try {
      await api.create(secrets, secretOf(pod, { token, passed, files }))
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error
    }
  }

  /** Repeats a request until the cluster accepts it, the run must stop, or the pod cannot start in time. */
  async #untilAccepted<T>(lease: RunLease, request: () => Promise<T>): Promise<T> {
    const { runtime, startTimeoutMs } = this.#parts
    for (;;) {
      try {
        return await request()
      } catch (error) {
        const isLate = runtime.stopwatch() - this.#since >= startTimeoutMs
        if (isLate || lease.stopped.aborted || !isTemporaryIn(error)) throw error
        await pause(createPauseMs, runtime, lease.stopped)
      }
    }
  }

  #progress(pod: Pod | undefined): PodProgress {
    const { runtime, startTimeoutMs } = this.#parts
    const now = runtime.stopwatch()
    const faultyMs = this.#faultySince === undefined ? 0 : now - this.#faultySince
    const progress = podProgress(pod, { waitedMs: now - this.#since, faultyMs, startTimeoutMs })
    this.#faultySince = progress.kind === "waiting" && progress.isFault ? (this.#faultySince ?? now) : undefined
    return progress
  }

  async #follow(pod: Pod, lease: RunLease): Promise<Execution> {
    const { followed, startTimeoutMs } = this.#parts
    const waitMs = Math.min(this.#pollMs(), faultToleranceMs(startTimeoutMs))
    let known = pod
    let progress = this.#progress(pod)
    while (progress.kind === "waiting") {
      if (lease.stopped.aborted) return await this.#stop(known, lease)
      const next = await followed.next(known, waitMs, lease.stopped)
      progress = this.#progress(next)
      known = next ?? known
    }
    // From here on the agent in the pod renews the lease. If this one did too, a lost pod would never lose its run.
    await lease[Symbol.asyncDispose]()
    return await this.#followStarted(known, progress)
  }

  async #followStarted(pod: Pod, started: PodProgress): Promise<Execution> {
    const { followed, runtime, leaseMs } = this.#parts
    let known = pod
    let progress = started
    let endedSince: number | undefined
    while (progress.kind === "running" || progress.kind === "waiting") {
      const next = await followed.next(known, this.#pollMs(), never)
      progress = this.#progress(next)
      known = next ?? known
      if (next === undefined || progress.kind !== "running") continue
      const claim = await this.#claim(0).catch(ignoreTemporary)
      if (claim === "unknown") continue
      const status = claim?.run.status
      if (status === "force_canceled") {
        await removePod(this.#parts, known, 0)
        return status
      }
      if (status !== undefined && !isFinal(status)) continue
      // The agent in the pod notices this too, and ends within its lease unless it hangs.
      endedSince ??= runtime.stopwatch()
      if (runtime.stopwatch() - endedSince < leaseMs) continue
      await removePod(this.#parts, known)
      return status ?? "lost"
    }
    return await this.#conclude(known, progress)
  }

  async #conclude(pod: Pod, progress: PodProgress): Promise<Execution> {
    const { print } = this.#parts
    if (progress.kind === "failed" && !progress.isRepeatable) return await this.#fail(pod, progress.reason)
    await removePod(this.#parts, pod)
    const status = (await this.#claim())?.run.status
    if (progress.kind === "failed") {
      // The server gives a plan to another agent when the lease ends, and ends an apply.
      print(`${this.#run.runId}: the pod ${keyOf(pod)} ${progress.reason}`)
      return status !== undefined && isFinal(status) ? status : "lost"
    }
    if (progress.kind === "ended" && progress.isLost) return status !== undefined && isFinal(status) ? status : "lost"
    // The agent in the pod releases a claim only if its plan waits for a confirmation.
    return status ?? "planned"
  }

  /** Ends a run whose pod has not started. */
  async #stop(pod: Pod | undefined, lease: RunLease): Promise<Execution> {
    if (pod !== undefined) await removePod(this.#parts, pod, lease.killed.aborted ? 0 : undefined)
    const claim = await this.#claim()
    if (claim === undefined) return "lost"
    if (lease.reason() !== "cancel") return isFinal(claim.run.status) ? claim.run.status : "lost"
    return await this.#report(claim, "canceled", "The run was canceled before its pod started.")
  }

  /** Ends a run whose pod failed. The log says why. */
  async #fail(pod: Pod, reason: string): Promise<Execution> {
    const { print } = this.#parts
    const message = pod.status?.containerStatuses?.find(({ name }) => name === agentContainer)?.state?.terminated
      ?.message
    print(`${this.#run.runId}: the pod ${keyOf(pod)} ${reason}${message === undefined ? "" : `\n${message.trimEnd()}`}`)
    await removePod(this.#parts, pod)
    const claim = await this.#claim()
    if (claim === undefined) return "lost"
    const { status } = claim.run
    // The plan is complete, and another pod can apply it.
    if (isFinal(status) || isConfirmable(status)) return status
    return await this.#report(claim, "errored", `The pod ${keyOf(pod)} ${reason}.`)
  }

  async #report(claim: RunClaimView, status: "canceled" | "errored", line: string): Promise<Execution> {
    const { claims, leaseMs, maxLogBytes } = this.#parts
    const { id } = claim
    const options = { claims, claimId: id, maxBytes: maxLogBytes, retryMs: leaseMs }
    await using log = openRunLog({ ...options, stage: stageOf(claim.run), mask: new SecretMask([]) })
    log.say(`\n${line}\n`)
    await log.end()
    const reported = await withRetries(() => claims.report(id, { status, hasChanges: null }), leaseMs)
    return reported.run.status
  }

  /** Follows a pod whose claim this agent cannot read. */
  async #abandon(pod: Pod): Promise<Execution> {
    let known: Pod | undefined = pod
    while (known !== undefined && this.#progress(known).kind === "running")
      known = await this.#parts.followed.next(known, this.#pollMs(), never)
    await removePod(this.#parts, known ?? pod)
    return "lost"
  }

  /** Returns undefined if this agent does not have the claim any more. */
  async #claim(retryMs = this.#parts.leaseMs): Promise<RunClaimView | undefined> {
    const { claims } = this.#parts
    try {
      return await withRetries(() => claims.get(this.#run.claimId), retryMs)
    } catch (error) {
      if (isLost(error)) return undefined
      throw error
    }
  }

  async #lostOr(error: unknown): Promise<Execution> {
    if (!isLost(error)) throw error
    const status = (await this.#claim())?.run.status
    return status !== undefined && isFinal(status) ? status : "lost"
  }
}

function ignoreTemporary(error: unknown): "unknown" {
  if (!isTemporary(error)) throw error
  return "unknown"
}
