import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client"
import type { MetricFamily } from "../core/metric-family.ts"
import type { JobActivities } from "../core/job-activity.ts"
import type { ReadReplicasActivity, StorageActivity } from "../core/storage-activity.ts"
import type { TidyActivity } from "../core/tidy-activity.ts"
import type { FeedActivity } from "../events/events.ts"
import type { WebhookActivity } from "../events/webhook-activity.ts"

export interface Metrics {
  readonly registry: Registry
  begin(): void
  /** `route` is a pattern, never a path: every label value must come from a bounded set. */
  end(request: { method: string; route: string | undefined; status: number; durationMs: number }): void
  /** The text exposition format and its content type. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
  /** The same, not as text. */
  families(): Promise<readonly MetricFamily[]>
}

/** What there is to measure beside requests; each part counts for itself, and is read when someone asks. */
export interface Measured {
  readonly storage?: StorageActivity
  readonly jobs?: JobActivities
  readonly tidy?: TidyActivity
  readonly feed?: FeedActivity
  readonly webhooks?: WebhookActivity
}

export function createMetrics({ storage, jobs, tidy, feed, webhooks }: Measured = {}): Metrics {
  const registry = new Registry()
  const durations = new Histogram({
    name: "chancery_http_request_duration_seconds",
    help: "Time from a request's last header to its answer, by method, route pattern and status.",
    labelNames: ["method", "route", "status"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  let inFlight = 0
  registry.registerMetric(
    new Gauge({
      name: "chancery_http_requests_in_flight",
      help: "Requests being answered.",
      registers: [],
      collect() {
        this.set(inFlight)
      },
    }),
  )
  if (storage !== undefined) registerStorage(registry, storage)
  if (storage?.readReplicas !== undefined) registerReadReplicas(registry, storage.readReplicas)
  if (jobs !== undefined) registerJobs(registry, jobs)
  if (tidy !== undefined) registerTidy(registry, tidy)
  if (feed !== undefined) registerFeed(registry, feed)
  if (webhooks !== undefined) registerWebhooks(registry, webhooks)
  // Looking a label set up costs more than the observation itself, so each is looked up once.
  const observers = new Map<string, Map<number, Map<string, Histogram.Internal<"method" | "route" | "status">>>>()

  return {
    registry,
    begin() {
      inFlight += 1
    },
    end({ method, route = "unmatched", status, durationMs }) {
      inFlight -= 1
      let ofRoute = observers.get(route)
      if (ofRoute === undefined) observers.set(route, (ofRoute = new Map()))
      let ofStatus = ofRoute.get(status)
      if (ofStatus === undefined) ofRoute.set(status, (ofStatus = new Map()))
      let observer = ofStatus.get(method)
      if (observer === undefined) ofStatus.set(method, (observer = durations.labels(method, route, String(status))))
      observer.observe(durationMs / 1000)
    },
    async expose() {
      const merged = Registry.merge([registry, processMetrics()])
      return { contentType: merged.contentType, text: await merged.metrics() }
    },
    async families() {
      const metrics = await Registry.merge([registry, processMetrics()]).getMetricsAsJSON()
      return metrics.map(({ name, help, type, values }) => ({
        name,
        help,
        type: type as unknown as MetricFamily["type"],
        samples: values.map(
          (sample: { readonly metricName?: string; readonly value: number; readonly labels: object }) => ({
            name: sample.metricName ?? name,
            labels: sample.labels as MetricFamily["samples"][number]["labels"],
            value: sample.value,
          }),
        ),
      }))
    },
  }
}

/** Each of these is counted where it happens. */
const feedCounters = [
  ["chancery_events_read_total", "Events read for those who follow, each once for its organization.", "readCount"],
  ["chancery_events_delivered_total", "Events handed to those who wanted and may see them.", "deliveredCount"],
  ["chancery_event_followers_dropped_total", "Followers ended because they took too little.", "droppedCount"],
] as const

function registerFeed(registry: Registry, feed: FeedActivity): void {
  registry.registerMetric(
    new Gauge({
      name: "chancery_event_followers",
      help: "Those who follow events now.",
      registers: [],
      collect() {
        this.set(feed.followerCount)
      },
    }),
  )
  for (const [name, help, count] of feedCounters)
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset()
          this.inc(feed[count])
        },
      }),
    )
}

function registerWebhooks(registry: Registry, webhooks: WebhookActivity): void {
  registry.registerMetric(
    new Counter({
      name: "chancery_webhook_deliveries_total",
      help: "Attempts to deliver an event to a webhook, by outcome (delivered, failed).",
      labelNames: ["outcome"],
      registers: [],
      collect() {
        this.reset()
        this.inc({ outcome: "delivered" }, webhooks.deliveredCount)
        this.inc({ outcome: "failed" }, webhooks.failedCount)
      },
    }),
  )
  for (const [name, help, count] of webhookCounters)
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset()
          this.inc(webhooks[count])
        },
      }),
    )
}

const webhookCounters = [
  ["chancery_webhook_dead_letters_total", "Events given up after the last attempt to deliver them.", "deadCount"],
  [
    "chancery_webhooks_disabled_total",
    "Webhooks disabled because too many events in a row were given up.",
    "disabledCount",
  ],
] as const

const storageKinds = ["read", "write"] as const

/** The store counts for itself; its numbers are copied when they are asked for. */
function registerStorage(registry: Registry, storage: StorageActivity): void {
  registry.registerMetric(
    new Counter({
      name: "chancery_storage_transactions_total",
      help: "Units of work, by kind (read, write) and outcome (done, refused by a rule, busy, failed).",
      labelNames: ["kind", "outcome"],
      registers: [],
      collect() {
        this.reset()
        for (const kind of storageKinds) {
          for (const [outcome, count] of Object.entries(storage[kind].settled)) this.inc({ kind, outcome }, count)
        }
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: "chancery_storage_wait_seconds_total",
      help: "Time that units of work waited for the writer, a reader or a connection, by kind.",
      labelNames: ["kind"],
      registers: [],
      collect() {
        this.reset()
        for (const kind of storageKinds) this.inc({ kind }, storage[kind].waitedMs / 1000)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_storage_waiting",
      help: "Units of work that wait for the writer, a reader or a connection now, by kind.",
      labelNames: ["kind"],
      registers: [],
      collect() {
        for (const kind of storageKinds) this.set({ kind }, storage[kind].waitingCount)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: "chancery_storage_commits_total",
      help: "Durable commits; writes done divided by it is how many share one.",
      registers: [],
      collect() {
        this.reset()
        this.inc(storage.commitCount)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: "chancery_storage_retries_total",
      help: "Attempts beyond the first that contention made necessary.",
      registers: [],
      collect() {
        this.reset()
        this.inc(storage.retryCount)
      },
    }),
  )
}

function registerReadReplicas(registry: Registry, { reads, replicas }: ReadReplicasActivity): void {
  registry.registerMetric(
    new Counter({
      name: "chancery_storage_read_replica_reads_total",
      help: "Reads that a read replica may answer, by who did (replica, primary).",
      labelNames: ["target"],
      registers: [],
      collect() {
        this.reset()
        for (const [target, count] of Object.entries(reads)) this.inc({ target }, count)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_storage_read_replica_up",
      help: "1 while reads are sent to the read replica.",
      labelNames: ["replica"],
      registers: [],
      collect() {
        for (const { name, isUp } of replicas) this.set({ replica: name }, isUp ? 1 : 0)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_storage_read_replica_lag_seconds",
      help: "How long ago the primary was where the read replica is now; absent while that is not known.",
      labelNames: ["replica"],
      registers: [],
      collect() {
        this.reset()
        for (const { name, lagMs } of replicas) if (lagMs !== undefined) this.set({ replica: name }, lagMs / 1000)
      },
    }),
  )
}

function registerJobs(registry: Registry, jobs: JobActivities): void {
  registry.registerMetric(
    new Counter({
      name: "chancery_job_runs_total",
      help: "Runs of background jobs by this server, by job and outcome (done, failed).",
      labelNames: ["job", "outcome"],
      registers: [],
      collect() {
        this.reset()
        for (const [job, { runCount, failureCount }] of jobs) {
          this.inc({ job, outcome: "done" }, runCount - failureCount)
          this.inc({ job, outcome: "failed" }, failureCount)
        }
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: "chancery_job_duration_seconds_total",
      help: "Time that this server has spent on background jobs, by job.",
      labelNames: ["job"],
      registers: [],
      collect() {
        this.reset()
        for (const [job, { durationMs }] of jobs) this.inc({ job }, durationMs / 1000)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_job_last_success_timestamp_seconds",
      help: "When this server last brought a background job to a good end, by job; absent before the first time.",
      labelNames: ["job"],
      registers: [],
      collect() {
        for (const [job, { lastSuccessAt }] of jobs)
          if (lastSuccessAt !== undefined) this.set({ job }, lastSuccessAt / 1000)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_job_running",
      help: "1 while this server runs the background job.",
      labelNames: ["job"],
      registers: [],
      collect() {
        for (const [job, { running }] of jobs) this.set({ job }, running ? 1 : 0)
      },
    }),
  )
}

function registerTidy(registry: Registry, { runs, removed }: TidyActivity): void {
  registry.registerMetric(
    new Counter({
      name: "chancery_tidy_runs_total",
      help: "Tidy runs that this server brought to their end, by outcome (finished, cancelled, error).",
      labelNames: ["outcome"],
      registers: [],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(runs)) this.inc({ outcome }, count)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: "chancery_tidy_removed_total",
      help: "What this server has taken away because it had expired, by kind.",
      labelNames: ["kind"],
      registers: [],
      collect() {
        this.reset()
        for (const [kind, count] of Object.entries(removed)) this.inc({ kind }, count)
      },
    }),
  )
}

let shared: Registry | undefined

// The collectors of the process hold observers that cannot be taken back, so a process has one set for all its servers.
function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry()
    collectDefaultMetrics({ register: shared })
  }
  return shared
}
