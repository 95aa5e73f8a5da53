// Concurrent changes of issuers by several servers on one database.
import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { foreignRoot } from "../../../testing/issuing-mount.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const ec = { keyType: "ec" } as const
const serverCount = 3
/** A database in memory cannot be shared by servers. */
const sharedKinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(sharedKinds)("on $name", (kind) => {
  async function servers() {
    const closing = new AsyncDisposableStack()
    const place = closing.use(await kind.place())
    const worlds = []
    for (let at = 0; at < serverCount; at += 1) worlds.push(closing.use(await openTestEngine({ url: place.url })))
    await worlds[0]?.engine.mounts.create({ path: "pki" })
    return {
      all: worlds.map(({ engine }) => engine.pki("pki")),
      [Symbol.asyncDispose]: () => closing.disposeAsync(),
    }
  }

  test("one of several roots gets a name, and the others are rejected because it is in use", async () => {
    await using mount = await servers()
    const requests = mount.all.map(({ issuers }, at) =>
      issuers.generateRoot({ ...ec, commonName: `Root ${at}`, issuerName: "root" }),
    )
    const outcomes = await Promise.allSettled(requests)
    const refusals = outcomes.filter(({ status }) => status === "rejected")
    expect(refusals).toHaveLength(serverCount - 1)
    for (const { reason } of refusals as PromiseRejectedResult[]) {
      expect(isEngineError(reason)).toBe(true)
      expect(reason).toMatchObject({ faults: [{ field: ["issuerName"], detail: "issuer name already in use" }] })
    }
    const lists = await Promise.all(mount.all.map(({ issuers }) => issuers.list()))
    for (const list of lists) expect(list).toMatchObject([{ name: "root", isDefault: true }])
    expect(await mount.all[0]?.keys.list()).toHaveLength(1)
  })

  test("a bundle that several clients import is stored once with its key", async () => {
    await using mount = await servers()
    const { key, certificate } = foreignRoot()
    const imported = await Promise.all(mount.all.map(({ issuers }) => issuers.import(`${key}${certificate}`)))
    expect(imported.flatMap(({ importedIssuers }) => importedIssuers)).toHaveLength(1)
    expect(new Set(imported.flatMap(({ mapping }) => [...mapping]).map(String)).size).toBe(1)
    expect(await mount.all[0]?.issuers.list()).toMatchObject([{ isDefault: true, keyId: expect.any(String) }])
  })

  test("a certificate or key that several clients import is stored once, and all requests succeed", async () => {
    await using mount = await servers()
    const { key, certificate } = foreignRoot()
    const bundles = await Promise.all(mount.all.map(({ issuers }) => issuers.import(certificate)))
    expect(bundles.flatMap(({ importedIssuers }) => importedIssuers)).toHaveLength(1)
    const saved = await Promise.all(mount.all.map(({ keys }) => keys.import(key)))
    expect(new Set(saved.map(({ id }) => id)).size).toBe(1)
    expect(await mount.all[0]?.issuers.list()).toMatchObject([{ isDefault: true, keyId: saved[0]?.id }])
  })

  test("a key is either deleted or used, never both", async () => {
    await using mount = await servers()
    const [first, second] = mount.all
    for (let round = 0; round < 5; round += 1) {
      const key = await first?.keys.generate({ ...ec, keyName: `key-${round}` })
      const [made, deleted] = await Promise.allSettled([
        first?.issuers.generateRoot({ commonName: "Root", keySource: "existing", keyRef: `key-${round}` }),
        second?.keys.delete(`key-${round}`),
      ])
      const used = (await first?.issuers.list())?.some(({ keyId }) => keyId === key?.id)
      expect([made?.status, deleted?.status]).toEqual(
        used === true ? ["fulfilled", "rejected"] : ["rejected", "fulfilled"],
      )
    }
  })
})
