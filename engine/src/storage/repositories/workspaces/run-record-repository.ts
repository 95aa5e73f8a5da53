import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import type { RunId } from "../../../core/ids.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { RunArchive, RunDocument, RunRecordRepository, RunStage } from "../../../workspaces/runs/run-repository.ts"
import type { RunLogRow } from "../../schema/tables.ts"
import { openDocument, sealDocument } from "../../sealing/key-sealing.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

/** Bytes up to which appended lines are merged into one row, so that a log does not become many small rows. */
const pieceBytes = 64 * 1024

export class SqlRunRecordRepository implements RunRecordRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async logSize(runId: RunId, stage: RunStage): Promise<number> {
    const last = await this.#session.queryOne(lastPiece, { runId, stage })
    return last === undefined ? 0 : last.start + last.size
  }

  async readLog(runId: RunId, stage: RunStage, start: number, size: number): Promise<Uint8Array> {
    const { db } = this.#session
    const end = start + size
    const pieces = await this.#session.queryMany(
      db
        .selectFrom("run_logs")
        .select(["run_id", "stage", "start", "size", "sealed"])
        .where("run_id", "=", runId)
        .where("stage", "=", stage)
        .where("start", "<", end)
        .where((is) => is(is("start", "+", is.ref("size")), ">", start))
        .orderBy("start"),
    )
    const parts = pieces.map((piece) =>
      this.#open(piece).subarray(Math.max(0, start - piece.start), Math.min(piece.size, end - piece.start)),
    )
    return Buffer.concat(parts)
  }

  async appendLog(runId: RunId, stage: RunStage, bytes: Uint8Array): Promise<void> {
    const last = await this.#session.queryOne(lastPiece, { runId, stage })
    if (last !== undefined && last.size + bytes.length <= pieceBytes) {
      const whole = Buffer.concat([this.#open(last), bytes])
      await this.#session.execute(
        this.#session.db
          .updateTable("run_logs")
          .set({ size: whole.length, sealed: this.#seal(last, whole) })
          .where("run_id", "=", runId)
          .where("stage", "=", stage)
          .where("start", "=", last.start),
      )
      return
    }
    const place = { run_id: runId, stage, start: last === undefined ? 0 : last.start + last.size }
    const row = { ...place, size: bytes.length, sealed: this.#seal(place, bytes) }
    await this.#session.execute(this.#session.db.insertInto("run_logs").values(row))
  }

  async document(runId: RunId, document: RunDocument): Promise<readonly Uint8Array[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("run_documents")
        .select("sealed")
        .where("run_id", "=", runId)
        .where("document", "=", document)
        .orderBy("chunk"),
    )
    return rows.map(({ sealed }) => sealed)
  }

  async saveDocument(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Promise<void> {
    const { db } = this.#session
    await this.#session.execute(
      db.deleteFrom("run_documents").where("run_id", "=", runId).where("document", "=", document),
    )
    for (const [chunk, sealed] of chunks.entries())
      await this.#session.execute(db.insertInto("run_documents").values({ run_id: runId, document, chunk, sealed }))
  }

  async deleteDocuments(runId: RunId): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("run_documents").where("run_id", "=", runId))
  }

  #seal(piece: PiecePlace, bytes: Uint8Array): Uint8Array {
    return this.#sealer.seal(pathOf(piece), zstdCompressSync(bytes))
  }

  #open(piece: PiecePlace & Pick<RunLogRow, "sealed">): Uint8Array {
    return zstdDecompressSync(this.#sealer.open(pathOf(piece), piece.sealed))
  }
}

type PiecePlace = Pick<RunLogRow, "run_id" | "stage" | "start">
const pathOf = ({ run_id, stage, start }: PiecePlace): string => sealPaths.runLog(run_id, stage, start)

const lastPiece = statement((db, { runId, stage }: { runId: string; stage: string }) =>
  db
    .selectFrom("run_logs")
    .select(["run_id", "stage", "start", "size", "sealed"])
    .where("run_id", "=", runId)
    .where("stage", "=", stage)
    .orderBy("start", "desc")
    .limit(1),
)

export const sealedRunArchive = (sealer: Sealer): RunArchive => ({
  pack: (runId, document, bytes) => sealDocument(sealer, sealPaths.runDocument(runId, document), bytes),
  unpack: (runId, document, chunks) => openDocument(sealer, sealPaths.runDocument(runId, document), chunks),
})
