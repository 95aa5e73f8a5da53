// A dead letter without hours of failing: put where the delivery would put it, beside an engine that has no method for that.
import type { Storage } from "../src/core/storage.ts"
import type { ServedEngine } from "../src/engine.ts"
import type { Repositories } from "../src/storage/repositories/repositories.ts"

// Far in the future, so that no job takes it for old.
const failedAt = Date.UTC(2100, 0, 1)

/** The store of an embedded engine; nothing else is a `ServedEngine`. */
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
