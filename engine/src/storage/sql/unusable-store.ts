/** The store is there and cannot be used as it is; the message says why, and what to do about it. */
export class UnusableStore extends Error {
  override readonly name: string = "UnusableStore"
}
