// An embedded engine that acts for the owner of a token. Each call authenticates the token again, as a server does at every request, so
// that a revocation takes effect at once.
import type { Engine, ServedEngine, ServingEngine } from "./engine.ts"

type Method = (...args: readonly unknown[]) => Promise<unknown>
type Family = Record<string, Method>
type Families = Readonly<Record<string, Family | undefined>>
/**
 * Methods that return a family for a path. A method that is missing below is a compile error; otherwise it would act for the underlying
 * engine.
 */
type ByPath = {
  [Name in keyof Engine]: Engine[Name] extends (path: string) => PromiseLike<unknown>
    ? never
    : Engine[Name] extends (path: string) => object
      ? Name
      : never
}[keyof Engine]

/** Returns an engine that acts for the owner of `token`. Closing it closes `served`. */
export function actingFor(served: ServedEngine, token: string): Engine {
  const forCaller = async () => served.as(await served.authenticate(token))
  const byPath: Readonly<Record<ByPath, (path: string) => unknown>> = {
    pki: (mountPath) =>
      proxied(served.pki(mountPath), async () => (await forCaller()).pki(mountPath) as unknown as Families),
    acme: (mountPath) =>
      proxied(served.acme(mountPath), async () => (await forCaller()).acme(mountPath) as unknown as Families),
    appRoles: (methodPath) =>
      proxied(served.appRoles(methodPath), async () => (await forCaller()).appRoles(methodPath) as unknown as Families),
    userpass: (methodPath) =>
      proxied(served.userpass(methodPath), async () => (await forCaller()).userpass(methodPath) as unknown as Families),
    // This method returns one family and not an object of several.
    // These methods return one family and not an object of several.
    certificateLogins: (methodPath) =>
      proxied({ logins: served.certificateLogins(methodPath) }, async () => ({
        logins: (await forCaller()).certificateLogins(methodPath) as unknown as Family,
      })).logins,
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

/** Returns `holder` with families whose methods call those of `current()` at the time of the call. */
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
