/** Creates and verifies message authentication codes. The key outlives the process, so signed URLs stay valid after a restart. */
export interface Signer {
  sign(message: string): string
  /** Verifies in constant time. */
  verify(message: string, signature: string): boolean
}
