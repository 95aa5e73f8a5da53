/**
 * A pure function that is not computed again for an object it has seen. For objects that stay: the values for those that go with
 * their requests would wait, all of them, for the next time that the whole heap is collected.
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
