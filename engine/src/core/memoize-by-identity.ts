/**
 * Memoizes a pure function by the identity of its argument. Use it for long-lived objects only. Entries of short-lived objects are freed
 * only by the next full garbage collection.
 */
export function memoizeByIdentity<From extends object, To>(compute: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, { readonly to: To }>()
  return (from) => {
    const found = known.get(from)
    if (found !== undefined) return found.to
    const to = compute(from)
    known.set(from, { to })
    return to
  }
}
