/**
 * What somebody sent cannot be accepted as a key, certificate, request or signature. The message is for them: it says what
 * is wrong and where, and repeats nothing that could be a secret.
 */
export class UnacceptableInput extends Error {
  constructor(problem: string, cause?: unknown) {
    super(problem, cause === undefined ? undefined : { cause })
    this.name = "UnacceptableInput"
  }
}
