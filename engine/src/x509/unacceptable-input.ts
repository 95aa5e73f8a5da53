/**
 * Input that cannot be accepted as a key, certificate, request or signature. The message is for the client. It names the problem and its
 * position, and contains nothing that could be secret.
 */
export class UnacceptableInput extends Error {
  constructor(problem: string, cause?: unknown) {
    super(problem, cause === undefined ? undefined : { cause })
    this.name = "UnacceptableInput"
  }
}
