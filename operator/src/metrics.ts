// Metrics of the operator, with the names of controller-runtime and client-go, so that existing dashboards work.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client"
import type { WorkQueueObserver } from "./controllers/work-queue.ts"

export type ReconcileOutcomeLabel = "success" | "requeue_after" | "error"

export interface ControllerMetrics {
  readonly queue: WorkQueueObserver
  ended(result: ReconcileOutcomeLabel, durationMs: number): void
  wroteStatus(): void
  /** Counts a reconciliation that ended as stalled: it needs a change by a user. */
  stalled(): void
  /** Counts a reconciliation that failed by a defect of the operator. */
  panicked(): void
  /** Counts a reconciliation that failed by a timeout. */
  timedOut(): void
}

/** Values that are read at each scrape. */
export interface ControllerFigures {
  readonly maxWorkers: number
  depth(): number
  /** Milliseconds that each running reconciliation has taken so far. */
  runningMs(): readonly number[]
}

export interface ObjectFigure {
  readonly namespace: string
  readonly name: string
  readonly value: number
}

export interface OperatorMetrics {
  request(request: { readonly code: string; readonly method: string }): void
  controller(name: string, figures: ControllerFigures): ControllerMetrics
  /** Adds a gauge with one value per object. It is read at each scrape, and only on the leader. */
  figure(name: string, help: string, read: () => Iterable<ObjectFigure>): void
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createMetrics(election: { readonly name: string; leading(): boolean }): OperatorMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Histogram({ name, help, labelNames, buckets: durationBuckets, registers })

  const requests = counter("rest_client_requests_total", "Requests to the Kubernetes API, by status code and method.", [
    "code",
    "method",
  ])
  const adds = counter("workqueue_adds_total", "Keys added to the queue.", ["name"])
  const retries = counter("workqueue_retries_total", "Keys added to the queue again after a failed reconciliation.", [
    "name",
  ])
  const waits = histogram("workqueue_queue_duration_seconds", "Seconds that keys wait in the queue.", ["name"])
  const works = histogram("workqueue_work_duration_seconds", "Seconds that the processing of a key takes.", ["name"])
  const results = counter("controller_runtime_reconcile_total", "Reconciliations, by result.", ["controller", "result"])
  const errors = counter("controller_runtime_reconcile_errors_total", "Reconciliations that failed with an error.", [
    "controller",
  ])
  const terminal = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Reconciliations that ended as stalled, because the object needs a change by a user.",
    ["controller"],
  )
  const panics = counter(
    "controller_runtime_reconcile_panics_total",
    "Reconciliations that failed by a defect of the operator.",
    ["controller"],
  )
  const timeouts = counter(
    "controller_runtime_reconcile_timeouts_total",
    "Reconciliations that failed because the Kubernetes API did not answer in time.",
    ["controller"],
  )
  const times = histogram("controller_runtime_reconcile_time_seconds", "Seconds that reconciliations take.", [
    "controller",
  ])
  const writes = counter("chancery_operator_status_writes_total", "Writes of the status of objects.", ["controller"])

  const read = new Map<string, ControllerFigures>()
  const reading = (name: string, help: string, label: string, figure: (figures: ControllerFigures) => number) => {
    const collector = new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        for (const [controller, figures] of read) collector.set({ [label]: controller }, figure(figures))
      },
    })
  }
  const sum = (items: readonly number[]) => items.reduce((total, item) => total + item, 0)
  reading("workqueue_depth", "Keys waiting in the queue.", "name", (figures) => figures.depth())
  reading(
    "workqueue_unfinished_work_seconds",
    "Seconds that all running reconciliations have taken so far, in total.",
    "name",
    (figures) => sum(figures.runningMs()) / 1_000,
  )
  reading(
    "workqueue_longest_running_processor_seconds",
    "Seconds that the longest running reconciliation has taken so far.",
    "name",
    (figures) => Math.max(0, ...figures.runningMs()) / 1_000,
  )
  reading(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciliations.",
    "controller",
    (figures) => figures.maxWorkers,
  )
  reading(
    "controller_runtime_active_workers",
    "Running reconciliations.",
    "controller",
    (figures) => figures.runningMs().length,
  )
  const leading = gauge("leader_election_master_status", "1 if this replica is the leader, otherwise 0.", ["name"])

  return {
    request: (request) => requests.inc(request),
    controller(name, figures) {
      read.set(name, figures)
      return {
        queue: {
          added: () => adds.inc({ name }),
          taken: (waitedMs) => waits.observe({ name }, waitedMs / 1_000),
          retried: () => retries.inc({ name }),
        },
        ended(result, durationMs) {
          works.observe({ name }, durationMs / 1_000)
          times.observe({ controller: name }, durationMs / 1_000)
          results.inc({ controller: name, result })
          if (result === "error") errors.inc({ controller: name })
        },
        stalled: () => terminal.inc({ controller: name }),
        panicked: () => panics.inc({ controller: name }),
        timedOut: () => timeouts.inc({ controller: name }),
        wroteStatus: () => writes.inc({ controller: name }),
      }
    },
    figure(name, help, read) {
      const collector: Gauge = new Gauge({
        name,
        help,
        labelNames: ["namespace", "name"],
        registers,
        collect() {
          collector.reset()
          for (const { value, ...labels } of election.leading() ? read() : []) collector.set(labels, value)
        },
      })
    },
    async expose() {
      leading.set({ name: election.name }, election.leading() ? 1 : 0)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
