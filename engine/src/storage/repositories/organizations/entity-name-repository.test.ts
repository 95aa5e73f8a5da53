import { sql } from "kysely"
import { describe, expect, test } from "vitest"
import type { TeamId, UserId } from "../../../core/ids.ts"
import { systemRuntime } from "../../../core/runtime.ts"
import type { User } from "../../../organizations/user.ts"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"
import { databaseKinds, temporaryDatabase } from "../../../../testing/temporary-database.ts"

const { random } = systemRuntime()

const user = (id: string, username: string): User => ({
  id: `user-${id}` as UserId,
  username,
  email: "",
  siteAdmin: false,
  serviceAccount: false,
  invited: false,
  createdAt: 2,
})

describe.each(databaseKinds.filter(({ available }) => available))("on $name", (kind) => {
  async function open() {
    const temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const storage = repositoriesOver(database, keySealer(parseKeyRing(newKeyText(random)), random), manualClock())
    return {
      database,
      storage,
      nameOf: async ({ id }: Pick<User, "id">) =>
        (await storage.read(({ entityNames }) => entityNames.find([id]))).get(id),
      [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
    }
  }

  test("[F-P14] a restored user has the old name, which other users cannot get in between", async () => {
    await using at = await open()
    const [ada, next] = [user("1", "ada"), user("2", "ADA")]
    await at.storage.transact(({ users }) => users.insert(ada))
    await at.storage.transact(({ users }) => users.remove(ada.id))
    await at.storage.transact(({ users }) => users.insert(next))
    expect(await at.nameOf(next)).toBe("ADA-2")
    await at.storage.transact(({ users }) => users.insert({ ...ada, username: "lovelace" }))
    expect(await at.nameOf(ada)).toBe("ada")
  })

  test("[F-P14] a numbered name that is a username already is skipped", async () => {
    await using at = await open()
    const users = [user("1", "bob-2"), user("2", "bob"), user("3", "x")]
    for (const one of users) await at.storage.transact((repositories) => repositories.users.insert(one))
    const fixed = await at.storage.transact(({ entityNames }) =>
      entityNames.fix({ id: "team-1" as TeamId, name: "bob" }),
    )
    expect(fixed).toBe("bob-3")
  })

  test("[F-P14] callers that fix one name at the same time get one name each", async () => {
    await using at = await open()
    const ids = Array.from({ length: 8 }, (_, index) => `user-${index % 4}` as UserId)
    const names = await Promise.all(
      ids.map((id) => at.storage.transact(({ entityNames }) => entityNames.fix({ id, name: "ci" }))),
    )
    expect(new Set(names).size).toBe(4)
    expect(names.slice(0, 4)).toEqual(names.slice(4))
  })

  test("[F-P14] a user created by an earlier release is named before the username is reused", async () => {
    await using at = await open()
    const [renamed, deleted] = [user("1", "ada"), user("2", "eve")]
    for (const one of [renamed, deleted]) await at.storage.transact(({ users }) => users.insert(one))
    await at.database.transact((session) => session.execute(sql.raw("delete from entity_names")))
    await at.storage.transact(({ users }) => users.save({ ...renamed, username: "lovelace" }))
    await at.storage.transact(({ users }) => users.remove(deleted.id))
    expect([await at.nameOf(renamed), await at.nameOf(deleted)]).toEqual(["ada", "eve"])
  })
})
