// Spans of the methods of an engine, such as `workspaces.lock` and `pki.certificates.issue`. The engine is wrapped in a proxy, so that no
// method has to be listed here and none can be forgotten.
import { during, recordedSpan, type SpanAttributes, type Tracer } from "../core/tracing.ts"
import type { ServingEngine } from "../engine.ts"

/** Functions that take a path and return services. */
const perMount: ReadonlySet<string> = new Set(["pki", "acme", "acmeDirectory", "appRoles", "userpass"])
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
  typeof value === "function" ? (...args: readonly unknown[]) => Reflect.apply(value, target, args) : value

interface Family {
  readonly name: string
  readonly attributes: SpanAttributes
  /** True if some members are services themselves. */
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

type Verb = (...args: readonly unknown[]) => unknown

// `this` is the target and not the proxy, which has no private members.
const verb =
  (work: object, target: object, name: string, attributes: SpanAttributes, tracer: Tracer): Verb =>
  (...args) => {
    const parent = recordedSpan(tracer)
    const run = () => Reflect.apply(work as Verb, target, args)
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
