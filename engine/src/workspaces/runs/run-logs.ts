// The URL of a log contains its own credential, because clients read it without a token. Clients poll while the log grows. One character
// marks its beginning, one its end, and offsets count both (docs/compatibility.md, "Runs").
import { notFound } from "../../core/errors.ts"
import { grantFor, isGranted } from "../../core/grants.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Signer } from "../../core/signing.ts"
import type { Storage } from "../../core/storage.ts"
import { hourMs } from "../../core/time.ts"
import type { RunRecordRepository, RunRepository } from "./run-repository.ts"
import { applyStatus, hasEnded, planStatus } from "./run-status.ts"

/** Equal to the lifetime of upload URLs: clients that follow a run request the URL once. */
export const logGrantMs = 25 * hourMs

/** Limit of one response. */
const maxSlice = 1024 * 1024
const startOfText = 0x02
const endOfText = 0x03

export interface LogSlice {
  /** Id of a plan or an apply. */
  readonly id: string
  readonly credential: string
  /** Offset in bytes, including the start mark. */
  readonly offset: number
  readonly limit: number
}

export interface RunLogs {
  /** Returns a credential for the log of a plan or an apply. Return it only to callers that may read the plan or the apply. */
  grant(id: string): string
  /** Returns no bytes if `offset` is beyond the present end of the log. */
  read(slice: LogSlice): Promise<Uint8Array>
}

export class RunLogService implements RunLogs {
  readonly #storage: Storage<{ readonly runs: RunRepository; readonly runRecords: RunRecordRepository }>
  readonly #runtime: Pick<Runtime, "clock">
  readonly #signer: Signer

  constructor(
    storage: Storage<{ readonly runs: RunRepository; readonly runRecords: RunRecordRepository }>,
    runtime: Pick<Runtime, "clock">,
    signer: Signer,
  ) {
    this.#storage = storage
    this.#runtime = runtime
    this.#signer = signer
  }

  grant(id: string): string {
    return grantFor(this.#signer, subjectOf(id), this.#runtime.clock.now() + logGrantMs)
  }

  read({ id, credential, offset, limit }: LogSlice): Promise<Uint8Array> {
    this.#requireGrant(id, credential)
    return this.#storage.read(async ({ runs, runRecords }) => {
      const ofPlan = await runs.findByPlan(id)
      const run = ofPlan ?? (await runs.findByApply(id))
      if (run === undefined) throw notFound(id)
      const stage = ofPlan === undefined ? "apply" : "plan"
      const status = (stage === "plan" ? planStatus : applyStatus)(run.status, run.statusTimestamps)
      const size = await runRecords.logSize(run.id, stage)
      const end = Math.min(offset + limit, offset + maxSlice)
      const from = Math.max(0, offset - 1)
      const text = end > 1 ? await runRecords.readLog(run.id, stage, from, end - 1 - from) : new Uint8Array()
      return Buffer.concat([
        ...(offset === 0 && end > 0 ? [Buffer.of(startOfText)] : []),
        text,
        ...(hasEnded(status) && offset <= size + 1 && end > size + 1 ? [Buffer.of(endOfText)] : []),
      ])
    })
  }

  #requireGrant(id: string, credential: string): void {
    if (!isGranted(this.#signer, subjectOf(id), credential, this.#runtime.clock.now())) throw notFound(id)
  }
}

const subjectOf = (id: string) => `run-log/${id}`
