import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

/** Runs commands on one database, one after another. */
async function shop() {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  return async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    return { code: await run(["mount", ...words], terminal), out, stderr }
  }
}

test("a mount is created, listed, tuned and deleted", async () => {
  const mount = await shop()
  const created = await mount("create", "team/pki/", "--description", "Leaves", "--max-lease-ttl", "8760h")
  expect(created).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Mounted team\/pki\/ \(pki_[0-9a-f]{8}\)\.\n$/),
  })
  expect(JSON.parse((await mount("create", "pki", "--json")).out)).toMatchObject({
    path: "pki",
    defaultLeaseTtl: "768h",
    maxLeaseTtl: "768h",
  })
  expect((await mount("list")).out).toMatch(
    /^PATH +ACCESSOR +DEFAULT TTL +MAXIMUM TTL +DESCRIPTION\npki\/ .*\nteam\/pki\/ +pki_\S+ +768h +8760h +Leaves\n$/,
  )
  const headers = "Location, Replay-Nonce,Link"
  const tuned = await mount(
    ...["tune", "team/pki", "--default-lease-ttl", "90d", "--allowed-response-headers", headers],
    ...["--passthrough-request-headers", "If-Modified-Since", "--listing-visibility", "unauth"],
  )
  expect(JSON.parse(tuned.out)).toMatchObject({
    path: "team/pki",
    description: "Leaves",
    defaultLeaseTtl: "2160h",
    maxLeaseTtl: "8760h",
    allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"],
    passthroughRequestHeaders: ["If-Modified-Since"],
    listingVisibility: "unauth",
  })
  const reset = await mount("tune", "team/pki", "--default-lease-ttl", "system")
  expect(JSON.parse(reset.out)).toMatchObject({ defaultLeaseTtl: "768h", maxLeaseTtl: "8760h" })
  expect(await mount("delete", "team/pki/")).toMatchObject({
    code: 0,
    stderr: "The mount team/pki/ is deleted.\n",
  })
  expect(JSON.parse((await mount("list", "--json")).out)).toMatchObject([{ path: "pki" }])
})

test("errors are one sentence", async () => {
  const mount = await shop()
  await mount("create", "pki")
  const cases = [
    [["create", "pki"], 1, "path is already in use at pki/"],
    [["create", "sys/pki"], 1, 'path must not begin with "sys/", which is reserved'],
    [
      ["tune", "pki", "--default-lease-ttl", "900h"],
      1,
      '"default_lease_ttl" must not be longer than the maximum of 2764800 seconds',
    ],
    [["tune", "absent"], 1, "No mount exists at absent; run chancery mount list to see all."],
    [["delete", "absent"], 1, "No mount exists at absent; run chancery mount list to see all."],
    [
      ["tune", "pki", "--max-lease-ttl", "long"],
      64,
      '--max-lease-ttl cannot be "long"; it must be a duration, such as 720h or 90d, or system.',
    ],
  ] as const
  for (const [words, code, sentence] of cases)
    expect(await mount(...words)).toEqual({ code, out: "", stderr: `chancery: ${sentence}\n` })
})
