/** Returns the names of the members that differ, in the order of `after`. */
export function attributeChanges(before: object, after: object, except: readonly string[] = ["updatedAt"]): string[] {
  const former = before as Readonly<Record<string, unknown>>
  return Object.entries(after).flatMap(([name, value]) =>
    except.includes(name) || isSame(former[name], value) ? [] : [name],
  )
}

/** Settings consist of strings, numbers, booleans, and lists and records of them, so their JSON can be compared. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other))
