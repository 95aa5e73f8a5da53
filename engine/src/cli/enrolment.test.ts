import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { pendingEnrolment } from "../../testing/pending-enrolment.ts"
import { openEmbedded } from "../embedded.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

/** Runs commands on a database that has a mount with two pending enrolments. */
async function queue() {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const enrolment = async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    return { code: await run(words, terminal), out, stderr }
  }
  await enrolment("mount", "create", "pki")
  await using engine = await openEmbedded(`sqlite:${join(data, "chancery.db")}`, { jobs: false })
  const ids = [await pendingEnrolment(engine, "pki"), await pendingEnrolment(engine, "pki")].toSorted()
  return { enrolment: (...words: readonly string[]) => enrolment("enrolment", ...words), ids }
}

test("enrolments are listed, shown, approved and denied", async () => {
  const { enrolment, ids } = await queue()
  const [first = "", second = ""] = ids
  expect((await enrolment("list", "pki")).out).toMatch(
    new RegExp(
      `^ID +STATE +REQUESTER +SUBJECT +NAMES +CREATED +EXPIRES\n${first} +pending +userpass-printer-7 +CN=printer.example +printer.example,printer-7.example +2\\S+ +2\\S+\n${second} `,
    ),
  )
  expect(JSON.parse((await enrolment("show", "pki", first)).out)).toMatchObject({
    id: first,
    csr: expect.stringContaining("BEGIN CERTIFICATE REQUEST") as string,
    decidedAt: null,
  })
  expect(await enrolment("approve", "pki", first, "--comment", "on site")).toEqual({
    code: 0,
    out: "",
    stderr: `The enrolment ${first} is approved.\n`,
  })
  expect((await enrolment("deny", "pki", second)).stderr).toBe(`The enrolment ${second} is denied.\n`)
  expect((await enrolment("list", "pki", "--state", "pending", "--json")).out).toBe("[]\n")
  expect(JSON.parse((await enrolment("list", "pki", "--state", "approved", "--json")).out)).toMatchObject([
    { id: first, comment: "on site" },
  ])
  expect(await enrolment("deny", "pki", first)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was approved already") as string,
  })
})

test("every documented command works as written", async () => {
  const page = await readFile(new URL("../../../docs/enrolments.md", import.meta.url), "utf8")
  const written = page.split("\n").filter((line) => line.startsWith("chancery enrolment "))
  expect(written).toHaveLength(3)
  const { enrolment, ids } = await queue()
  for (const [index, line] of written.entries()) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
    const ofQueue = words.map((word) => (word.startsWith("enrol-") ? (ids[index % 2] ?? "") : word))
    expect(await enrolment(...ofQueue.slice(2))).toMatchObject({ code: 0 })
  }
  expect((await enrolment("list", "pki", "--state", "pending", "--json")).out).toBe("[]\n")
})

test("an enrolment that does not exist and an unknown state are rejected", async () => {
  const { enrolment } = await queue()
  expect(await enrolment("approve", "pki", "enrol-absent")).toMatchObject({
    code: 1,
    stderr: "chancery: This mount has no enrolment enrol-absent; run chancery enrolment list to see all.\n",
  })
  expect(await enrolment("list", "pki", "--state", "later")).toMatchObject({ code: 64 })
})
