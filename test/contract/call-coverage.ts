// Records which methods are called and how they end. Also compares a remote engine with the engine behind it.
import { expect } from "vitest"
import { isEngineError } from "../../engine/src/core/errors.ts"
import type { Engine } from "../../engine/src/engine.ts"

export interface CallRecord {
  readonly answered: Set<string>
  readonly refused: Set<string>
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

export function watched(engine: Engine, record: CallRecord, behind?: Engine): Engine {
  const pki = (mountPath: string) => watchedFamilies(engine.pki(mountPath), "pki.", record, behind?.pki(mountPath))
  const acme = (mountPath: string) => watchedFamilies(engine.acme(mountPath), "acme.", record, behind?.acme(mountPath))
  const appRoles = (methodPath: string) =>
    watchedFamilies(engine.appRoles(methodPath), "appRoles.", record, behind?.appRoles(methodPath))
  const userpass = (methodPath: string) =>
    watchedFamilies(engine.userpass(methodPath), "userpass.", record, behind?.userpass(methodPath))
  const logins = (one: Engine, path: string) => ({
    certificateLogins: one.certificateLogins(path),
    kubernetesLogins: one.kubernetesLogins(path),
  })
  const loginsAt = (path: string) => watchedFamilies(logins(engine, path), "", record, behind && logins(behind, path))
  const certificateLogins = (path: string) => loginsAt(path).certificateLogins
  const kubernetesLogins = (path: string) => loginsAt(path).kubernetesLogins
  const ofPaths: Readonly<Record<string | symbol, unknown>> = {
    pki,
    acme,
    appRoles,
    certificateLogins,
    kubernetesLogins,
    userpass,
  }
  return new Proxy(watchedFamilies(engine, "", record, behind), {
    get: (target, name) => (Object.hasOwn(ofPaths, name) ? ofPaths[name] : Reflect.get(target, name, target)),
  })
}

function watchedFamilies<T extends object>(holder: T, prefix: string, record: CallRecord, behind: T | undefined): T {
  return new Proxy(holder, {
    get(target, family) {
      const value: unknown = Reflect.get(target, family, target)
      if (typeof family === "symbol" || typeof value !== "object" || value === null)
        return typeof value === "function" ? value.bind(target) : value
      return new Proxy(value, {
        get(methods, name) {
          const method: unknown = Reflect.get(methods, name, methods)
          if (typeof method !== "function" || typeof name === "symbol") return method
          const twin = behind && memberOf(memberOf(behind, family), name)
          return watch(`${prefix}${family}.${name}`, method.bind(methods), record, twin as Method | undefined)
        },
      })
    },
  })
}

function memberOf(holder: unknown, name: string): unknown {
  return (holder as Record<string, unknown>)[name]
}

const isRead = (method: string): boolean =>
  /\.(get|list|find|attached|capabilities|current|account|output|bindings|effective|members|of)\w*$/.test(method)

function watch(method: string, call: Method, { answered, refused }: CallRecord, twin: Method | undefined): Method {
  return async (...args) => {
    try {
      const value = await call(...args)
      answered.add(method)
      if (twin !== undefined && isRead(method))
        expect({ method, value: plain(value) }).toEqual({ method, value: plain(await twin(...args)) })
      return value
    } catch (error) {
      if (!isEngineError(error)) throw error
      refused.add(method)
      // The failed call changed nothing, so calling the engine behind the server changes nothing either.
      if (twin !== undefined) {
        const twinError = await twin(...args).catch((refusal: unknown) => refusal)
        expect({ method, ...comparable(error) }).toEqual({ method, ...comparable(twinError) })
      }
      throw error
    }
  }
}

/** Replaces the credentials in signed URLs of a state: each read signs with another expiry. */
const anyCredential = (value: unknown): unknown =>
  typeof value === "string" ? value.replace(/^\d{13}\.[\w-]{43}$/, "credential") : value

/** Turns byte arrays of any class into hexadecimal text, so that they compare by content. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex")
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return anyCredential(value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** Returns the comparable part of an error. Faults replace the message if there are any, as on the wire. */
const comparable = (error: unknown) =>
  isEngineError(error)
    ? {
        code: error.code,
        faults: error.faults.map(({ detail, field, parameter }) => ({ detail, field, parameter })),
        ...(error.faults.length > 0 ? {} : { message: error.message }),
      }
    : { answered: error }
