import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { openEmbedded } from "../embedded.ts"
import { startServer } from "../server/server.ts"
import { exitCodes } from "./exit-code.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

type Road = "the store" | "a server"

async function shop(road: Road, organizations: readonly string[] = ["acme"]) {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const store = { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" }
  const command = async (environment: Terminal["environment"], ...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment,
    }
    return { code: await run(words, terminal), out, stderr }
  }
  for (const name of organizations) await command(store, "organization", "create", name, "--email", "ops@example.com")
  const engine = await openEmbedded(`sqlite:${join(data, "chancery.db")}`, { jobs: false })
  onTestFinished(() => engine[Symbol.asyncDispose]())
  let environment: Terminal["environment"] = store
  if (road === "a server") {
    const server = await startServer({ engine })
    onTestFinished(async () => void (await server.close()))
    const token = (await command(store, "token", "create", "--user", "root", "--description", "test")).out.trim()
    environment = { CHANCERY_ENGINE_URL: server.url, CHANCERY_TOKEN: token }
  }
  const workspace = (...words: readonly string[]) => command(environment, "workspace", ...words)
  return { engine, data, environment, workspace, command }
}

describe.each<Road>(["the store", "a server"])("over %s", (road) => {
  test("workspaces are listed by every filter, and shown", async () => {
    const { engine, workspace } = await shop(road)
    for (const [name, tags] of [
      ["web-prod", ["web", "prod"]],
      ["web-test", ["web"]],
      ["db-prod", ["prod"]],
    ] as const) {
      const { id } = await engine.workspaces.create("acme", { name, description: `of ${name}` })
      await engine.tags.add(
        id,
        tags.map((tag) => ({ name: tag })),
      )
    }
    const { id } = await engine.workspaces.get({ organization: "acme", name: "web-prod" })
    await engine.tags.bind(id, [{ key: "env", value: "prod" }])
    const { out } = await workspace("list")
    expect(out).toMatch(/^NAME +ID +LOCKED +RESOURCES +UPDATED +TAGS\ndb-prod +ws-\w{16} +no +0 +2\S+ +prod\n/)
    const listed = async (...filters: readonly string[]) => {
      const answer = await workspace("list", "--json", ...filters)
      expect(answer.stderr).toBe("")
      return (JSON.parse(answer.out) as { name: string }[]).map(({ name }) => name)
    }
    expect(await listed()).toEqual(["db-prod", "web-prod", "web-test"])
    expect(await listed("--search", "WEB")).toEqual(["web-prod", "web-test"])
    expect(await listed("--wildcard-name", "*-prod")).toEqual(["db-prod", "web-prod"])
    expect(await listed("--tags", "web, prod")).toEqual(["web-prod"])
    expect(await listed("--exclude-tags", "web")).toEqual(["db-prod"])
    expect(await listed("--tagged", "env=prod")).toEqual(["web-prod"])
    expect(await listed("--project", (await engine.workspaces.get({ id })).projectId, "--search", "db")).toEqual([
      "db-prod",
    ])
    expect(await listed("--run-status", "applied")).toEqual([])

    expect((await workspace("show", "web-prod")).out).toMatch(
      /^Name +web-prod\nId +ws-\w+\nOrganization +acme\nProject +prj-\w+\nDescription +of web-prod\n(.*\n)*Tags +\w+, \w+\nBindings +env=prod\nLocked +no\n/,
    )
    expect(JSON.parse((await workspace("show", id, "--json")).out)).toMatchObject({ id, name: "web-prod", lock: null })
  })

  test("a workspace is locked with a ttl, extended and unlocked, and a second lock names the holder", async () => {
    const { engine, workspace } = await shop(road)
    await engine.workspaces.create("acme", { name: "web" })
    const { stderr, code } = await workspace("lock", "web", "--reason", "deploy 7", "--ttl", "15m")
    expect(code).toBe(0)
    expect(stderr).toMatch(/^The workspace web is locked by users\/user-\w+ since 2\S+ until 2\S+ \("deploy 7"\)\.\n$/)
    const shown = JSON.parse((await workspace("show", "web", "--json")).out) as { lock: Record<string, string> }
    expect(Date.parse(shown.lock["until"] ?? "") - Date.parse(shown.lock["since"] ?? "")).toBe(900_000)
    const second = await workspace("lock", "web")
    expect(second.code).toBe(exitCodes.failure)
    expect(second.stderr).toContain("already locked by")
    const extended = JSON.parse((await workspace("extend-lock", "web", "--ttl", "1h", "--json")).out) as {
      lock: Record<string, string>
    }
    expect(Date.parse(extended.lock["until"] ?? "") - Date.parse(shown.lock["since"] ?? "")).toBeGreaterThan(3_599_000)
    expect((await workspace("unlock", "web")).stderr).toBe("The workspace web is not locked.\n")
    await workspace("lock", "web")
    expect((await workspace("unlock", "web", "--force")).stderr).toBe("The workspace web is not locked.\n")
  })

  test("tags are added, bound and removed for an owner, and listed with their owners", async () => {
    const { engine, workspace } = await shop(road)
    await engine.workspaces.create("acme", { name: "web" })
    await workspace("tag", "add", "web", "prod", "scanned", "--owner", "ops")
    await workspace("tag", "add", "web", "prod", "--owner", "script")
    expect((await workspace("tag", "bind", "web", "env=prod", "team=a=b")).code).toBe(0)
    const held = async () =>
      (
        JSON.parse((await workspace("tag", "list", "web", "--json")).out) as {
          key: string
          value: string
          owners: string[]
        }[]
      )
        .map(({ key, value, owners }) => `${key}=${value} ${owners.join()}`)
        .toSorted()
    expect(await held()).toEqual(["env=prod ", "prod= ops,script", "scanned= ops", "team=a=b "])
    expect((await workspace("tag", "remove", "web", "prod", "scanned", "--owner", "ops")).out).toMatch(
      /^TAG +VALUE +INHERITED FROM +OWNERS\n/,
    )
    expect(await held()).toEqual(["env=prod ", "prod= script", "team=a=b "])
  })
})

describe.each<Road>(["the store", "a server"])("bulk actions over %s", (road) => {
  test("a bulk action has a dry run, reports each workspace, and refuses those that a single action would refuse", async () => {
    const { engine, workspace } = await shop(road)
    for (const name of ["net-a", "net-b", "web"]) await engine.workspaces.create("acme", { name })
    const bulk = (...words: readonly string[]) => workspace("bulk", ...words)
    const outcomes = (out: string) =>
      (JSON.parse(out) as { name: string; outcome: string }[])
        .map(({ name, outcome }) => `${name} ${outcome}`)
        .toSorted()
    const tried = await bulk("lock", "--search", "net", "--reason", "freeze", "--ttl", "2h", "--dry-run")
    expect(tried.out).toMatch(/^WORKSPACE +WOULD BE +REASON\nnet-\w +done\nnet-\w +done\n$/)
    expect(tried.stderr).toBe("Checked 100 %\n")
    const locked = await bulk("lock", "--search", "net", "--reason", "freeze", "--ttl", "2h", "--json")
    expect([locked.code, outcomes(locked.out)]).toEqual([0, ["net-a done", "net-b done"]])
    const again = await bulk("lock", "--all", "--json")
    expect([again.code, outcomes(again.out)]).toEqual([
      exitCodes.failure,
      ["net-a refused", "net-b refused", "web done"],
    ])
    expect(again.stderr).toContain("2 of 3 workspaces were refused.")
    expect(again.out).toContain("freeze")
    expect(outcomes((await bulk("unlock", "--all", "--json")).out)).toEqual(["net-a done", "net-b done", "web done"])

    await bulk("tag", "scanned", "reviewed", "--search", "net", "--owner", "ops", "--idempotency-key", "one")
    const repeated = await bulk(
      "tag",
      "scanned",
      "reviewed",
      "--search",
      "net",
      "--owner",
      "ops",
      "--idempotency-key",
      "one",
      "--json",
    )
    expect(outcomes(repeated.out)).toEqual(["net-a done", "net-b done"])
    expect(outcomes((await bulk("untag", "scanned", "--all", "--owner", "ops", "--json")).out)).toEqual([
      "net-a done",
      "net-b done",
      "web unchanged",
    ])
    expect((await bulk("bind", "env=prod", "--tags", "reviewed")).code).toBe(0)
    const { id: projectId } = await engine.projects.create("acme", { name: "nets" })
    expect((await bulk("move", projectId, "--tagged", "env=prod")).code).toBe(0)
    expect(outcomes((await bulk("safe-delete", "--project", projectId, "--json")).out)).toEqual([
      "net-a done",
      "net-b done",
    ])
    expect((await bulk("unlock")).stderr).toContain("all must be true when no filter is given")
  })

  test("events are printed from a position on, by kind, workspace and tag", async () => {
    const { engine, workspace } = await shop(road)
    await engine.workspaces.create("acme", { name: "web" })
    await engine.workspaces.create("acme", { name: "db" })
    await engine.workspaces.lock({ organization: "acme", name: "web" }, { reason: "" })
    const eventsOf = async (...words: readonly string[]) =>
      (await workspace("events", "--json", ...words)).out
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { id: string; kind: string; workspace: { name: string } | null })
    const kinds = (events: Awaited<ReturnType<typeof eventsOf>>) =>
      events.map((one) => `${one.workspace?.name} ${one.kind}`)
    const all = await eventsOf("--kinds", "workspace.*")
    expect(kinds(all)).toEqual(["web workspace.created", "db workspace.created", "web workspace.locked"])
    expect(kinds(await eventsOf("--workspaces", "web", "--kinds", "workspace.locked"))).toEqual([
      "web workspace.locked",
    ])
    expect(kinds(await eventsOf("--kinds", "workspace.*", "--since", all[1]?.id ?? ""))).toEqual([
      "web workspace.locked",
    ])
    expect((await workspace("events", "--workspaces", "web", "--kinds", "workspace.locked")).out).toMatch(
      /^2\S+Z {2}workspace\.locked {2}web {2}.*by users\/user-\w+\n$/,
    )
    expect((await workspace("events", "--kinds", "workspace.gone")).code).toBe(exitCodes.failure)
  })
})

test("invalid arguments are rejected without changes", async () => {
  const { engine, workspace } = await shop("the store", ["acme", "other"])
  await engine.workspaces.create("acme", { name: "web" })
  const among = (...words: readonly string[]) => workspace(...words, "--organization", "acme")
  expect(await workspace("show", "web")).toMatchObject({
    code: exitCodes.usage,
    stderr: "chancery: Which organization? Give --organization or set CHANCERY_ORGANIZATION: there is more than one.\n",
  })
  expect(await among("show", "nothing")).toMatchObject({ code: exitCodes.failure })
  expect((await among("lock", "web", "--ttl", "soon")).stderr).toContain("It must be a duration, such as 15m.")
  expect((await among("tag", "bind", "web", "=x")).stderr).toContain("It must be key=value, such as env=prod.")
  expect((await among("lock", "web", "--ttl", "1ms")).stderr).toContain("ttl must be a whole number of seconds")
  expect((await engine.workspaces.get({ organization: "acme", name: "web" })).lock).toEqual({ held: false })
})

test("requests to a server continue the trace of TRACEPARENT", async () => {
  const { command } = await shop("the store")
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers["traceparent"] as string | undefined)
    response.writeHead(401).end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const given = { CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN: "chy_x" }
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  expect((await command({ ...given, TRACEPARENT: traceparent }, "workspace", "list")).code).not.toBe(0)
  expect((await command(given, "workspace", "list")).code).not.toBe(0)
  expect(new Set(seen)).toEqual(new Set([traceparent, undefined]))
})

test("requests to a server need a token from the environment or a file", async () => {
  const { environment, command, data } = await shop("a server")
  const { CHANCERY_ENGINE_URL: url = "", CHANCERY_TOKEN: token = "" } = environment
  const file = join(data, "token")
  await writeFile(file, `${token}\n`)
  expect((await command({}, "workspace", "list", "--engine-url", url)).code).toBe(exitCodes.usage)
  expect((await command({}, "workspace", "list", "--engine-url", "ftp://x")).code).toBe(exitCodes.configuration)
  const missing = await command({}, "workspace", "list", "--engine-url", url, "--token-file", join(data, "none"))
  expect([missing.code, missing.stderr]).toEqual([exitCodes.configuration, expect.stringContaining("cannot be read")])
  expect((await command({}, "workspace", "list", "--engine-url", url, "--token-file", file)).code).toBe(0)
  expect(
    (await command({ CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN_FILE: file }, "workspace", "list", "--json")).out,
  ).toBe("[]\n")
})
