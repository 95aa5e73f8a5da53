import type { Counter, Meter, UpDownCounter } from "@opentelemetry/api"
import { createCounter } from "../../core/metrics.ts"

export interface FeedMetrics {
  readonly followers: UpDownCounter
  readonly read: Counter
  readonly delivered: Counter
  readonly dropped: Counter
}

export function createFeedMetrics(meter: Meter): FeedMetrics {
  const followers = meter.createUpDownCounter("chancery_event_followers", {
    description: "Clients that follow the events of an organization now.",
  })
  followers.add(0)
  return {
    followers,
    read: createCounter(
      meter,
      "chancery_events_read_total",
      "Events read for followers, each once for its organization.",
      [{}],
    ),
    delivered: createCounter(
      meter,
      "chancery_events_delivered_total",
      "Events sent to followers whose filter matches and who may see them.",
      [{}],
    ),
    dropped: createCounter(
      meter,
      "chancery_event_followers_dropped_total",
      "Followers disconnected because they read too slowly.",
      [{}],
    ),
  }
}
