// Adds a dead letter directly to the database: a delivery fails for hours before it becomes one, and the engine has no method for it.
import type { Storage } from "../src/core/storage.ts"
import type { ServedEngine } from "../src/engine.ts"
import type { Repositories } from "../src/storage/repositories/repositories.ts"

// Far in the future, so that no job deletes the letter as too old.
const failedAt = Date.UTC(2100, 0, 1)

/** The storage of an embedded engine. Every `ServedEngine` is an embedded engine. */
interface Embedded {
  readonly context: { readonly storage: Storage<Repositories> }
}

export async function addDeadLetter(engine: ServedEngine, webhookId: string, id: string): Promise<void> {
  const { storage } = (engine as unknown as Embedded).context
  await storage.transact(({ webhooks }) =>
    webhooks.saveLetter({
      id,
      webhookId,
      eventId: "c0-1",
      kind: "workspace.locked",
      document: '{"data":{"type":"events","id":"c0-1"}}',
      attempts: 8,
      lastError: "timeout",
      failedAt,
      redelivering: false,
    }),
  )
}
