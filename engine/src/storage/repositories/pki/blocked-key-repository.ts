import type { BlockedKey, BlockedKeyRepository, BlockedKeySource, KeyDigest } from "../../../pki/keys/blocked-key.ts"
import { keptSerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { BlockedKeyRow } from "../../schema/tables.ts"

export class SqlBlockedKeyRepository implements BlockedKeyRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async list(page: { readonly after: string; readonly limit: number }): Promise<readonly KeyDigest[]> {
    return (await this.#session.queryMany(digestsAfter, page)).map(({ digest }) => digest as KeyDigest)
  }

  async find(digest: KeyDigest): Promise<BlockedKey | undefined> {
    const row = await this.#session.queryOne(byDigest, { digest })
    return (
      row && {
        spkiSha256: digest,
        source: row.source as BlockedKeySource,
        mount: row.mount,
        serialNumber: row.serial_number === null ? null : keptSerialNumber(row.serial_number),
        comment: row.comment,
        createdAt: row.created_at,
      }
    )
  }

  async isBlocked(digest: KeyDigest): Promise<boolean> {
    return (await this.#session.queryOne(presence, { digest })) !== undefined
  }

  async add(key: BlockedKey): Promise<void> {
    await this.#session.execute(insertNew, toRow(key))
  }

  async save(key: BlockedKey): Promise<void> {
    await this.#session.execute(insertOrComment, toRow(key))
  }

  async remove(digest: KeyDigest): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("blocked_keys").where("digest", "=", digest))
  }
}

const toRow = ({ spkiSha256: digest, source, mount, serialNumber, comment, createdAt }: BlockedKey): BlockedKeyRow => ({
  digest,
  source,
  mount,
  serial_number: serialNumber === null ? null : serialNumberOctets(serialNumber),
  comment,
  created_at: createdAt,
})

const digestsAfter = statement((db, { after, limit }: { after: string; limit: number }) =>
  db.selectFrom("blocked_keys").select("digest").where("digest", ">", after).orderBy("digest").limit(limit),
)
const byDigest = statement((db, { digest }: { digest: string }) =>
  db
    .selectFrom("blocked_keys")
    .select(["source", "mount", "serial_number", "comment", "created_at"])
    .where("digest", "=", digest),
)
const presence = statement((db, { digest }: { digest: string }) =>
  db.selectFrom("blocked_keys").select("digest").where("digest", "=", digest),
)

const valuesOf = (row: BlockedKeyRow): BlockedKeyRow => ({
  digest: row.digest,
  source: row.source,
  mount: row.mount,
  serial_number: row.serial_number,
  comment: row.comment,
  created_at: row.created_at,
})
const insertNew = statement((db, row: BlockedKeyRow) =>
  db
    .insertInto("blocked_keys")
    .values(valuesOf(row))
    .onConflict((known) => known.column("digest").doNothing()),
)
const insertOrComment = statement((db, row: BlockedKeyRow) =>
  db
    .insertInto("blocked_keys")
    .values(valuesOf(row))
    .onConflict((known) => known.column("digest").doUpdateSet({ comment: row.comment })),
)
