/** Problem with a tool or its source. The message is a sentence for the log of the run and contains no secret. */
export class ToolError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "ToolError"
  }
}
