import { counted } from "../../core/text.ts"
import { setTimeout as sleep } from "node:timers/promises"
import { newId } from "../../core/ids.ts"
import { type Runtime, systemRuntime } from "../../core/runtime.ts"
import { hourMs, secondMs, type Instant } from "../../core/time.ts"
import { systemTimers } from "../../core/timers.ts"
import { exclusively } from "../../jobs/exclusively.ts"
import type { Database } from "../../storage/sql/database.ts"
import type { KeyRing } from "../../storage/sealing/key-sealing.ts"
import { leasesOver } from "../../storage/sql/leases.ts"
import { rewrap, sealedValueCounts } from "../../storage/sealing/rewrap.ts"
import {
  findSealKeys,
  forgetKeyId,
  rememberedKeyIds,
  removeFromKeyFile,
  rotateKeyFile,
  type SealKeySources,
} from "../../storage/sealing/seal-keys.ts"
import { CommandError, configurationError, exitCodes, usageError } from "../exit-code.ts"
import { processLog } from "../log.ts"
import { json, table } from "../report.ts"
import type { Settings } from "../settings.ts"
import { openDatabaseOf, sealKeyFileOf, sealKeySourcesOf } from "../store.ts"
import type { Terminal } from "../terminal.ts"

/** Running servers check the key file every second. */
const serversFollowMs = 3 * secondMs
/**
 * The second pass finds the secrets that servers sealed before they read the new key. More passes mean that a server never gets the new
 * key.
 */
const maxPass = 5
const longestRotationMs = 24 * hourMs

export async function rotateSeal(settings: Settings, newKey: boolean, terminal: Terminal): Promise<void> {
  const file = newKey ? sealKeyFileOf(settings) : undefined
  await withSeal(settings, async ({ database, sources, runtime }) => {
    const rotation = await exclusivelyOn(database, runtime)(
      { name: "seal-rotation", timeoutMs: longestRotationMs },
      async ({ signal }) => {
        if (file !== undefined) await addKey(file, runtime)
        const { ring } = await findSealKeys(database, sources, runtime.random)
        const settledAt = file === undefined ? 0 : runtime.clock.now() + serversFollowMs
        return { keyId: ring.current.id, ...(await rewrapAll(database, ring, { runtime, settledAt, signal })) }
      },
    )
    if (!rotation.held)
      throw new CommandError(exitCodes.busy, "Another command is rotating the seal key of this store; try again later.")
    const { keyId, rewrapped, unopened, firstProblem } = rotation.value
    if (file !== undefined) terminal.out(`The key ${keyId} is now first in ${file}. Copy the file to a safe place.`)
    terminal.out(`${rewrapped} secrets were sealed again under the key ${keyId}.`)
    if (unopened > 0)
      throw new CommandError(
        exitCodes.failure,
        `${unopened} secrets cannot be opened and were not changed. The first: ${firstProblem}.`,
      )
  })
}

async function addKey(file: string, { random }: Runtime): Promise<void> {
  try {
    await rotateKeyFile(file, random)
  } catch (error) {
    throw configurationError(`The seal key file ${file} cannot be changed (${(error as Error).message}).`)
  }
}

async function rewrapAll(
  database: Database,
  ring: KeyRing,
  {
    runtime,
    settledAt,
    signal,
  }: { readonly runtime: Runtime; readonly settledAt: Instant; readonly signal: AbortSignal },
) {
  const { clock, random } = runtime
  let rewrapped = 0
  for (let pass = 1; ; pass += 1) {
    const early = clock.now() < settledAt
    const report = await rewrap(database, { ring, random, signal })
    rewrapped += report.rewrapped
    if ((report.rewrapped === 0 && !early) || pass >= maxPass) return { ...report, rewrapped }
    if (early) await sleep(settledAt - clock.now())
  }
}

interface KeyStatus {
  readonly keyId: string
  readonly use: "seals" | "opens" | "missing"
  readonly secretCount: number
}

export async function showSeal(settings: Settings, asJson: boolean, terminal: Terminal): Promise<void> {
  await withSeal(settings, async ({ database, ring }) => {
    const counts = await sealedValueCounts(database)
    const ids = new Set([ring.current.id, ...ring.keys.keys(), ...counts.keys()])
    const keys = Array.from(ids, (keyId): KeyStatus => {
      const use = keyId === ring.current.id ? "seals" : ring.keys.has(keyId) ? "opens" : "missing"
      return { keyId, use, secretCount: counts.get(keyId) ?? 0 }
    })
    const rows = keys.map(({ keyId, use, secretCount }) => [keyId, use, String(secretCount)])
    terminal.out(asJson ? json(keys) : table(["KEY", "USE", "SECRETS"], rows))
  })
}

export async function retireSealKey(settings: Settings, keyId: string, terminal: Terminal): Promise<void> {
  await withSeal(settings, async ({ database, ring }) => {
    if (keyId === ring.current.id)
      throw usageError(`The key ${keyId} is in use; run \`chancery seal rotate\` to create another.`)
    const known = ring.keys.has(keyId) || (await rememberedKeyIds(database)).includes(keyId)
    if (!known) throw usageError(`No seal key has the id ${keyId}; \`chancery seal status\` lists them.`)
    const count = (await sealedValueCounts(database)).get(keyId) ?? 0
    if (count > 0)
      throw new CommandError(
        exitCodes.failure,
        `The key ${keyId} still seals ${counted(count, "secret")}; run \`chancery seal rotate --no-new-key\` to seal them under the first key.`,
      )
    await forgetKeyId(database, keyId)
    if (settings.sealKey !== undefined) {
      terminal.out(`The store no longer needs the key ${keyId}; remove it from CHANCERY_SEAL_KEY.`)
      return
    }
    await removeFromKeyFile(sealKeyFileOf(settings), keyId)
    terminal.out(`The key ${keyId} is retired. Backups that were sealed with it need a copy of the old key file.`)
  })
}

interface OpenedSeal {
  readonly database: Database
  readonly sources: SealKeySources
  readonly ring: KeyRing
  readonly runtime: Runtime
}

async function withSeal(settings: Settings, work: (opened: OpenedSeal) => Promise<void>): Promise<void> {
  const log = processLog(settings.logLevel)
  try {
    const runtime = systemRuntime(log)
    const sources = sealKeySourcesOf(settings)
    const { database, ring } = await openDatabaseOf(settings, runtime)
    await using _ = database
    await work({ database, sources, ring, runtime })
  } finally {
    log.flush()
  }
}

const exclusivelyOn = (database: Database, runtime: Runtime) =>
  exclusively({
    leases: leasesOver(database),
    holder: newId("eng", runtime.random),
    runtime,
    timers: systemTimers,
    stopped: new AbortController().signal,
  })
