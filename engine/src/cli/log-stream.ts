// Writes lines to a file descriptor, with one write per turn of the event loop. If the reader is gone, lines are lost: a closed pipe must
// neither end the process nor keep it alive.
import { writeSync } from "node:fs"

const maxWaitingLength = 8 * 1024 * 1024
const retryMs = 10

export interface LogStream {
  write(line: string): void
  /** Writes the buffered lines at once. Call before the process ends. */
  flush(): void
}

export function logStream(descriptor: number): LogStream {
  let waiting = Buffer.alloc(0)
  let lines: string[] = []
  let linesLength = 0
  let scheduled = false
  let broken = false

  function flush(): void {
    if (broken) return
    waiting = Buffer.concat([waiting, Buffer.from(lines.join(""))])
    lines = []
    linesLength = 0
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(descriptor, waiting))
    } catch (error) {
      // EAGAIN means that a non-blocking pipe is full. Other errors are permanent.
      broken = (error as NodeJS.ErrnoException).code !== "EAGAIN"
    }
  }

  function later(): void {
    scheduled = false
    flush()
    if (waiting.length > 0 && !broken) schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    if (waiting.length === 0) setImmediate(later)
    else setTimeout(later, retryMs).unref()
  }

  return {
    write(line) {
      if (broken || waiting.length + linesLength > maxWaitingLength) return
      lines.push(line)
      linesLength += line.length
      schedule()
    },
    flush,
  }
}
