/** One metric with all its series at a moment, in the terms of the Prometheus exposition formats. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram" | "summary"
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  /** That of the family, or for a histogram with `_bucket`, `_sum` or `_count` behind it. */
  readonly name: string
  /** Of a bucket, also `le`: its upper bound, inclusive, with what is counted in those below. */
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  readonly value: number
}
