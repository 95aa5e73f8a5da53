// Keeps the seal keys of an open database current, so that servers need no restart for a new key.
import { readFileSync } from "node:fs"
import { outOfService } from "../../core/errors.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Log } from "../../core/runtime.ts"
import type { Sealer } from "../../core/sealing.ts"
import { secondMs } from "../../core/time.ts"
import type { Timers } from "../../core/timers.ts"
import type { Database } from "../sql/database.ts"
import { fileVersion, findSealKeys, type FoundSealKeys, type SealKeySources } from "./seal-keys.ts"
import { type KeyRing, keySealer, parseKeyRing, UnknownSealKey } from "./key-sealing.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface FollowedSealKeys extends Disposable {
  readonly sealer: Sealer
}

export interface FollowOptions {
  readonly random: RandomSource
  readonly log: Log
  readonly timers: Timers
}

/**
 * Follows the key file. A change takes effect within a second, and at once when a value with an unknown key is opened. An unusable file is
 * logged, and the previous keys stay. Keys from the environment do not change.
 */
export function followSealKeys(
  database: Database,
  sources: SealKeySources,
  found: FoundSealKeys,
  { random, log, timers }: FollowOptions,
): FollowedSealKeys {
  const file = sources.text === undefined ? (sources.file ?? sources.defaultFile) : undefined
  let sealer = keySealer(found.ring, random)
  let currentId = found.ring.current.id
  let settled: string | undefined
  let doubtful: string | undefined
  let stopped = false
  let takeBack: (() => void) | undefined

  async function check(path: string): Promise<void> {
    const version = await fileVersion(path)
    if (version === settled) return
    try {
      const { ring } = await findSealKeys(database, { file: path }, random)
      sealer = keySealer(ring, random)
      if (ring.current.id !== currentId) log.info("seal-key-replaced", { file: path, keyId: ring.current.id })
      currentId = ring.current.id
      settled = version
    } catch (error) {
      // A file that is being overwritten is incomplete for a moment, and the database may be briefly unreachable. Only the second failure
      // with the same content is logged.
      if (version === doubtful) log.error("seal-keys-not-replaced", { file: path, error })
      if (version === doubtful && error instanceof UnusableStore) settled = version
      doubtful = version
    }
  }
  const again = (path: string): void => {
    if (!stopped) takeBack = timers.after(checkMs, () => void check(path).finally(() => again(path)))
  }
  if (file !== undefined) again(file)

  return {
    sealer: {
      seal: (path, plain) => sealer.seal(path, plain),
      open(path, sealed) {
        try {
          return sealer.open(path, sealed)
        } catch (error) {
          if (!(error instanceof UnknownSealKey)) throw error
          const newer = file === undefined ? undefined : ringIn(file)
          if (newer?.keys.has(error.keyId) === true) return keySealer(newer, random).open(path, sealed)
          throw outOfService(`The engine is sealed: the seal key ${error.keyId} is not among its seal keys.`, error)
        }
      },
    },
    [Symbol.dispose]() {
      stopped = true
      takeBack?.()
    },
  }
}

const checkMs = secondMs

function ringIn(file: string): KeyRing | undefined {
  try {
    return parseKeyRing(readFileSync(file, "utf8"))
  } catch {
    return undefined
  }
}
