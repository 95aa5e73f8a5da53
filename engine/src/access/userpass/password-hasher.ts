/**
 * Hashes and verifies passwords, which takes a large part of a second of a processor. Few run at once. Throws `busy` if too many wait.
 */
export interface PasswordHasher {
  /** Returns a hash of scrypt as it is stored. */
  hash(password: string, salt: Uint8Array): Promise<string>
  /** Returns true if the password has the stored hash. Compares in constant time. */
  verify(password: string, hash: string): Promise<boolean>
}
