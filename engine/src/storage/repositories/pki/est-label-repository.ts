import { conflict } from "../../../core/errors.ts"
import type { EstLabel, EstLabelRepository } from "../../../pki/est/est-label-repository.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"

export class SqlEstLabelRepository implements EstLabelRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(label: string): Promise<EstLabel | undefined> {
    const row = await this.#session.queryOne(byLabel, { label })
    return row && { label, mountId: row.mount_id as MountId }
  }

  async taken(mountId: MountId, labels: readonly string[]): Promise<readonly EstLabel[]> {
    if (labels.length === 0) return []
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("est_labels")
        .select(["label", "mount_id"])
        .where("label", "in", labels)
        .where("mount_id", "<>", mountId)
        .orderBy("label"),
    )
    return rows.map(({ label, mount_id }) => ({ label, mountId: mount_id as MountId }))
  }

  async replace(mountId: MountId, labels: readonly string[]): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("est_labels").where("mount_id", "=", mountId))
    if (labels.length === 0) return
    const rows = labels.map((label) => ({ label, mount_id: mountId }))
    try {
      await this.#session.execute(this.#session.db.insertInto("est_labels").values(rows))
    } catch (error) {
      throw error instanceof UniqueViolation ? conflict("another mount has registered one of the EST labels") : error
    }
  }
}

const byLabel = statement((db, { label }: { label: string }) =>
  db.selectFrom("est_labels").select("mount_id").where("label", "=", label),
)
