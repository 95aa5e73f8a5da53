import type { Log } from "../core/runtime.ts"
import { recordedSpan, type Tracer } from "../core/tracing.ts"

/** Every line that is written inside a span names it, so that a trace is found from the log and the log from a trace. */
export function tracedLog(log: Log, tracer: Tracer): Log {
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (event, fields) => {
      const span = recordedSpan(tracer)
      if (span === undefined) return log[level](event, fields)
      log[level](event, { ...fields, traceId: span.traceId, spanId: span.spanId })
    }
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") }
}
