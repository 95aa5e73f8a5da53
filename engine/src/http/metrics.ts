import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client"

export interface Metrics {
  readonly registry: Registry
  begin(): void
  /** `route` is a pattern, never a path: every label value must come from a bounded set. */
  end(request: { method: string; route: string | undefined; status: number; durationMs: number }): void
  /** The text exposition format and its content type. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

export function createMetrics(): Metrics {
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
  // Looking a label set up costs more than the observation itself, so each is looked up once.
  const observers = new Map<string, Histogram.Internal<"method" | "route" | "status">>()

  return {
    registry,
    begin() {
      inFlight += 1
    },
    end({ method, route = "unmatched", status, durationMs }) {
      inFlight -= 1
      const key = `${method} ${status} ${route}`
      let observer = observers.get(key)
      if (observer === undefined) {
        observer = durations.labels(method, route, String(status))
        observers.set(key, observer)
      }
      observer.observe(durationMs / 1000)
    },
    async expose() {
      const merged = Registry.merge([registry, processMetrics()])
      return { contentType: merged.contentType, text: await merged.metrics() }
    },
  }
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
