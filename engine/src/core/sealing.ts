/**
 * Seals secrets before they reach a row (architecture 0.6). `path` names the record (`ssh-keys/sshkey-…`) and is bound to the
 * ciphertext, so that a value moved to another record does not open.
 */
export interface Sealer {
  seal(path: string, plain: Uint8Array): Uint8Array
  open(path: string, sealed: Uint8Array): Uint8Array
}
