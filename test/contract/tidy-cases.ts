import { describe, expect, test, vi } from "vitest"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { noTidyCounts } from "../../engine/src/pki/tidy/tidy-run.ts"
import type { OpenedEngine } from "./engines.ts"
import { refused } from "./refusals.ts"

let count = 0

export function tidyCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const path = `contract/tidy-${(count += 1)}`
    const { mounts, pki } = engine().root
    await mounts.create({ path })
    return pki(path)
  }

  describe("a tidy operation", () => {
    test("is started, observed and cancelled", async () => {
      const { tidy } = await newMount()
      const { mountUuid, ...unused } = await tidy.getStatus()
      expect(unused).toEqual({ run: undefined, lastAutomaticFinishedAt: undefined, stored: undefined })
      expect(mountUuid).toMatch(/^[0-9a-f-]{36}$/)
      expect(await tidy.start({ tidyCertStore: true, safetyBufferMs: hourMs })).toEqual([
        expect.stringContaining("successfully started"),
      ])
      await vi.waitFor(async () => expect((await tidy.getStatus()).run?.finishedAt).toBeGreaterThan(0), 10_000)
      const { run } = await tidy.getStatus()
      expect(run).toMatchObject({
        state: "finished",
        counts: noTidyCounts,
        message: null,
        error: null,
        options: {
          tidyCertStore: true,
          tidyAcme: false,
          safetyBufferMs: hourMs,
          revokedSafetyBufferMs: hourMs,
          pageSize: 1_000,
        },
      })
      expect(run?.finishedAt).toBeGreaterThanOrEqual(run?.startedAt ?? Infinity)
      const { status, warnings } = await tidy.cancel()
      expect(status.run).toEqual(run)
      expect(warnings).toEqual([expect.stringContaining("cannot be cancelled")])
      await expect(tidy.start({ safetyBufferMs: 0, pageSize: -1 })).rejects.toMatchObject(
        refused("invalid", ["safetyBufferMs"], ["pageSize"]),
      )
    })

    test("runs on schedule when configured", async () => {
      const { tidy } = await newMount()
      const before = await tidy.getAutomatic()
      expect(before).toMatchObject({ enabled: false, intervalDurationMs: 12 * hourMs, pauseDurationMs: 0 })
      const changes = { enabled: true, tidyExpiredIssuers: true, issuerSafetyBufferMs: dayMs, pauseDurationMs: 1_500 }
      expect(await tidy.changeAutomatic(changes)).toEqual({ ...before, ...changes })
      expect(await tidy.getAutomatic()).toEqual({ ...before, ...changes })
      await expect(tidy.changeAutomatic({ tidyExpiredIssuers: false })).rejects.toMatchObject(
        refused("invalid", ["enabled"]),
      )
    })
  })
}
