import { sql } from "kysely"
import type { StateVersionId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import type {
  SentDocument,
  StateDocumentId,
  StateDocumentRepository,
  StoredDocument,
} from "../../../workspaces/state/state-document-repository.ts"
import type { StateDocument } from "../../../workspaces/state/state-version.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlStateDocumentRepository implements StateDocumentRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async begin(sent: SentDocument): Promise<void> {
    await this.#insert(sent, "receiving", { chunkCount: null, size: null })
  }

  async addChunk(id: StateDocumentId, chunk: number, sealed: Uint8Array): Promise<void> {
    await this.#session.execute(insertChunk, { id, chunk, sealed })
  }

  async keep(sent: SentDocument, whole: { readonly chunkCount: number; readonly size: number }): Promise<void> {
    const { id, versionId, document } = sent
    await this.#session.execute(abandonKept, { versionId, document })
    await this.#session.execute(removeEarlier, { versionId, document })
    if ((await this.#session.execute(becomeKept, { id, ...whole })) === 0) await this.#insert(sent, "kept", whole)
  }

  async abandon(id: StateDocumentId): Promise<void> {
    await this.#session.execute(abandonOne, { id })
  }

  async abandonAll(versionId: StateVersionId): Promise<void> {
    await this.#session.execute(abandonEvery, { versionId })
    await this.#session.execute(removeEveryEarlier, { versionId })
  }

  async find(versionId: StateVersionId, document: StateDocument): Promise<StoredDocument | undefined> {
    const stored = await this.#session.queryOne(storedOne, { versionId, document })
    if (stored !== undefined)
      return {
        id: stored.id as StateDocumentId,
        versionId,
        document,
        chunkCount: stored.chunk_count ?? 0,
        size: stored.size,
      }
    const earlier = await this.#session.queryOne(earlierOne, { versionId, document })
    const chunkCount = Number(earlier?.count ?? 0)
    return chunkCount === 0 ? undefined : { id: null, versionId, document, chunkCount, size: null }
  }

  async chunk({ id, versionId, document }: StoredDocument, chunk: number): Promise<Uint8Array | undefined> {
    const row =
      id === null
        ? await this.#session.queryOne(earlierChunk, { versionId, document, chunk })
        : await this.#session.queryOne(chunkOf, { id, chunk })
    return row?.sealed
  }

  async sweep(begunBefore: Instant): Promise<number> {
    const found = await this.#session.queryOne(useless, { begunBefore })
    if (found === undefined) return 0
    const removed = await this.#session.execute(removeChunks, { id: found.id })
    if (removed === chunksPerSweep) return removed
    await this.#session.execute(removeDocument, { id: found.id })
    return removed + 1
  }

  async #insert(
    { id, versionId, document, startedAt }: SentDocument,
    status: "receiving" | "kept",
    { chunkCount, size }: { readonly chunkCount: number | null; readonly size: number | null },
  ): Promise<void> {
    await this.#session.execute(insertDocument, { id, versionId, document, startedAt, status, chunkCount, size })
  }
}

/** Chunks of one deletion; each has up to 1 MiB. */
const chunksPerSweep = 16

interface Place {
  readonly versionId: string
  readonly document: string
}

const insertDocument = statement(
  (
    db,
    row: Place & {
      readonly id: string
      readonly startedAt: number
      readonly status: string
      readonly chunkCount: number | null
      readonly size: number | null
    },
  ) =>
    db.insertInto("state_documents").values({
      id: row.id,
      state_version_id: row.versionId,
      document: row.document,
      status: row.status,
      chunk_count: row.chunkCount,
      size: row.size,
      started_at: row.startedAt,
    }),
)
const insertChunk = statement((db, { id, chunk, sealed }: { id: string; chunk: number; sealed: Uint8Array }) =>
  db.insertInto("state_chunks").values({ document_id: id, chunk, sealed }),
)
const abandonKept = statement((db, { versionId, document }: Place) =>
  db
    .updateTable("state_documents")
    .set({ status: sql.lit("abandoned") })
    .where("state_version_id", "=", versionId)
    .where("document", "=", document)
    .where("status", "=", sql.lit("kept")),
)
const becomeKept = statement((db, { id, chunkCount, size }: { id: string; chunkCount: number; size: number }) =>
  db
    .updateTable("state_documents")
    .set({ status: sql.lit("kept"), chunk_count: chunkCount, size })
    .where("id", "=", id),
)
const abandonOne = statement((db, { id }: { id: string }) =>
  db
    .updateTable("state_documents")
    .set({ status: sql.lit("abandoned") })
    .where("id", "=", id)
    .where("status", "=", sql.lit("receiving")),
)
const abandonEvery = statement((db, { versionId }: { versionId: string }) =>
  db
    .updateTable("state_documents")
    .set({ status: sql.lit("abandoned") })
    .where("state_version_id", "=", versionId),
)
const removeEarlier = statement((db, { versionId, document }: Place) =>
  db.deleteFrom("state_contents").where("state_version_id", "=", versionId).where("document", "=", document),
)
const removeEveryEarlier = statement((db, { versionId }: { versionId: string }) =>
  db.deleteFrom("state_contents").where("state_version_id", "=", versionId),
)
const storedOne = statement((db, { versionId, document }: Place) =>
  db
    .selectFrom("state_documents")
    .select(["id", "chunk_count", "size"])
    .where("state_version_id", "=", versionId)
    .where("document", "=", document)
    .where("status", "=", sql.lit("kept")),
)
const earlierOne = statement((db, { versionId, document }: Place) =>
  db
    .selectFrom("state_contents")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("state_version_id", "=", versionId)
    .where("document", "=", document),
)
const chunkOf = statement((db, { id, chunk }: { id: string; chunk: number }) =>
  db.selectFrom("state_chunks").select("sealed").where("document_id", "=", id).where("chunk", "=", chunk),
)
const earlierChunk = statement((db, { versionId, document, chunk }: Place & { readonly chunk: number }) =>
  db
    .selectFrom("state_contents")
    .select("sealed")
    .where("state_version_id", "=", versionId)
    .where("document", "=", document)
    .where("chunk", "=", chunk),
)
const useless = statement((db, { begunBefore }: { begunBefore: number }) =>
  db
    .selectFrom("state_documents")
    .select("id")
    .where((where) =>
      where.or([
        where("status", "=", sql.lit("abandoned")),
        where.and([where("status", "=", sql.lit("receiving")), where("started_at", "<", begunBefore)]),
      ]),
    )
    .where("status", "<>", sql.lit("kept"))
    .limit(sql.lit(1)),
)
const removeChunks = statement((db, { id }: { id: string }) =>
  db
    .deleteFrom("state_chunks")
    .where("document_id", "=", id)
    .where("chunk", "in", (chunks) =>
      chunks
        .selectFrom("state_chunks")
        .select("chunk")
        .where("document_id", "=", id)
        .orderBy("chunk", "desc")
        .limit(sql.lit(chunksPerSweep)),
    ),
)
const removeDocument = statement((db, { id }: { id: string }) => db.deleteFrom("state_documents").where("id", "=", id))
