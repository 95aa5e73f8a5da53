import type { Engine } from "../../engine/src/engine.ts"

/** Members of an embedded engine that are not families of methods. */
const notFamilies = new Set([
  "audit",
  "caller",
  "configurationUploads",
  "context",
  "runLogs",
  "stateTransfers",
  "trail",
  "eventStreams",
  "inclusions",
  "metrics",
  "visibleMounts",
])

/** Returns the names of all methods at run time, such as `workspaces.get` and `pki.roles.get`. */
export const methodsOf = (engine: Engine): string[] =>
  [
    ...methodsIn(engine, notFamilies),
    ...methodsIn(engine.pki("any"), new Set()).map((method) => `pki.${method}`),
    ...methodsIn(engine.acme("any"), new Set()).map((method) => `acme.${method}`),
    ...methodsIn(engine.appRoles("any"), new Set()).map((method) => `appRoles.${method}`),
    ...methodsIn(engine.userpass("any"), new Set()).map((method) => `userpass.${method}`),
    ...methodsIn({ certificateLogins: engine.certificateLogins("any") }, new Set()),
    ...methodsIn({ kubernetesLogins: engine.kubernetesLogins("any") }, new Set()),
  ].toSorted()

const methodsIn = (holder: object, except: ReadonlySet<string>): string[] =>
  namesOf(holder)
    .filter((family) => !except.has(family) && typeof memberOf(holder, family) === "object")
    .flatMap((family) => {
      const members = memberOf(holder, family)
      return namesOf(members)
        .filter((name) => typeof memberOf(members, name) === "function")
        .map((name) => `${family}.${name}`)
    })

function namesOf(value: unknown): string[] {
  const names = new Set<string>()
  for (let holder = value; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    for (const name of Object.getOwnPropertyNames(holder)) if (name !== "constructor") names.add(name)
  return [...names]
}

const memberOf = (holder: unknown, name: string): unknown => (holder as Record<string, unknown>)[name]
