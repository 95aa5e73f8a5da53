/** Returns the names of the members that differ, in the order of `after`. */
export function attributeChanges(before: object, after: object, except: readonly string[] = ["updatedAt"]): string[] {
  const former = before as Readonly<Record<string, unknown>>
  return Object.entries(after).flatMap(([name, value]) =>
    except.includes(name) || isSame(former[name], value) ? [] : [name],
  )
}

/** Values of settings are plain: text, numbers, booleans, lists and records of them. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other))
