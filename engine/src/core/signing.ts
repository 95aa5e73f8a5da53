/** Makes and checks message authentication codes under a key that outlives the process, so that signed addresses do too. */
export interface Signer {
  sign(message: string): string
  /** In constant time. */
  verify(message: string, signature: string): boolean
  /** Under a key of its own for each purpose. */
  forBlocks(purpose: string): BlockSigner
}

/** For what is signed with every request: in a third of the time, but nothing longer or shorter than a block. */
export interface BlockSigner {
  /** Of `blockOctets`; as many. */
  sign(block: Uint8Array): Uint8Array
  /** In constant time. */
  verify(block: Uint8Array, code: Uint8Array): boolean
}

export const blockOctets = 16
