import type { AsyncLocalStorage } from "node:async_hooks"
import {
  type Context,
  createTraceState,
  type Span as ApiSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Tracer as ApiTracer,
} from "@opentelemetry/api"
import {
  kindOfError,
  type Span,
  type SpanAttributes,
  type SpanOptions,
  type TraceHeaders,
  type Tracer,
} from "../core/tracing.ts"

/** Maximum number of spans of this process in one trace. One request may act on thousands of records. */
const maxSpans = 1_000

export class OtlpTracer implements Tracer {
  readonly #tracer: ApiTracer
  readonly #current: AsyncLocalStorage<Span | undefined>

  constructor(tracer: ApiTracer, current: AsyncLocalStorage<Span | undefined>) {
    this.#tracer = tracer
    this.#current = current
  }

  root(name: string, { headers, ...options }: SpanOptions & { readonly headers?: TraceHeaders } = {}): Span {
    const remote = headers && remoteSpan(headers)
    const context = remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote)
    return started(this.#tracer, name, options, context, { count: 0, leftOutCount: 0 })
  }

  current(): Span | undefined {
    const span = this.#current.getStore()
    // Work that a request started and that outlasts it, such as a timer, is no part of its trace.
    return span instanceof RecordedSpan && span.hasEnded ? undefined : span
  }

  within<T>(span: Span | undefined, work: () => T): T {
    return this.#current.run(span, work)
  }
}

interface TraceSize {
  count: number
  leftOutCount: number
}

function started(tracer: ApiTracer, name: string, options: SpanOptions, parent: Context, size: TraceSize): Span {
  const { kind = "internal", attributes = {}, links = [] } = options
  const span = tracer.startSpan(
    name,
    { kind: kinds[kind], attributes: { ...attributes }, links: links.filter(isRecorded).map(linkTo) },
    parent,
  )
  size.count += 1
  return span.isRecording()
    ? new RecordedSpan(tracer, span, trace.setSpan(parent, span), size)
    : new UnrecordedSpan(span.spanContext())
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

const isRecorded = (span: Span): boolean => span.isRecorded

const linkTo = ({ traceId, spanId }: Span) => ({ context: { traceId, spanId, traceFlags: TraceFlags.SAMPLED } })

class RecordedSpan implements Span {
  readonly isRecorded = true
  hasEnded = false
  readonly #tracer: ApiTracer
  readonly #span: ApiSpan
  readonly #context: Context
  readonly #size: TraceSize
  readonly #isRoot: boolean

  constructor(tracer: ApiTracer, span: ApiSpan, context: Context, size: TraceSize) {
    this.#tracer = tracer
    this.#span = span
    this.#context = context
    this.#size = size
    this.#isRoot = size.count === 1
  }

  get traceId(): string {
    return this.#span.spanContext().traceId
  }

  get spanId(): string {
    return this.#span.spanContext().spanId
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#span.spanContext())
  }

  child(name: string, options: SpanOptions = {}): Span {
    if (this.#size.count >= maxSpans) {
      this.#size.leftOutCount += 1
      return new UnrecordedSpan(this.#span.spanContext())
    }
    return started(this.#tracer, name, options, this.#context, this.#size)
  }

  set(attributes: SpanAttributes): void {
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined) this.#span.setAttribute(name, value)
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  link(span: Span): void {
    if (span.isRecorded) this.#span.addLink(linkTo(span))
  }

  fail(error: unknown): void {
    const { type, isFailure } = kindOfError(error)
    this.#span.setAttribute("error.type", type)
    // The message is left out, because it may repeat input of the client. The log has it, with the trace id.
    if (isFailure) this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  end(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    const { leftOutCount } = this.#size
    if (this.#isRoot && leftOutCount > 0) this.#span.setAttribute("chancery.spans_left_out", leftOutCount)
    this.#span.end()
  }
}

/** Span that is not recorded. Its headers are propagated nevertheless, so that other services learn the sampling decision. */
class UnrecordedSpan implements Span {
  readonly isRecorded = false
  readonly #context: SpanContext

  constructor(context: SpanContext) {
    this.#context = context
  }

  get traceId(): string {
    return this.#context.traceId
  }

  get spanId(): string {
    return this.#context.spanId
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#context)
  }

  child(): Span {
    return this
  }

  set(): void {}
  rename(): void {}
  link(): void {}
  fail(): void {}
  end(): void {}
}

/** Returns the headers of W3C Trace Context, version 00. */
const headersOf = ({ traceId, spanId, traceFlags, traceState }: SpanContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0")}`,
  ...(traceState === undefined ? {} : { tracestate: traceState.serialize() }),
})

/** Later versions may have more fields; `ff` is no version (W3C Trace Context, section 3.2). */
const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

function remoteSpan(headers: TraceHeaders): SpanContext | undefined {
  const text = headers.get("traceparent")?.trim() ?? ""
  const [, traceId, spanId, flags, more] = pattern.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (more !== undefined && text.startsWith("00")) return undefined
  const vendors = headers.get("tracestate")
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(vendors === null || vendors === "" ? {} : { traceState: createTraceState(vendors) }),
  }
}
