import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { dayMs } from "../core/time.ts"
import { openEmbedded } from "../embedded.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

test("[F-P17] certificates of every mount are searched, and printed as a table, JSON or CSV", async () => {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  let drains = 0
  const chancery = async (...words: readonly string[]) => {
    let [out, stderr] = ["", ""]
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      drained: async () => void (drains += 1),
      input: async () => "",
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    return { code: await run(["certificate", "search", ...words], terminal), out, stderr }
  }
  for (const mount of ["one", "two"])
    expect(
      await run(["mount", "create", mount], {
        out() {},
        say() {},
        input: async () => "",
        environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
      }),
    ).toBe(0)
  {
    await using engine = await openEmbedded(`sqlite://${join(data, "chancery.db")}`)
    for (const mount of ["one", "two"]) {
      const { issuers, roles, certificates } = engine.pki(mount)
      await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
      await roles.save("web", { allowAnyName: true, keyType: "ec" })
      for (const [commonName, ttlMs] of [
        ["near.test", dayMs],
        ["far.test", 20 * dayMs],
      ] as const)
        await certificates.issue("web", { commonName, ttlMs })
    }
  }
  const table = await chancery("--expires-before", "2d", "--status", "valid,expired")
  expect([table.code, table.stderr]).toEqual([0, ""])
  expect(table.out.replaceAll(/ +/g, " ").split("\n")).toEqual([
    "MOUNT SERIAL NUMBER NAME ROLE STATUS EXPIRES",
    expect.stringMatching(/^one [0-9a-f:]+ near\.test web valid \S+Z$/),
    expect.stringMatching(/^two [0-9a-f:]+ near\.test web valid \S+Z$/),
    "",
  ])
  const shown = await chancery("--json", "--mount", "two", "--role", "web", "--expires-after", "-1d")
  expect(JSON.parse(shown.out)).toMatchObject([
    { mount: "two", common_name: "near.test", revoked_at: null },
    { mount: "two", names: ["far.test"], status: "valid" },
  ])
  const csv = await chancery("--csv", "--name", "far.test")
  expect(csv.out.split("\r\n")).toEqual([
    expect.stringMatching(/^mount,serial_number,/),
    expect.stringMatching(/^one\/,/),
    expect.stringMatching(/^two\/,/),
    "",
  ])
  expect(drains).toBeGreaterThan(0)
  const cut = await chancery("--limit", "3", "--json")
  expect([JSON.parse(cut.out).length, cut.stderr]).toEqual([3, expect.stringContaining("More certificates match")])
  expect((await chancery("--limit", "6", "--json")).stderr).toBe("")
  expect((await chancery("--limit", "1", "--csv", "--mount", "one")).stderr).toContain("More certificates match")
  for (const [words, sentence] of [
    [["--expires-before", "soon"], "--expires-before must be a time"],
    [["--status", "good"], "--status must be a comma-separated list of valid, expired and revoked."],
    [["--limit", "0"], "--limit must be a whole number above zero."],
    [["--csv", "--json"], "Give one of --csv and --json."],
  ] as const)
    expect(await chancery(...words)).toMatchObject({ code: 64, stderr: expect.stringContaining(sentence) })
})
