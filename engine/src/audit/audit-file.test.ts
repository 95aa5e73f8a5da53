import { fdatasyncSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { AuditFile, type FileCalls } from "./audit-file.ts"

/** Counts the file calls, and fails those that the test selects. */
function fallibleCalls() {
  const calls = {
    syncs: 0,
    writes: [] as string[],
    /** Bytes that still fit; after that the disk is full. */
    room: Number.POSITIVE_INFINITY,
    brokenSync: false,
    write(descriptor: number, bytes: string | Uint8Array): number {
      const whole = Buffer.from(bytes)
      if (calls.room === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
      const fitting = whole.subarray(0, calls.room)
      calls.room -= fitting.length
      calls.writes.push(fitting.toString())
      return writeSync(descriptor, fitting)
    },
    async sync(descriptor: number): Promise<void> {
      calls.syncs += 1
      await nextTurn()
      if (calls.brokenSync) throw Object.assign(new Error("i/o error"), { code: "EIO" })
      fdatasyncSync(descriptor)
    },
  }
  return calls satisfies FileCalls
}

async function auditFile() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, "audit.log")
  const clock = manualClock()
  const timers = manualTimers(clock)
  const calls = fallibleCalls()
  const failures: unknown[] = []
  const file = new AuditFile({ path, clock, timers, calls, onFailure: (error) => void failures.push(error) })
  onTestFinished(() => file.close())
  return { path, clock, timers, calls, failures, file, text: () => readFileSync(path, "utf8") }
}

test("audit file is created with mode 600 on open or first write, and appended to", async () => {
  const { path, file, text } = await auditFile()
  expect(() => statSync(path)).toThrow("ENOENT")
  file.open()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  file.write("one\n")
  expect(text()).toBe("one\n")
  await file.close()
  const again = new AuditFile({
    path,
    clock: manualClock(),
    timers: manualTimers(manualClock()),
    onFailure: () => {},
  })
  again.write("two\n")
  await again.close()
  expect(text()).toBe("one\ntwo\n")
})

test("appended lines are written in one call before a later line", async () => {
  const { file, calls, text } = await auditFile()
  file.append("one\n")
  file.append("two\n")
  file.write("three\n")
  expect(text()).toBe("one\ntwo\nthree\n")
  expect(calls.writes).toHaveLength(1)
})

test("callers that wait share a sync: callers of one turn the same, later callers the next", async () => {
  const { file, calls } = await auditFile()
  const waiting = Array.from({ length: 50 }, (_, index) => {
    file.append(`${index}\n`)
    return file.synced()
  })
  await expect.poll(() => calls.syncs).toBe(1)
  const later = Array.from({ length: 50 }, (_, index) => {
    file.write(`late ${index}\n`)
    return file.synced()
  })
  await Promise.all([...waiting, ...later])
  expect(calls.syncs).toBe(2)
})

test("a caller waits for the running sync when it covers its lines, and for none when all lines are synced", async () => {
  const { file, calls } = await auditFile()
  await file.synced()
  expect(calls.syncs).toBe(0)
  file.write("one\n")
  const first = file.synced()
  await nextTurn()
  let covered = false
  const second = file.synced().then(() => (covered = true))
  expect(covered).toBe(false)
  await Promise.all([first, second])
  expect(calls.syncs).toBe(1)
  await file.synced()
  expect(calls.syncs).toBe(1)
})

test("lines without a waiting caller are on disk after a quarter of a second", async () => {
  const { file, calls, timers, text } = await auditFile()
  file.append("one\n")
  expect(() => text()).toThrow("ENOENT")
  await timers.advance(250)
  await file.synced()
  expect([text(), calls.syncs, timers.pendingCount]).toEqual(["one\n", 1, 0])
  file.write("two\n")
  await timers.advance(250)
  await file.synced()
  expect(calls.syncs).toBe(2)
})

test("audit file buffers a bounded number of bytes", async () => {
  const { file, text } = await auditFile()
  const line = `${"x".repeat(1_023)}\n`
  for (let count = 0; count < 64; count += 1) file.append(line)
  expect(text()).toHaveLength(65_536)
})

test("audit file rejects a line and ends the partial line when the disk is full, and continues when there is space", async () => {
  const { file, calls, failures, text } = await auditFile()
  file.write("one\n")
  calls.room = 3
  expect(() => file.write("second\n")).toThrow("no space left")
  expect(() => file.write("third\n")).toThrow("no space left")
  expect([file.failureCount, failures.length]).toEqual([2, 2])
  calls.room = Number.POSITIVE_INFINITY
  file.write("fourth\n")
  await file.synced()
  expect(text()).toBe("one\nsec\nfourth\n")
})

test("a short write is continued", async () => {
  const { file, calls, text, failures } = await auditFile()
  const write = calls.write.bind(calls)
  calls.write = (descriptor, bytes) => write(descriptor, Buffer.from(bytes).subarray(0, 2))
  file.write("äöü\n")
  expect([text(), failures]).toEqual(["äöü\n", []])
})

test("appended lines that cannot be written fail waiting callers and are counted", async () => {
  const { file, calls } = await auditFile()
  file.open()
  calls.room = 0
  file.append("one\n")
  await expect(file.synced()).rejects.toThrow("no space left")
  expect(file.failureCount).toBe(1)
  calls.room = Number.POSITIVE_INFINITY
  await file.synced()
  expect(file.failureCount).toBe(1)
})

test("a failed sync fails all waiting callers, and the next sync reopens the file", async () => {
  const { file, calls, text } = await auditFile()
  calls.brokenSync = true
  file.write("one\n")
  const outcomes = await Promise.allSettled([file.synced(), file.synced()])
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect(file.failureCount).toBe(1)
  calls.brokenSync = false
  file.write("two\n")
  await file.synced()
  expect(text()).toBe("one\ntwo\n")
})

test("audit file is reopened within a second without a signal when it was moved; the old file has its last lines", async () => {
  const { path, clock, file, text } = await auditFile()
  file.write("one\n")
  await file.synced()
  renameSync(path, `${path}.1`)
  file.write("two\n")
  await file.synced()
  clock.advance(1_000)
  file.write("three\n")
  await file.synced()
  file.write("four\n")
  await file.synced()
  expect(readFileSync(`${path}.1`, "utf8")).toBe("one\ntwo\nthree\n")
  expect(text()).toBe("four\n")
})

test("audit file reopens at once on request, and syncs the old file", async () => {
  const { path, file, calls, text } = await auditFile()
  file.write("one\n")
  renameSync(path, `${path}.1`)
  file.leave()
  file.write("two\n")
  await file.synced()
  expect([readFileSync(`${path}.1`, "utf8"), text(), calls.syncs]).toEqual(["one\n", "two\n", 2])
})

test("audit file continues when its file was truncated or removed", async () => {
  const { path, file, clock, text } = await auditFile()
  file.write("one\n")
  await file.synced()
  writeFileSync(path, "")
  file.write("two\n")
  await file.synced()
  expect(text()).toBe("two\n")
  rmSync(path)
  clock.advance(1_000)
  file.write("lost with its file\n")
  await file.synced()
  file.write("three\n")
  expect(text()).toBe("three\n")
})

test("audit file does not sync a device", async () => {
  const { clock, timers } = await auditFile()
  const calls = fallibleCalls()
  const file = new AuditFile({ path: "/dev/null", clock, timers, calls, onFailure: () => {} })
  file.write("one\n")
  await file.synced()
  expect(calls.syncs).toBe(0)
  await file.close()
})

test("audit file rejects every line until its file can be opened", async () => {
  const { path, clock, timers } = await auditFile()
  const missing = join(path, "..", "folder", "audit.log")
  const file = new AuditFile({ path: missing, clock, timers, onFailure: () => {} })
  expect(() => file.open()).toThrow("ENOENT")
  expect(() => file.write("one\n")).toThrow("ENOENT")
  await file.close()
})
