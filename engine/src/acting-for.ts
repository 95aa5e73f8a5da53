// An embedded engine that acts for the owner of a token. Who that is, and what they may do, is asked again at every call, as a
// server does at every request: a revoked token ends at once.
import type { Engine, ServedEngine, ServingEngine } from "./engine.ts"

type Method = (...args: readonly unknown[]) => Promise<unknown>
type Family = Record<string, Method>
type Families = Readonly<Record<string, Family | undefined>>
/** What is asked for by a path. One that is left out below does not compile: it would act for the engine underneath. */
type ByPath = {
  [Name in keyof Engine]: Engine[Name] extends (path: string) => PromiseLike<unknown>
    ? never
    : Engine[Name] extends (path: string) => object
      ? Name
      : never
}[keyof Engine]

/** Closing it closes the engine underneath. */
export function actingFor(served: ServedEngine, token: string): Engine {
  const forCaller = async () => served.as(await served.authenticate(token))
  const byPath: Readonly<Record<ByPath, (path: string) => unknown>> = {
    pki: (mountPath) =>
      proxied(served.pki(mountPath), async () => (await forCaller()).pki(mountPath) as unknown as Families),
    acme: (mountPath) =>
      proxied(served.acme(mountPath), async () => (await forCaller()).acme(mountPath) as unknown as Families),
    appRoles: (methodPath) =>
      proxied(served.appRoles(methodPath), async () => (await forCaller()).appRoles(methodPath) as unknown as Families),
    // A family of its own, and no holder of several.
    kubernetesLogins: (methodPath) =>
      proxied({ logins: served.kubernetesLogins(methodPath) }, async () => ({
        logins: (await forCaller()).kubernetesLogins(methodPath) as unknown as Family,
      })).logins,
  }
  return new Proxy(
    proxied<ServingEngine>(served, async () => (await forCaller()) as unknown as Families),
    {
      get: (target, name) => (Object.hasOwn(byPath, name) ? byPath[name as ByPath] : Reflect.get(target, name, target)),
    },
  )
}

/** The families of `holder`, whose methods are called on those that `current` has at that moment. */
function proxied<T extends object>(holder: T, current: () => Promise<Families>): T {
  return new Proxy(holder, {
    get(target, family) {
      const value: unknown = Reflect.get(target, family, target)
      if (typeof value === "function") return value.bind(target)
      if (typeof family === "symbol" || typeof value !== "object" || value === null) return value
      return new Proxy(value, {
        get: (methods, method) =>
          typeof method === "string" && typeof Reflect.get(methods, method, methods) === "function"
            ? async (...args: readonly unknown[]) => (await current())[family]?.[method]?.(...args)
            : undefined,
      })
    },
  })
}
