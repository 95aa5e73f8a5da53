// An embedded engine that acts for the owner of a token. Who that is, and what they may do, is asked again at every call, as a
// server does at every request: a revoked token ends at once.
import type { Caller } from "./core/caller.ts"
import type { Engine, ServedEngine } from "./engine.ts"

type Method = (...args: readonly unknown[]) => Promise<unknown>
type Family = Record<string, Method>

/** Closing it closes the engine underneath. */
export function actingFor(served: ServedEngine, token: string): Engine {
  const call = async (family: string, method: string, args: readonly unknown[]): Promise<unknown> => {
    const caller: Caller = await served.authenticate(token)
    const subject = (served.as(caller) as unknown as Record<string, Family>)[family]
    return subject?.[method]?.(...args)
  }
  return new Proxy(served, {
    get(target, family) {
      const value: unknown = Reflect.get(target, family, target)
      if (typeof value === "function") return value.bind(target)
      if (typeof family === "symbol" || typeof value !== "object" || value === null) return value
      return new Proxy(value, {
        get: (methods, method) =>
          typeof method === "string" && typeof Reflect.get(methods, method, methods) === "function"
            ? (...args: readonly unknown[]) => call(family, method, args)
            : undefined,
      })
    },
  })
}
