import type { Engine } from "../../engine/src/engine.ts"

/** What stands beside the families of an engine that serves. */
const notFamilies = new Set([
  "caller",
  "context",
  "stateUploads",
  "inclusions",
  "jobActivities",
  "mounts",
  "policies",
  "serviceTokens",
  "visibleMounts",
])

/** `workspaces.get` and all others, as they are at run time. */
export const methodsOf = (engine: Engine): string[] =>
  namesOf(engine)
    .filter((family) => !notFamilies.has(family) && typeof memberOf(engine, family) === "object")
    .flatMap((family) => {
      const members = memberOf(engine, family)
      return namesOf(members)
        .filter((name) => typeof memberOf(members, name) === "function")
        .map((name) => `${family}.${name}`)
    })
    .toSorted()

function namesOf(value: unknown): string[] {
  const names = new Set<string>()
  for (let holder = value; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    for (const name of Object.getOwnPropertyNames(holder)) if (name !== "constructor") names.add(name)
  return [...names]
}

const memberOf = (holder: unknown, name: string): unknown => (holder as Record<string, unknown>)[name]
