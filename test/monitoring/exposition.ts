// Metrics that a server and an operator expose to Prometheus after some activity.
import { systemTimers, type Timers } from "../../engine/src/core/timers.ts"
import { createAcmeMetrics, recordOrder, recordValidation } from "../../engine/src/acme/acme-metrics.ts"
import { startServer } from "../../engine/src/server/server.ts"
import { createReplicaMetrics } from "../../engine/src/storage/sql/storage-metrics.ts"
import { createMetrics as createServerMetrics } from "../../engine/src/telemetry/metrics.ts"
import { pendingEnrolment } from "../../engine/testing/pending-enrolment.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { certificateFigures } from "../../operator/src/controllers/certificate/certificate-metrics.ts"
import { createMetrics } from "../../operator/src/metrics.ts"
import { workspaceFigures } from "../../operator/src/controllers/workspace/workspace-metrics.ts"

/** Observed values of each label, by metric. */
export type Exposed = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

export function parseExposition(text: string): Exposed {
  const metrics = new Map<string, Map<string, Set<string>>>()
  for (const line of text.split("\n")) {
    const [, name, labels = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const known = metrics.get(name) ?? new Map<string, Set<string>>()
    metrics.set(name, known)
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value))
  }
  return metrics
}

/** Shortens the intervals of jobs; their timeouts stay unchanged. */
const fastTimers: Timers = {
  after: (delayMs, work) => systemTimers.after(delayMs >= 4_000 && delayMs <= 30_000 ? 100 : delayMs, work),
}

/** One attempt every half second: a busy machine can stall for a while. */
const maxAsked = 240

/** Returns the metrics of a server on a database with a CA and a certificate. It polls until delayed metrics are present. */
export async function serverExposition(folder: string, isComplete: (text: string) => boolean): Promise<string> {
  const url = `sqlite:${folder}/chancery.db`
  // Before the jobs start, because jobs refresh their counts only every few minutes.
  await usedAuthority(url)
  await using testEngine = await openTestEngine({ url, metrics: createServerMetrics(), jobs: true, timers: fastTimers })
  const { status } = await testEngine.pki("GET", "/pki/crl/rotate")
  if (status !== 200) throw new Error(`the rotation of the revocation list was answered with ${status}`)
  const server = await startServer({ engine: testEngine.engine })
  try {
    // Counted by their route, whether or not they are authorized.
    for (const [method, path] of requests) await fetch(`${server.url}/api/v2${path}`, { method })
    for (let attempt = 0; attempt < maxAsked; attempt += 1) {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      if (isComplete(text)) return text
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    throw new Error("the server has not told all that it should")
  } finally {
    await server.close()
  }
}

async function usedAuthority(url: string): Promise<void> {
  await using testEngine = await openTestEngine({ url, jobs: false })
  await testEngine.engine.mounts.create({ path: "pki" })
  for (const [path, body] of [
    ["root/generate/internal", { common_name: "Root", ttl: "720h", issuer_name: "root" }],
    ["roles/web", { allow_any_name: true, ttl: "72h" }],
    ["issue/web", { common_name: "web.example.com" }],
  ] as const) {
    const { status } = await testEngine.pki("POST", `/pki/${path}`, { body })
    if (status >= 300) throw new Error(`${path} was answered with ${status}`)
  }
  await pendingEnrolment(testEngine.engine, "pki")
  const { status } = await testEngine.pki("GET", "/pki/crl", { token: null })
  if (status !== 200) throw new Error(`the revocation list was answered with ${status}`)
}

const requests = [
  ["GET", "/organizations/acme/workspaces"],
  ["POST", "/workspaces/ws-1/actions/lock"],
  ["GET", "/workspaces/ws-1/state-versions"],
] as const

/** Returns metrics of a server with a standby of PostgreSQL and with ACME clients, because histograms appear with their first value. */
export async function busyExposition(): Promise<string> {
  const metrics = createServerMetrics()
  createReplicaMetrics(metrics.meter, [{ name: "db-2/app", isUp: true, lagMs: 5 }])
  recordValidation(createAcmeMetrics(metrics.meter), "http-01", "valid", 20)
  recordOrder(createAcmeMetrics(metrics.meter), "valid", 500)
  return (await metrics.expose()).text
}

export async function operatorExposition(): Promise<string> {
  const metrics = createMetrics({ name: "chancery/chancery-operator", leading: () => true })
  metrics.request({ code: "200", method: "GET" })
  const controller = metrics.controller("workspace", { maxWorkers: 4, depth: () => 1, runningMs: () => [10] })
  controller.queue.added()
  controller.queue.taken(5)
  controller.queue.retried()
  for (const result of ["success", "requeue_after", "error"] as const) controller.ended(result, 20)
  controller.stalled()
  controller.panicked()
  controller.timedOut()
  controller.wroteStatus()
  for (const { name, help } of [...certificateFigures, ...workspaceFigures])
    metrics.figure(name, help, () => [{ namespace: "team", name: "web", value: 1 }])
  return (await metrics.expose()).text
}
