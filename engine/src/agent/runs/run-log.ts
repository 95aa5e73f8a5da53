// Log of a plan or an apply, which is sent while the tool writes it. Secrets are masked before anything leaves this machine.
import type { RunClaims } from "../../workspaces/runs/run-claim.ts"
import type { RunStage } from "../../workspaces/runs/run-repository.ts"
import { withRetries } from "./claim-retries.ts"
import type { SecretMask } from "./secret-mask.ts"

/** Half of what the server accepts in one request. */
const chunkBytes = 256 * 1024
const sendEveryMs = 500
/** Room for the last lines of the agent itself. */
const reservedBytes = 64 * 1024

export interface RunLog extends AsyncDisposable {
  write(text: string | Uint8Array): void
  /** Writes text of the agent itself, also after the limit was reached. */
  say(text: string): void
  /** Resolves when the server has the whole log. Throws if it did not accept a part. */
  end(): Promise<void>
}

export interface RunLogOptions {
  readonly claims: Pick<RunClaims, "appendLog">
  readonly claimId: string
  readonly stage: RunStage
  readonly mask: SecretMask
  /** The rest is left out. */
  readonly maxBytes: number
  readonly retryMs: number
}

export function openRunLog({ claims, claimId, stage, mask, maxBytes, retryMs }: RunLogOptions): RunLog {
  let waiting: Buffer[] = []
  let size = 0
  let isFull = false
  let failure: Error | undefined
  let offset: number | undefined
  const append = (at: number, bytes: Uint8Array) =>
    withRetries(() => claims.appendLog(claimId, stage, at, bytes), retryMs)

  async function send(): Promise<void> {
    if (failure !== undefined) return
    // A lost executor, or a wait without executors, may have written before.
    offset ??= await append(0, Buffer.alloc(0))
    while (waiting.length > 0) {
      const all = Buffer.concat(waiting)
      waiting = []
      for (let from = 0; from < all.length; from += chunkBytes)
        offset = await append(offset, all.subarray(from, from + chunkBytes))
    }
  }
  // One request after another, because each begins where the previous one ended.
  let sending: Promise<void> = Promise.resolve()
  const sendNext = (): void => {
    sending = sending.then(send).catch((error: unknown) => {
      failure ??= error as Error
      waiting = []
    })
  }
  const timer = setInterval(sendNext, sendEveryMs)

  function take(bytes: Uint8Array): void {
    if (bytes.length === 0 || failure !== undefined) return
    size += bytes.length
    waiting.push(Buffer.from(bytes))
  }
  const limit = Math.max(0, maxBytes - reservedBytes)
  return {
    write(text) {
      if (isFull) return
      const shown = mask.push(Buffer.from(text as string))
      if (size + shown.length <= limit) {
        take(shown)
        return
      }
      isFull = true
      take(shown.subarray(0, limit - size))
      take(Buffer.from(`\n\nThe log is longer than ${maxBytes} bytes. The rest is left out.\n`))
    },
    say(text) {
      take(Buffer.concat([isFull ? Buffer.alloc(0) : mask.flush(), mask.push(Buffer.from(text)), mask.flush()]))
    },
    async end() {
      clearInterval(timer)
      if (!isFull) take(mask.flush())
      sendNext()
      await sending
      if (failure !== undefined) throw failure
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sending
    },
  }
}
