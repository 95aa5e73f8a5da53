// Bulk actions, each repeated with an idempotency key until an answer arrives: it is executed once for every workspace.
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import type { OwnPostgres } from "../../toolchain/postgres.ts"
import type { Load, ReplicaClient } from "./client.ts"
import { newWorkspace, workspaces } from "./workspace-load.ts"

const workspaceCount = 30
const betweenActionsMs = 200

export class BulkLoad implements Load {
  readonly #client: ReplicaClient
  readonly #postgres: OwnPostgres
  readonly #ids: string[] = []
  #rounds = 0

  constructor(client: ReplicaClient, postgres: OwnPostgres) {
    this.#client = client
    this.#postgres = postgres
  }

  async prepare(): Promise<void> {
    for (let index = 0; index < workspaceCount; index += 1) {
      const made = await this.#client.change("POST", workspaces, newWorkspace(`many-${index}`, {}, ["many"]))
      this.#ids.push(made?.body.data.id)
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const action = this.#rounds % 2 === 0 ? "lock" : "unlock"
      const { status, body } = await this.#client.sendUntilAnswered(
        "POST",
        `${workspaces}/actions/bulk?search[tags]=many`,
        { data: { type: "bulk-actions", attributes: { action } } },
        { headers: { "idempotency-key": `round-${this.#rounds}` } },
      )
      const attributes = body?.data?.attributes
      if (status !== 200 || attributes["done-count"] !== workspaceCount)
        this.#client.fault(`bulk ${action}: ${status} ${JSON.stringify(body).slice(0, 1_000)}`)
      this.#rounds += 1
      await sleep(betweenActionsMs)
    }
  }

  async verify(): Promise<string> {
    const rows = await this.#postgres.query(
      "select workspace_id, kind, count(*) from events where kind in ('workspace.locked', 'workspace.unlocked') group by 1, 2",
    )
    const counts = new Map(rows.map(([id, kind, count]) => [`${id} ${kind}`, Number(count)]))
    const [locks, unlocks] = [Math.ceil(this.#rounds / 2), Math.floor(this.#rounds / 2)]
    const unlike = this.#ids.filter(
      (id) =>
        (counts.get(`${id} workspace.locked`) ?? 0) !== locks ||
        (counts.get(`${id} workspace.unlocked`) ?? 0) !== unlocks,
    )
    expect(unlike).toEqual([])
    return `${this.#rounds} bulk actions on ${workspaceCount} workspaces`
  }
}
