/** The database exists and cannot be used as it is. The message gives the reason and the remedy. */
export class UnusableStore extends Error {
  override readonly name: string = "UnusableStore"
}
