/** The run cannot continue. The message is written to the log of the run, so it must not contain a secret. */
export class RunFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "RunFailure"
  }
}
