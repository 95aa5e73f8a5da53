// State file that the tool writes during an apply. Intermediate versions are uploaded, so that a lost machine does not lose all of them.
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { StateVersionInput } from "../../workspaces/state/state-version.ts"

/** Header of a state file. */
interface StateHeader {
  readonly serial: number
  readonly lineage: string
}

/**
 * Reads the header of a complete state file. Undefined if the file is incomplete: the tool may be writing it. Values of the state are not
 * used, because numbers beyond 2^53 would change.
 */
export function stateHeader(text: string): StateHeader | undefined {
  try {
    const { serial, lineage } = JSON.parse(text) as Partial<StateHeader>
    return Number.isSafeInteger(serial) && typeof lineage === "string" && lineage !== ""
      ? { serial: serial as number, lineage }
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the state with a higher serial. The tool writes the serial as a line of its own at the first level, so the rest of the text stays
 * as it is.
 */
export const withSerial = (text: string, serial: number): string =>
  text.replace(/^(\s*"serial":\s*)\d+/m, (_whole, start: string) => `${start}${serial}`)

export interface StateUploads {
  /** Returns the next state version to create, or undefined if the state has not changed since the last one. */
  next(intermediate: boolean): Promise<StateVersionInput | undefined>
  /** Records that the last version of `next` was created. */
  created(): void
}

/** Follows the state file at `path`. `before` is the state at the beginning of the run. */
export function followState(path: string, before: Uint8Array | undefined): StateUploads {
  let last = before === undefined ? undefined : Buffer.from(before).toString()
  let lastSerial = last === undefined ? 0 : (stateHeader(last)?.serial ?? 0)
  let pending: { readonly text: string; readonly input: StateVersionInput } | undefined
  return {
    async next(intermediate) {
      const text = await readFile(path, "utf8").catch(() => undefined)
      if (text === undefined || text === last) return undefined
      const header = stateHeader(text)
      if (header === undefined) return undefined
      if (pending?.text === text && pending.input.intermediate === intermediate) return pending.input
      // Each version needs a serial of its own. The tool increases it once per run. A version whose answer was lost may exist, so its
      // serial is not used again: the server would reject other content with it.
      const serial = Math.max(header.serial, lastSerial + 1)
      lastSerial = serial
      const state = Buffer.from(serial === header.serial ? text : withSerial(text, serial))
      const input = {
        serial,
        lineage: header.lineage,
        md5: createHash("md5").update(state).digest("hex"),
        force: false,
        intermediate,
        runId: null,
        state,
        jsonState: null,
      }
      pending = { text, input }
      return input
    },
    created() {
      last = pending?.text
    },
  }
}
