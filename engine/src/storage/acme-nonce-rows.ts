import type { AcmeNonceRepository } from "../acme/acme-store.ts"
import { endOfNonces } from "../acme/nonce.ts"
import type { Instant } from "../core/time.ts"
import { type QueryRunner, statement } from "./session.ts"

export class SqlAcmeNonceRepository implements AcmeNonceRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async redeem(digest: Uint8Array, expiresAt: Instant): Promise<boolean> {
    return (await this.#session.execute(insertNonce, { digest, expiresAt })) > 0
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forgetNonces, { end: endOfNonces(now), limit })
  }
}

// Servers of the release before, which may still be running, sweep by the time in a column of its own.
const insertNonce = statement((db, { digest, expiresAt }: { digest: Uint8Array; expiresAt: number }) =>
  db
    .insertInto("acme_nonces")
    .values({ digest, expires_at: expiresAt })
    .onConflict((used) => used.column("digest").doNothing()),
)

const forgetNonces = statement((db, { end, limit }: { end: Uint8Array; limit: number }) =>
  db
    .deleteFrom("acme_nonces")
    .where(
      "digest",
      "in",
      db.selectFrom("acme_nonces").select("digest").where("digest", "<", end).orderBy("digest").limit(limit),
    ),
)
