/**
 * Seals secrets before they are stored (docs/decisions/sealing.md). `path` names the record (`ssh-keys/sshkey-…`) and is bound to the
 * ciphertext: a value moved to another record does not open.
 */
export interface Sealer {
  seal(path: string, plain: Uint8Array): Uint8Array
  open(path: string, sealed: Uint8Array): Uint8Array
}
