import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

/** Runs one command. If `prepared`, another command has created the database before. */
async function chancery(words: readonly string[], input = "", prepared = false) {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  let out = ""
  let stderr = ""
  const terminal: Terminal = {
    out: (text) => void (out += `${text}\n`),
    say: (text) => void (stderr += `${text}\n`),
    input: async () => input,
    environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
  }
  if (prepared) await run(["mount", "create", "pki"], { ...terminal, out: () => undefined })
  const code = await run(words, terminal)
  await rm(data, { recursive: true })
  return { code, out, stderr: stderr.replaceAll(data, "DATA") }
}

test.each([
  {
    words: ["token", "create"],
    code: 64,
    stderr: "Give exactly one of --user, --team, --organization and --agent-pool.",
  },
  {
    words: ["token", "create", "--user", "root", "--team", "a/b"],
    code: 64,
    stderr: "Give exactly one of --user, --team, --organization and --agent-pool.",
  },
  {
    words: ["token", "create", "--team", "owners"],
    code: 64,
    stderr: "--team must contain the organization and the team, such as acme/owners.",
  },
  {
    words: ["token", "create", "--user", "root", "--expires", "soon"],
    code: 64,
    stderr: '--expires cannot be "soon"; it must be a duration, such as 12h or 90d.',
  },
  { words: ["token", "create", "--user", "nobody"], code: 1, stderr: "There is no user nobody." },
  { words: ["token", "create", "--team", "acme/owners"], code: 1, stderr: "There is no team acme/owners." },
  { words: ["token", "create", "--organization", "acme"], code: 1, stderr: "There is no organization acme." },
  {
    words: ["token", "revoke", "at-none"],
    code: 1,
    stderr: "No token has the id at-none; run chancery token list to see the ids.",
  },
  { words: ["organization", "create", "a b", "--email", "a@example.com"], code: 1, stderr: "Name " },
  {
    words: ["backup", "out", "--storage", "postgres://u:hunter2@db/x"],
    code: 78,
    stderr:
      "The store postgres://u@db/x is not a file; back up and restore a PostgreSQL database with pg_dump and pg_restore.",
  },
  { words: ["backup", "out"], code: 1, stderr: "No database exists at DATA/chancery.db." },
  { words: ["restore", "absent"], code: 1, stderr: "No backup exists at absent." },
  {
    words: ["organization", "create", "acme", "--email", "a@example.com", "--seal-key-file", "absent"],
    code: 78,
    stderr:
      "The seal key file absent cannot be read; check that it exists, and check --seal-key-file or CHANCERY_SEAL_KEY_FILE.",
  },
])("chancery $words ends with exit code $code: $stderr", async ({ words, code, stderr }) => {
  const ended = await chancery(words)
  expect(ended).toMatchObject({ code, out: "", stderr: expect.stringContaining(`chancery: ${stderr}`) as string })
})

test("a new store has one user and no organization", async () => {
  expect(await chancery(["organization", "list", "--json"], "", true)).toEqual({ code: 0, out: "[]\n", stderr: "" })
  expect(await chancery(["token", "list", "--user", "root"], "", true)).toEqual({
    code: 0,
    out: "ID  CREATED  EXPIRES  LAST USED  DESCRIPTION\n",
    stderr: "",
  })
})

test("an invalid name is rejected with the rule", async () => {
  const { code, stderr } = await chancery(["organization", "create", "a b", "--email", "nobody"])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^chancery: Name .*; Email is invalid\n$/)
})

test("a text is hashed alike from the command line and from standard input, and differently in every store", async () => {
  const { code, out } = await chancery(["audit", "hash", "web.example.com"], "", true)
  expect([code, out]).toEqual([0, expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}\n$/)])
  const elsewhere = await chancery(["audit", "hash", "-"], "web.example.com\n", true)
  expect(elsewhere.code).toBe(0)
  expect(elsewhere.out).not.toBe(out)
  expect(await chancery(["audit", "hash", "-"], "\n")).toMatchObject({ code: 64 })
})
