// What one request, or one piece of work without a request, consists of: a tree of spans. A port; nothing here knows who keeps
// them. Where nobody does there is no tracer, and whoever tells of what it does asks that first.
import { type EngineErrorCode, isEngineError } from "./errors.ts"

/** `undefined` leaves a name out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanOptions {
  /** `internal` when left out. */
  readonly kind?: "server" | "client" | "internal"
  /** Nothing that must not be read by whoever looks after the server: no secret, no value of a statement, no query. */
  readonly attributes?: SpanAttributes
  /** What it has to do with beside its parent. */
  readonly links?: readonly Span[]
}

export interface Span {
  /** False where nothing is kept of it: it was not chosen, or its trace has too many already. */
  readonly isRecorded: boolean
  /** Hex; of a span that is not recorded too. */
  readonly traceId: string
  readonly spanId: string
  /** What tells the next server that it takes part in the same trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>
  child(name: string, options?: SpanOptions): Span
  set(attributes: SpanAttributes): void
  rename(name: string): void
  link(span: Span): void
  /** It came to nothing: only what kind of error it was is kept. A refusal by a rule is an outcome and no failure. */
  fail(error: unknown): void
  /** From then on it is nobody's parent any more. Again does nothing. */
  end(): void
}

/** Headers of a request that may name a span of another process. */
export interface TraceHeaders {
  get(name: string): string | null
}

export interface Tracer {
  /** Begins a trace, or goes on with the one that the headers name. */
  root(name: string, options?: SpanOptions & { readonly headers?: TraceHeaders }): Span
  /** The innermost span around whoever asks that has not ended. */
  current(): Span | undefined
  /** The span is the current one for the work and for everything that it begins; `undefined`: none is. */
  within<T>(span: Span | undefined, work: () => T): T
}

/** The current span, if it is one to tell of. */
export function recordedSpan(tracer: Tracer | undefined): Span | undefined {
  const span = tracer?.current()
  return span?.isRecorded === true ? span : undefined
}

/** Ends the span with the work. */
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

/** Work that nobody's request waits for: a trace of its own, which names what it was begun by. */
export function apart<T>(tracer: Tracer | undefined, name: string, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work()
  const cause = recordedSpan(tracer)
  return during(tracer, tracer.root(name, { links: cause === undefined ? [] : [cause] }), work)
}

/** Work that belongs to no trace, whoever happens to begin it: looking whether there is something to do. */
export const untraced = <T>(tracer: Tracer | undefined, work: () => T): T =>
  tracer === undefined ? work() : tracer.within(undefined, work)

const failureCodes: ReadonlySet<EngineErrorCode> = new Set(["busy", "out-of-service", "unavailable", "internal"])

/** The kind of an error, a word of a closed set or the name of its class, and whether something is wrong. */
export function kindOfError(error: unknown): { readonly type: string; readonly isFailure: boolean } {
  if (isEngineError(error)) return { type: error.code, isFailure: failureCodes.has(error.code) }
  return { type: error instanceof Error ? error.name : typeof error, isFailure: true }
}
