// What a plan or an apply says, sent piece by piece while it says it.
import type { Claim, Stage } from "./claim.ts"

/** The server takes twice as much at once. */
const pieceBytes = 256 * 1024
const sendMs = 500

export interface Log extends Disposable {
  write(text: string | Uint8Array): void
  /** Once everything has arrived. */
  end(): Promise<void>
}

export function openLog(claim: Claim, stage: Stage): Log {
  let waiting = Buffer.alloc(0)
  let offset: number | undefined
  const send = async (): Promise<void> => {
    // An executor that was lost may have begun the log. Nothing is appended here: only its length is asked for.
    offset ??= await claim.appendLog(stage, 0, new Uint8Array())
    while (waiting.length > 0) {
      const piece = waiting.subarray(0, pieceBytes)
      await claim.appendLog(stage, offset, piece)
      offset += piece.length
      waiting = waiting.subarray(piece.length)
    }
  }
  // One after another: each piece begins where the one before has ended. Once one has failed so do the rest, and the end tells.
  let sending: Promise<void> = Promise.resolve()
  const next = (): void => {
    sending = sending.then(send)
    sending.catch(() => undefined)
  }
  const timer = setInterval(next, sendMs)
  return {
    write(text) {
      waiting = Buffer.concat([waiting, Buffer.from(text)])
    },
    async end() {
      clearInterval(timer)
      next()
      await sending
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
