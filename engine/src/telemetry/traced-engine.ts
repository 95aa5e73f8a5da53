// The verbs of an engine as spans: `workspaces.lock`, `pki.certificates.issue`. A proxy, so that no verb has to be named here
// and none can be forgotten.
import { during, recordedSpan, type SpanAttributes, type Tracer } from "../core/tracing.ts"
import type { ServingEngine } from "../engine.ts"

/** Made for a path; what they are asked for are families of verbs again. */
const perMount: ReadonlySet<string> = new Set(["pki", "acme", "acmeDirectory", "appRoles"])
const noFamilies: ReadonlySet<string> = new Set(["caller"])

export const tracedEngine = (engine: ServingEngine, tracer: Tracer): ServingEngine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof name === "symbol") return bound(value, target)
      if (perMount.has(name) && typeof value === "function")
        return (mount: string, ...rest: readonly unknown[]) =>
          tracedFamily(
            Reflect.apply(value, target, [mount, ...rest]),
            { name, attributes: { "chancery.mount": mount }, nests: true },
            tracer,
          )
      if (typeof value === "object" && value !== null && !noFamilies.has(name))
        return tracedFamily(value, { name, attributes: {}, nests: false }, tracer)
      return bound(value, target)
    },
  })

const bound = (value: unknown, target: object): unknown =>
  typeof value === "function" ? (...given: readonly unknown[]) => Reflect.apply(value, target, given) : value

interface Family {
  readonly name: string
  readonly attributes: SpanAttributes
  /** Some of its members are families again. */
  readonly nests: boolean
}

const tracedFamily = (target: object, { name: own, attributes, nests }: Family, tracer: Tracer): object =>
  new Proxy(target, {
    get(_, member) {
      const value: unknown = Reflect.get(target, member, target)
      if (typeof member === "symbol") return bound(value, target)
      const name = `${own}.${member}`
      if (typeof value === "function") return verb(value, target, name, attributes, tracer)
      if (nests && typeof value === "object" && value !== null)
        return tracedFamily(value, { name, attributes, nests: false }, tracer)
      return value
    },
  })

type Verb = (...given: readonly unknown[]) => unknown

// The target and not the proxy is `this`: private members are the target's alone.
const verb =
  (work: object, target: object, name: string, attributes: SpanAttributes, tracer: Tracer): Verb =>
  (...given) => {
    const parent = recordedSpan(tracer)
    const run = () => Reflect.apply(work as Verb, target, given)
    if (parent === undefined) return run()
    const span = parent.child(name, { attributes })
    let answer: unknown
    try {
      answer = tracer.within(span, run)
    } catch (error) {
      span.fail(error)
      span.end()
      throw error
    }
    if (answer instanceof Promise) return during(tracer, span, () => answer as Promise<unknown>)
    span.end()
    return answer
  }
