import { sql } from "kysely"
import type { OrganizationId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { Instant } from "../../../core/time.ts"
import type { EventKind } from "../../../events/feed/event.ts"
import type { DeadLetter, Webhook, WebhookSettings, WebhookRepository } from "../../../events/webhooks/webhook.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { WebhookDeadLetterRow, WebhookRow } from "../../schema/tables.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"

export class SqlWebhookRepository implements WebhookRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async find(id: string): Promise<Webhook | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && webhookOf(row)
  }

  list(organizationId: OrganizationId, page: PageRequest): Promise<Page<Webhook>> {
    const query = this.#session.db
      .selectFrom("webhooks")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .orderBy("name")
    return selectPage(this.#session, query, page, webhookOf)
  }

  async enabled(beyond: string, limit: number): Promise<readonly Webhook[]> {
    return (await this.#session.queryMany(enabledBeyond, { beyond, limit })).map(webhookOf)
  }

  async secret(id: string): Promise<string | undefined> {
    const row = await this.#session.queryOne(sealedOf, { id })
    return row && Buffer.from(this.#sealer.open(sealPaths.webhookSecret(id), row.secret_sealed)).toString()
  }

  async insert(webhook: Webhook, secret: string): Promise<void> {
    const row: WebhookRow = { ...rowOf(webhook), secret_sealed: this.#seal(webhook.id, secret) }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("webhooks").values(row)), {
      name: nameTaken,
    })
  }

  async save(webhook: Webhook, secret?: string): Promise<void> {
    const { id, ...changes } = rowOf(webhook)
    const sealed = secret === undefined ? {} : { secret_sealed: this.#seal(id, secret) }
    const update = this.#session.db
      .updateTable("webhooks")
      .set({ ...changes, ...sealed })
      .where("id", "=", id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("webhooks").where("id", "=", id))
  }

  async letter(webhookId: string, id: string): Promise<DeadLetter | undefined> {
    const row = await this.#session.queryOne(letterById, { webhookId, id })
    return row && letterOf(row)
  }

  letters(webhookId: string, page: PageRequest): Promise<Page<DeadLetter>> {
    const query = this.#session.db
      .selectFrom("webhook_dead_letters")
      .select(letterColumns)
      .where("webhook_id", "=", webhookId)
      .orderBy("failed_at", "desc")
      .orderBy("id")
    return selectPage(this.#session, query, page, letterOf)
  }

  async redelivering(limit: number): Promise<readonly DeadLetter[]> {
    return (await this.#session.queryMany(lettersAskedFor, { limit })).map(letterOf)
  }

  async saveLetter(letter: DeadLetter): Promise<void> {
    const row: WebhookDeadLetterRow = {
      webhook_id: letter.webhookId,
      id: letter.id,
      event_id: letter.eventId,
      kind: letter.kind,
      document: letter.document,
      attempts: letter.attempts,
      last_error: letter.lastError,
      failed_at: letter.failedAt,
      redelivering: letter.redelivering ? 1 : 0,
    }
    const { id: _, ...changes } = row
    await this.#session.execute(
      this.#session.db
        .insertInto("webhook_dead_letters")
        .values(row)
        .onConflict((known) => known.column("id").doUpdateSet(changes)),
    )
  }

  async removeLetter(webhookId: string, id: string): Promise<void> {
    await this.#session.execute(
      this.#session.db.deleteFrom("webhook_dead_letters").where("webhook_id", "=", webhookId).where("id", "=", id),
    )
  }

  async hasLettersBefore(instant: Instant): Promise<boolean> {
    return (await this.#session.queryOne(letterBefore, { instant })) !== undefined
  }

  sweepLetters(before: Instant, limit: number): Promise<number> {
    return this.#session.execute(forgetLetters, { before, limit })
  }

  #seal(id: string, secret: string): Uint8Array {
    return this.#sealer.seal(sealPaths.webhookSecret(id), Buffer.from(secret))
  }
}

const columns = [
  "id",
  "organization_id",
  "name",
  "url",
  "enabled",
  "disabled_reason",
  "filter",
  "cursor_transaction",
  "cursor_number",
  "pending_transaction",
  "pending_number",
  "pending_attempts",
  "pending_at",
  "dead_in_a_row",
  "last_delivered_at",
  "last_error",
  "failing_since",
  "created_at",
] as const

const letterColumns = [
  "webhook_id",
  "id",
  "event_id",
  "kind",
  "document",
  "attempts",
  "last_error",
  "failed_at",
  "redelivering",
] as const

type Filter = Pick<WebhookSettings, "kinds" | "workspaces" | "tags">

function rowOf(webhook: Webhook): Omit<WebhookRow, "secret_sealed"> {
  const { kinds, workspaces, tags, cursor, pending } = webhook
  const filter: Filter = { kinds, workspaces, tags }
  return {
    id: webhook.id,
    organization_id: webhook.organizationId,
    name: webhook.name,
    url: webhook.url,
    enabled: webhook.enabled ? 1 : 0,
    disabled_reason: webhook.disabledReason,
    filter: JSON.stringify(filter),
    cursor_transaction: cursor.transaction,
    cursor_number: cursor.number,
    pending_transaction: pending?.position.transaction ?? null,
    pending_number: pending?.position.number ?? null,
    pending_attempts: pending?.attempts ?? null,
    pending_at: pending?.dueAt ?? null,
    dead_in_a_row: webhook.deadInARow,
    last_delivered_at: webhook.lastDeliveredAt,
    last_error: webhook.lastError,
    failing_since: webhook.failingSince,
    created_at: webhook.createdAt,
  }
}

function webhookOf(row: Omit<WebhookRow, "secret_sealed">): Webhook {
  const {
    pending_transaction: transaction,
    pending_number: number,
    pending_attempts: attempts,
    pending_at: dueAt,
  } = row
  const isPending = transaction !== null && number !== null && attempts !== null && dueAt !== null
  return {
    id: row.id,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    url: row.url,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    ...(JSON.parse(row.filter) as Filter),
    cursor: { transaction: row.cursor_transaction, number: row.cursor_number },
    pending: isPending ? { position: { transaction, number }, attempts, dueAt } : null,
    deadInARow: row.dead_in_a_row,
    lastDeliveredAt: row.last_delivered_at,
    lastError: row.last_error,
    failingSince: row.failing_since,
    createdAt: row.created_at,
  }
}

const letterOf = (row: WebhookDeadLetterRow): DeadLetter => ({
  webhookId: row.webhook_id,
  id: row.id,
  eventId: row.event_id,
  kind: row.kind as EventKind,
  document: row.document,
  attempts: row.attempts,
  lastError: row.last_error,
  failedAt: row.failed_at,
  redelivering: row.redelivering === 1,
})

const byId = statement((db, { id }: { readonly id: string }) =>
  db.selectFrom("webhooks").select(columns).where("id", "=", id),
)

const sealedOf = statement((db, { id }: { readonly id: string }) =>
  db.selectFrom("webhooks").select("secret_sealed").where("id", "=", id),
)

const enabledBeyond = statement((db, { beyond, limit }: { readonly beyond: string; readonly limit: number }) =>
  db
    .selectFrom("webhooks")
    .select(columns)
    .where("enabled", "=", 1)
    .where("id", ">", beyond)
    .orderBy("id")
    .limit(limit),
)

const letterById = statement((db, { webhookId, id }: { readonly webhookId: string; readonly id: string }) =>
  db.selectFrom("webhook_dead_letters").select(letterColumns).where("webhook_id", "=", webhookId).where("id", "=", id),
)

const lettersAskedFor = statement((db, { limit }: { readonly limit: number }) =>
  db
    .selectFrom("webhook_dead_letters")
    .select(letterColumns)
    // A literal: with a parameter, the database cannot use the partial index on `redelivering`.
    .where("redelivering", "=", sql.lit(1))
    .limit(limit),
)

const letterBefore = statement((db, { instant }: { readonly instant: number }) =>
  db.selectFrom("webhook_dead_letters").select("id").where("failed_at", "<", instant).limit(1),
)

const forgetLetters = statement((db, { before, limit }: { readonly before: number; readonly limit: number }) =>
  db
    .deleteFrom("webhook_dead_letters")
    .where(
      "id",
      "in",
      db
        .selectFrom("webhook_dead_letters")
        .select("id")
        .where("failed_at", "<", before)
        .orderBy("failed_at")
        .limit(limit),
    ),
)
