// A histogram of durations that the engine has counted by itself; its numbers are copied when they are asked for.
import { Histogram } from "prom-client"
import type { Durations } from "../core/durations.ts"
import { secondMs } from "../core/time.ts"

interface CountedHistogramOptions<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly Label[]
  readonly samples: () => readonly (readonly [labels: Record<Label, string>, durations: Durations])[]
}

export class CountedHistogram<Label extends string> extends Histogram<Label> {
  readonly #options: CountedHistogramOptions<Label>

  constructor(options: CountedHistogramOptions<Label>) {
    super({ name: options.name, help: options.help, labelNames: [...options.labelNames], registers: [] })
    this.#options = options
  }

  /** What its own `get` and registries ask for; the library's declarations leave it out. */
  async getForPromString(): Promise<object> {
    const { name, help, samples } = this.#options
    const values = samples().flatMap(([labels, { boundsMs, counts, sumMs }]) => {
      let total = 0
      const buckets = counts.map((count, index) => {
        total += count
        const bound = boundsMs[index]
        const le = bound === undefined ? "+Inf" : bound / secondMs
        return { metricName: `${name}_bucket`, sharedLabels: {}, labels: { ...labels, le }, value: total }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, sharedLabels: {}, labels: { ...labels }, value: sumMs / secondMs },
        { metricName: `${name}_count`, sharedLabels: {}, labels: { ...labels }, value: total },
      ]
    })
    return { name, help, type: "histogram", aggregator: "sum", values }
  }
}
