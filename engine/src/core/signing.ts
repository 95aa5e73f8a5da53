/** Makes and checks message authentication codes under a key that outlives the process, so that signed addresses do too. */
export interface Signer {
  sign(message: string): string
  /** In constant time. */
  verify(message: string, signature: string): boolean
}
