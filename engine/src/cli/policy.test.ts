import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

const webPolicy = 'path "pki/issue/web" { capabilities = ["update"] }\n'

/** Runs commands on one database, one after another. */
async function shop() {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const file = join(data, "web.hcl")
  await writeFile(file, webPolicy)
  const chancery = async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => webPolicy,
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    const code = await run(words, terminal)
    return { code, out, stderr }
  }
  return { chancery, file }
}

test("a policy is written, read, attached, detached and deleted", async () => {
  const { chancery, file } = await shop()
  expect(await chancery("policy", "write", "Web", file)).toEqual({
    code: 0,
    out: "",
    stderr: "Wrote the policy Web.\n",
  })
  expect((await chancery("policy", "list")).out).toBe("default\nroot\nweb\n")
  expect((await chancery("policy", "read", "web")).out).toBe(webPolicy)
  await chancery("organization", "create", "acme", "--email", "a@example.com")
  const made = JSON.parse((await chancery("token", "create", "--user", "root", "--json")).out) as { id: string }
  for (const holder of [
    ["--user", "root"],
    ["--team", "acme/owners"],
    ["--token", made.id],
  ]) {
    expect(await chancery("policy", "attach", "web", ...holder)).toMatchObject({ code: 0 })
    expect((await chancery("policy", "list", ...holder, "--json")).out).toBe('[\n  "web"\n]\n')
    expect(await chancery("policy", "detach", "web", ...holder)).toMatchObject({ code: 0 })
    expect((await chancery("policy", "list", ...holder)).out).toBe("")
  }
  expect((await chancery("policy", "write", "again", "-")).code).toBe(0)
  expect((await chancery("policy", "read", "again")).out).toBe(webPolicy)
  expect(await chancery("policy", "delete", "web")).toMatchObject({ code: 0 })
  expect(await chancery("policy", "read", "web")).toMatchObject({
    code: 1,
    stderr: 'chancery: policy "web" does not exist\n',
  })
})

test("a service token is created with policies, listed without its secret, and revoked", async () => {
  const { chancery, file } = await shop()
  await chancery("policy", "write", "web", file)
  const words = ["token", "create", "--policy", "web", "--policy", "default", "--description", "ci", "--uses", "7"]
  const created = await chancery(...words, "--expires", "12h")
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^chy_\S{43}\n$/) as string })
  expect(created.stderr).toMatch(
    /^Service token at-\w{16} with default, web expires at .*Z\. It is shown only this once:\n$/,
  )
  const listed = await chancery("token", "list", "--service", "--json")
  expect(listed.out).not.toContain(created.out.trim())
  const [token] = JSON.parse(listed.out) as { id: string }[]
  expect(token).toMatchObject({ name: "token-ci", policies: ["default", "web"], orphan: true, usesLeft: 7 })
  expect((await chancery("token", "list", "--service")).out).toMatch(/ 7 +default,web +token-ci$/m)
  expect((await chancery("token", "revoke", token?.id ?? "")).code).toBe(0)
  expect((await chancery("token", "list", "--service", "--json")).out).toBe("[]\n")

  const root = await chancery("token", "create", "--policy", "root", "--json")
  expect(JSON.parse(root.out)).toMatchObject({ policies: ["root"], expiresAt: null, usesLeft: null })
  const long = await chancery("token", "create", "--policy", "web", "--expires", "999h")
  expect(long.stderr).toContain('TTL of "3596400s" exceeded the effective max_ttl of "2764800s"')
})

test.each([
  { words: ["policy", "write", "x", "absent"], code: 1, stderr: "The policy cannot be read from absent." },
  { words: ["policy", "delete", "default"], code: 1, stderr: "the policy default cannot be deleted" },
  {
    words: ["policy", "attach", "default"],
    code: 64,
    stderr: "Give exactly one of --user, --team and --token.",
  },
  {
    words: ["policy", "list", "--user", "root", "--token", "at-1"],
    code: 64,
    stderr: "Give exactly one of --user, --team and --token.",
  },
  {
    words: ["policy", "attach", "default", "--team", "owners"],
    code: 64,
    stderr: "--team must contain the organization and the team, such as acme/owners.",
  },
  { words: ["policy", "attach", "default", "--user", "nobody"], code: 1, stderr: 'user "nobody" does not exist' },
  {
    words: ["token", "create", "--policy", "default", "--user", "root"],
    code: 64,
    stderr: "Service tokens have no owner; omit --user, --team, --organization and --agent-pool with --policy.",
  },
  {
    words: ["token", "list", "--service", "--organization", "acme"],
    code: 64,
    stderr: "Service tokens have no owner; omit --user, --team, --organization and --agent-pool with --service.",
  },
  {
    words: ["token", "create", "--user", "root", "--uses", "3"],
    code: 64,
    stderr: "--uses is only for service tokens; give a --policy too.",
  },
  {
    words: ["token", "create", "--policy", "default", "--uses", "0"],
    code: 64,
    stderr: '--uses cannot be "0"; it must be a whole number of at least 1.',
  },
  { words: ["token", "create", "--policy", "none"], code: 1, stderr: 'policies contains "none", which does not exist' },
])("chancery $words ends with exit code $code: $stderr", async ({ words, code, stderr }) => {
  const { chancery } = await shop()
  expect(await chancery(...words)).toEqual({ code, out: "", stderr: `chancery: ${stderr}\n` })
})
