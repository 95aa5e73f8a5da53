/** Takes whole lines, in their order, and tells whether they got through. */
export interface AuditSink {
  /** At once, so that it is known whether it can be; throws where it cannot. */
  open(): void | Promise<void>
  /** Grows when something that was written or appended, and not yet synced, may be lost. */
  readonly failureCount: number
  /** Throws where they cannot be written. */
  write(lines: string): void
  /** Resolves when they are written. */
  written(lines: string): Promise<void>
  /** With the next ones or soon. */
  append(lines: string): void
  /** Resolves when all that was written or appended so far has got as far as this kind of sink can tell; rejects where that failed. */
  synced(): Promise<void>
  /** Begins anew with the next line, where that means something. */
  leave(): void
  close(): Promise<void>
}
