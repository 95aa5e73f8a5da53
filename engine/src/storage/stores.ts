import type { Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import { AccessRows } from "./access-rows.ts"
import type { Database } from "./database.ts"
import { IdentityRows } from "./identity-rows.ts"
import type { Session } from "./session.ts"
import { WorkspaceRows } from "./workspace-rows.ts"

/** The stores of one unit of work; each is made when it is first used. */
class SessionStores implements Stores {
  readonly #session: Session
  readonly #made = new Map<keyof Stores, unknown>()

  constructor(session: Session) {
    this.#session = session
  }

  get identity() {
    return this.#once("identity", IdentityRows)
  }
  get access() {
    return this.#once("access", AccessRows)
  }
  get workspaces() {
    return this.#once("workspaces", WorkspaceRows)
  }

  #once<T>(name: keyof Stores, Rows: new (session: Session) => T): T {
    const made = this.#made.get(name) as T | undefined
    if (made !== undefined) return made
    const rows = new Rows(this.#session)
    this.#made.set(name, rows)
    return rows
  }
}

export const storesOver = (database: Database): Storage<Stores> => ({
  read: (work) => database.read((session) => work(new SessionStores(session))),
  transact: (work) => database.transact((session) => work(new SessionStores(session))),
})
