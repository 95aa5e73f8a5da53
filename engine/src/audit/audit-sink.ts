/** Destination of whole lines, in order, which reports whether they were delivered. */
export interface AuditSink {
  /** Opens the sink early, to find errors. Throws or rejects if that fails. */
  open(): void | Promise<void>
  /** Increases when written or appended lines that were not yet synced may be lost. */
  readonly failureCount: number
  /** Writes lines. Throws if they cannot be written. */
  write(lines: string): void
  /** Writes lines. Resolves when they are written. */
  written(lines: string): Promise<void>
  /** Buffers lines, which are written with the next ones or soon. */
  append(lines: string): void
  /** Resolves when all lines written or appended so far are as safe as this kind of sink can tell. Rejects if that failed. */
  synced(): Promise<void>
  /** Reopens the sink with the next line, if it is a file. */
  leave(): void
  close(): Promise<void>
}
