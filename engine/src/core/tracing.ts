// The port of traces. A trace is the tree of spans of one request or of one piece of background work. Without a collector there is no
// tracer, so callers check for one first.
import { type EngineErrorCode, isEngineError } from "./errors.ts"

/** An `undefined` value leaves the name out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanOptions {
  /** Default: `internal`. */
  readonly kind?: "server" | "client" | "internal"
  /** Operators can read attributes: they must not contain secrets, values of statements or queries. */
  readonly attributes?: SpanAttributes
  /** Related spans other than the parent. */
  readonly links?: readonly Span[]
}

export interface Span {
  /** False if the span is not sampled, or its trace already has too many spans. */
  readonly isRecorded: boolean
  /** In hex. Set even if the span is not recorded. */
  readonly traceId: string
  readonly spanId: string
  /** Headers that make the next server join the trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>
  child(name: string, options?: SpanOptions): Span
  set(attributes: SpanAttributes): void
  rename(name: string): void
  link(span: Span): void
  /** Marks the span as failed. Only the kind of the error is recorded. A rejection by a rule is a result and not a failure. */
  fail(error: unknown): void
  /** Ends the span. It is not the parent of later spans. Further calls do nothing. */
  end(): void
}

/** Headers of a request that may name a span of another process. */
export interface TraceHeaders {
  get(name: string): string | null
}

export interface Tracer {
  /** Begins a trace, or continues the one that the headers name. */
  root(name: string, options?: SpanOptions & { readonly headers?: TraceHeaders }): Span
  /** Returns the innermost span of the current context that has not ended. */
  current(): Span | undefined
  /** Runs `work` and all that it begins with this span as the current one, or with none if it is `undefined`. */
  within<T>(span: Span | undefined, work: () => T): T
}

/** Returns the current span if it is recorded. */
export function recordedSpan(tracer: Tracer | undefined): Span | undefined {
  const span = tracer?.current()
  return span?.isRecorded === true ? span : undefined
}

/** Runs `work` within the span and ends the span after it. */
export async function during<T>(tracer: Tracer, span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await tracer.within(span, work)
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

/** Runs background work that no request waits for, in a trace of its own. The trace links to the span that began it. */
export function apart<T>(tracer: Tracer | undefined, name: string, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work()
  const cause = recordedSpan(tracer)
  return during(tracer, tracer.root(name, { links: cause === undefined ? [] : [cause] }), work)
}

/** Runs work outside all traces, even if it began in one. For polling, for example. */
export const untraced = <T>(tracer: Tracer | undefined, work: () => T): T =>
  tracer === undefined ? work() : tracer.within(undefined, work)

const failureCodes: ReadonlySet<EngineErrorCode> = new Set(["busy", "out-of-service", "unavailable", "internal"])

/** Returns the kind of an error, an error code or the name of its class. `isFailure` is false for rejections by a rule. */
export function kindOfError(error: unknown): { readonly type: string; readonly isFailure: boolean } {
  if (isEngineError(error)) return { type: error.code, isFailure: failureCodes.has(error.code) }
  return { type: error instanceof Error ? error.name : typeof error, isFailure: true }
}
