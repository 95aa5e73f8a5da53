import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { openConnection } from "./sqlite-connection.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

test("rows equal those of the driver, also after a column was added to the table", async () => {
  const { random, log } = systemRuntime()
  const connection = await openConnection(":memory:", "writer", { random, log, stopwatch: () => 0 })
  try {
    connection.command("create table things (id integer primary key, name text, octets blob)")
    connection.change("insert into things values (?, ?, ?), (?, ?, ?)", [1, "one", Buffer.from([1, 0]), 2, null, null])
    const everything = "select * from things order by id"
    expect(connection.all(everything, [])).toEqual([
      { id: 1, name: "one", octets: new Uint8Array([1, 0]) },
      { id: 2, name: null, octets: null },
    ])
    expect(connection.first("select * from things where id = ?", [2])).toEqual({ id: 2, name: null, octets: null })
    expect(connection.first("select * from things where id = ?", [3])).toBeUndefined()
    connection.command("alter table things add column more text default 'x'")
    expect(connection.all(everything, [])).toMatchObject([{ octets: new Uint8Array([1, 0]), more: "x" }, { more: "x" }])
    expect(connection.first("select * from things where id = ?", [2])).toMatchObject({ id: 2, octets: null, more: "x" })
  } finally {
    connection.close()
  }
})

test("a file that cannot have a write-ahead log is rejected on open", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  try {
    const { random, log } = systemRuntime()
    const open = (query: string) =>
      openConnection(`file:${folder}/chancery.db${query}`, "writer", { random, log, stopwatch: () => 0 })
    // The unix-dotfile VFS has no shared memory, like filesystems without working locks.
    await expect(open("?vfs=unix-dotfile")).rejects.toThrow(UnusableStore)
    const connection = await open("")
    connection.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
