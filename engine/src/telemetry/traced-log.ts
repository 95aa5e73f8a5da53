import type { Log } from "../core/runtime.ts"
import { recordedSpan, type Tracer } from "../core/tracing.ts"

/** Adds the ids of the current trace and span to every log line, so that traces and log lines can be correlated. */
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
