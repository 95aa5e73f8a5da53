// An SQLite database on a full disk: writes are refused, and stored data is still served.
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { isStoreFull } from "../../core/errors.ts"
import { silentLog, systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"

interface Disk extends AsyncDisposable {
  readonly url: string
  readonly freePages?: number
}

const file = databaseKinds.find(({ name }) => name === "SQLite file")

/** Limits the number of pages, so that SQLite itself reports a full disk. */
const limited = async (): Promise<Disk> => {
  const place = await file?.place()
  if (place === undefined) throw new Error("there is no SQLite")
  return Object.assign(place, { freePages: 120 })
}

/** Mounts a separate filesystem. Not every user may do that. */
const mounted = async (): Promise<Disk> => {
  const folder = mkdtempSync(join(tmpdir(), "chancery-disk-"))
  mount(folder)
  return {
    url: `sqlite:${join(folder, "chancery.db")}`,
    async [Symbol.asyncDispose]() {
      execFileSync("umount", [folder])
      rmdirSync(folder)
    },
  }
}

const mount = (folder: string) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], { stdio: "ignore" })

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "chancery-disk-"))
  try {
    mount(folder)
    execFileSync("umount", [folder])
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const disks = [{ name: "a file that may not grow", open: limited }]
if (mayMount()) disks.push({ name: "a filesystem of 8 MiB", open: mounted })

/** Number of writes that fills either disk. */
const maxWrites = 2_000

describe.each(disks)("on $name", ({ open }) => {
  test("[F-S4] writes are rejected with 503, readiness names the cause, stored CRLs are served, and writes resume when space is free", async () => {
    await using disk = await open()
    const clock = manualClock()
    const logged: string[] = []
    const note = (event: string) => void logged.push(event)
    const runtime = { ...systemRuntime({ ...silentLog, info: note, error: note }), clock }
    await using testEngine = await populatedEngine({ ...disk, runtime, jobs: false })
    await testEngine.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await testEngine.pki("POST", "/pki/root/generate/internal", {
      body: { common_name: "Root", key_type: "ec", ttl: "700h" },
    })
    await testEngine.pki("POST", "/pki/config/crl", { body: { expiry: "72h" } })
    const list = await testEngine.pki("GET", "/pki/crl")
    expect(list.status).toBe(200)
    const id = await testEngine.workspace("web")
    const write = (key: string) => {
      const attributes = { key, value: "x".repeat(30_000), category: "env" }
      return testEngine.request("POST", `/workspaces/${id}/vars`, { body: { data: { type: "vars", attributes } } })
    }
    await testEngine.engine.ready()

    const kept: string[] = []
    let refused = await write("first")
    for (let count = 0; refused.status === 201 && count < maxWrites; count += 1) {
      kept.push(refused.body.data.id)
      refused = await write(`key-${count}`)
    }
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"])
    expect(refused.body.errors[0].detail).toBe("The disk of the database is full; free space on it or enlarge it.")
    await expect(testEngine.engine.ready()).rejects.toSatisfy(isStoreFull)
    const many = await Promise.all(Array.from({ length: 8 }, (_, index) => write(`many-${index}`)))
    expect(many.map(({ status }) => status)).toEqual(many.map(() => 503))
    expect(logged.filter((event) => event === "storage-full")).toHaveLength(1)
    expect(logged).not.toContain("request failed")

    // After the stored CRL expires, a read would build a new one, and the disk has no room for that.
    clock.advance(73 * hourMs)
    const served = await testEngine.pki("GET", "/pki/crl")
    expect(served.status).toBe(200)
    expect(served.bytes.length).toBeGreaterThan(0)
    expect((await testEngine.request("GET", `/workspaces/${id}`)).status).toBe(200)
    expect((await testEngine.request("GET", `/workspaces/${id}/vars`)).body.data).toHaveLength(kept.length)
  })
})

test("[F-S4] a full file is writable again after rows are deleted, which is logged", async () => {
  await using disk = await limited()
  const logged: string[] = []
  const runtime = systemRuntime({ ...silentLog, info: (event: string) => void logged.push(event) })
  await using testEngine = await populatedEngine({ ...disk, runtime, jobs: false })
  const id = await testEngine.workspace("web")
  const write = (key: string) => {
    const attributes = { key, value: "x".repeat(30_000), category: "env" }
    return testEngine.request("POST", `/workspaces/${id}/vars`, { body: { data: { type: "vars", attributes } } })
  }
  const kept: string[] = []
  for (let count = 0; count < maxWrites; count += 1) {
    const { status, body } = await write(`key-${count}`)
    if (status !== 201) break
    kept.push(body.data.id)
  }
  await expect(testEngine.engine.ready()).rejects.toSatisfy(isStoreFull)
  for (const variable of kept)
    expect((await testEngine.request("DELETE", `/workspaces/${id}/vars/${variable}`)).status).toBe(204)
  await testEngine.engine.ready()
  expect(logged).toContain("storage-has-room")
  expect((await write("again")).status).toBe(201)
})
