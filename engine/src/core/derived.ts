/** A pure function that is not computed again for an object it has seen. */
export function derived<From extends object, To>(compute: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, { readonly to: To }>()
  return (from) => {
    const found = known.get(from)
    if (found !== undefined) return found.to
    const to = compute(from)
    known.set(from, { to })
    return to
  }
}
