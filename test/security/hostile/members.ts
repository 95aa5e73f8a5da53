// Paths of the members of a document, and copies with one member changed.
export type Path = readonly (string | number)[]

/** Returns the paths of all members and elements, outermost first, without the document itself. */
export function pathsOf(value: unknown, base: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return []
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : Object.entries(value)
  return entries.flatMap(([key, item]) => [[...base, key], ...pathsOf(item, [...base, key])])
}

export const valueAt = (document: unknown, path: Path): unknown =>
  path.reduce((value, key) => (value as Record<string | number, unknown>)[key], document)

export function replaced(document: unknown, path: Path, value: unknown): unknown {
  return changed(document, path, (container, key) => define(container, key, value))
}

export function without(document: unknown, path: Path): unknown {
  return changed(document, path, (container, key) => {
    if (Array.isArray(container)) container.splice(Number(key), 1)
    else Reflect.deleteProperty(container, key)
  })
}

function changed(document: unknown, path: Path, change: (container: object, key: string | number) => void): unknown {
  const copy = structuredClone(document)
  const key = path.at(-1)
  const container = valueAt(copy, path.slice(0, -1))
  if (key !== undefined && typeof container === "object" && container !== null) change(container, key)
  return copy
}

/** Defines the member as `JSON.parse` does, where `__proto__` is an ordinary member. */
const define = (container: object, key: string | number, value: unknown) =>
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true })
