import { describe, expect, test } from "vitest"
import { isEngineError } from "../../../core/errors.ts"
import { MountDirectory } from "../../../pki/mounts/mount-directory.ts"
import { initialMountConfig, initialMountTraits, type Mount } from "../../../pki/mounts/mount.ts"
import { currentCacheVersions } from "../../sql/cache-versions.ts"
import { SqlMountRepository } from "./mount-repository.ts"
import { databaseKinds, temporaryDatabase } from "../../../../testing/temporary-database.ts"

const mountAt = (path: string): Mount => ({
  id: `mnt-${path}` as Mount["id"],
  path,
  type: "pki",
  description: "as described",
  config: { ...initialMountConfig, maxLeaseTtlMs: 3_600_000, allowedResponseHeaders: ["Link"] },
  traits: { local: true, sealWrap: false, externalEntropyAccess: true },
  options: { team: "web" },
  accessor: `pki_${path}`,
  uuid: `uuid-${path}`,
  createdAt: 1_790_000_000_123,
})

describe.each(databaseKinds.filter(({ available }) => available))("mounts on $name", (kind) => {
  test("are stored as given, listed by path, changed and removed", async () => {
    await using temporary = await temporaryDatabase(kind)
    const change = <T>(work: (mounts: SqlMountRepository) => Promise<T>) =>
      temporary.database.transact((session) => work(new SqlMountRepository(session)))
    await change(async (mounts) => {
      for (const path of ["pki", "Pki", "a/b"]) await mounts.insert(mountAt(path))
    })
    expect(await change((mounts) => mounts.list())).toEqual(["Pki", "a/b", "pki"].map(mountAt))
    const moved = { ...mountAt("pki"), path: "elsewhere", description: "moved" }
    await change((mounts) => mounts.save(moved))
    await change((mounts) => mounts.remove(mountAt("Pki").id))
    expect(await change((mounts) => mounts.list())).toEqual([mountAt("a/b"), moved])
  })

  test("of earlier releases have no traits and options", async () => {
    await using temporary = await temporaryDatabase(kind)
    const config = JSON.stringify(mountAt("pki").config)
    await temporary.database.transact(async (session) => {
      await new SqlMountRepository(session).insert(mountAt("pki"))
      await session.execute(session.db.updateTable("mounts").set({ config }))
    })
    const listed = await temporary.database.read((session) => new SqlMountRepository(session).list())
    expect(listed).toEqual([{ ...mountAt("pki"), traits: initialMountTraits, options: {} }])
  })

  test("have unique paths", async () => {
    await using temporary = await temporaryDatabase(kind)
    const insert = (mount: Mount) =>
      temporary.database
        .transact((session) => new SqlMountRepository(session).insert(mount))
        .catch((error: unknown) => error)
    await insert(mountAt("pki"))
    const refusal = await insert({ ...mountAt("pki"), id: "mnt-2" as Mount["id"], accessor: "x", uuid: "y" })
    expect(isEngineError(refusal, "conflict")).toBe(true)
  })

  test("are read again on every replica only after one has changed", async () => {
    await using temporary = await temporaryDatabase(kind)
    let lists = 0
    const counted = (rows: SqlMountRepository) => ({
      mounts: Object.assign(rows, {
        list: () => {
          lists += 1
          return SqlMountRepository.prototype.list.call(rows)
        },
      }),
    })
    const { database } = temporary
    const directory = new MountDirectory(
      {
        read: (work) => database.read((session) => work(counted(new SqlMountRepository(session)))),
        readReplica: (work) => database.readReplica((session) => work(counted(new SqlMountRepository(session)))),
        transact: (work) => database.transact((session) => work(counted(new SqlMountRepository(session)))),
      },
      currentCacheVersions(database),
    )
    const insert = (path: string) =>
      database.transact((session) => new SqlMountRepository(session).insert(mountAt(path)))

    expect((await directory.current()).resolve(["pki", "issue", "web"])).toBeUndefined()
    await insert("pki")
    expect((await directory.current()).resolve(["pki", "issue"])).toEqual({ mount: mountAt("pki"), depth: 1 })
    expect((await directory.current()).resolve(["pki"])).toEqual({ mount: mountAt("pki"), depth: 1 })
    expect(lists).toBe(2)
    await insert("team/pki")
    const table = await directory.current()
    expect(table.resolve(["team", "pki", ""])).toEqual({ mount: mountAt("team/pki"), depth: 2 })
    expect(table.resolve(["team", "pk"])).toBeUndefined()
    expect(table.resolve(["team"])).toBeUndefined()
    expect(table.resolve([])).toBeUndefined()
    expect(table.resolve(Array.from({ length: 1_000 }, () => "a"))).toBeUndefined()
    expect(table.at("/team/pki/").path).toBe("team/pki")
    expect(() => table.at("nowhere")).toThrow('no handler for route "nowhere". route entry not found.')
    expect(lists).toBe(3)
  })

  test("of a rolled-back transaction are never visible", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const directory = new MountDirectory(
      {
        read: (work) => database.read((session) => work({ mounts: new SqlMountRepository(session) })),
        readReplica: (work) => database.readReplica((session) => work({ mounts: new SqlMountRepository(session) })),
        transact: (work) => database.transact((session) => work({ mounts: new SqlMountRepository(session) })),
      },
      currentCacheVersions(database),
    )
    await directory.current()
    const given = database.transact(async (session) => {
      const mounts = new SqlMountRepository(session)
      await mounts.insert(mountAt("lost"))
      expect((await directory.within({ mounts })).at("lost").path).toBe("lost")
      throw new Error("given up")
    })
    await expect(given).rejects.toThrow("given up")
    await database.transact((session) => new SqlMountRepository(session).insert(mountAt("kept")))
    const table = await directory.current()
    expect(table.at("kept").path).toBe("kept")
    expect(() => table.at("lost")).toThrow("route entry not found")
  })
})
