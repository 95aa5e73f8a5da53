// The command line tool against a server on a socket, as its users run it: it plans and applies on its own machine and keeps
// its state in a workspace. Its only provider here is the one built in, so nothing is fetched.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import { type RunningServer, startServer } from "../../engine/src/server.ts"
import { terraformPrograms } from "../toolchain/terraform.ts"

const programs = await terraformPrograms()

/** No such host: the configuration says where its services are, so that plain HTTP will do. */
const hostname = "chancery.test"

interface Outcome {
  readonly code: number
  /** What it printed, on both streams. */
  readonly text: string
}

describe.each(programs)("the command line tool $kind $version", ({ program, kind }) => {
  let folder: string
  let engine: ServedEngine
  let server: RunningServer

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-terraform-"))
    engine = await openEmbedded(`sqlite:${join(folder, "state.db")}`)
    await engine.organizations.create({ name: "acme", email: "acme@example.com" })
    server = await startServer({ engine })
    if (engine.caller.kind !== "user") throw new Error("the engine acts as a user")
    const { secret } = await engine.tokens.createForUser(engine.caller.userId, { description: "terraform" })
    const discovery = await (await fetch(`${server.url}/.well-known/terraform.json`)).json()
    const services = Object.entries(discovery as Readonly<Record<string, string>>)
      .map(([name, path]) => `"${name}" = "${new URL(path, server.url).href}"`)
      .join(", ")
    await writeFile(
      join(folder, "terraformrc"),
      `host "${hostname}" {\n  services = { ${services} }\n}\ncredentials "${hostname}" {\n  token = "${secret}"\n}\n`,
    )
  })
  afterAll(async () => {
    await server.close()
    await engine[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** A configuration in a folder of its own, and the tool run there. */
  async function project(name: string, configuration: string) {
    const cwd = join(folder, name)
    await mkdir(cwd, { recursive: true })
    await writeFile(join(cwd, "main.tf"), configuration)
    /** `answer` is what it is told when it asks; without one it does not ask. */
    const run = (args: string, answer?: string): Promise<Outcome> =>
      new Promise((resolve, reject) => {
        const options = {
          cwd,
          env: {
            PATH: process.env["PATH"],
            HOME: folder,
            TF_CLI_CONFIG_FILE: join(folder, "terraformrc"),
            TF_IN_AUTOMATION: "1",
            TF_INPUT: answer === undefined ? "0" : "1",
            CHECKPOINT_DISABLE: "1",
          },
        }
        const tool = execFile(program, [...args.split(" "), "-no-color"], options, (error, stdout, stderr) => {
          const text = stdout + stderr
          if (error === null) resolve({ code: 0, text })
          else if (typeof error.code === "number") resolve({ code: error.code, text })
          else reject(new Error(`${args} did not run`, { cause: error }))
        })
        tool.stdin?.end(answer === undefined ? "" : `${answer}\n`)
      })
    return {
      run,
      async succeeds(args: string, answer?: string): Promise<string> {
        const { code, text } = await run(args, answer)
        expect(code, `${args}: ${text}`).toBe(0)
        return text
      },
    }
  }

  const cloud = (workspaces: string) => `terraform {
  cloud {
    hostname     = "${hostname}"
    organization = "acme"
    workspaces {
      ${workspaces}
    }
  }
}
`
  const resources = `variable "greeting" {
  default = "hello"
}
resource "terraform_data" "greeting" {
  input = var.greeting
}
output "greeting" {
  value = terraform_data.greeting.output
}
output "password" {
  value     = "hunter2"
  sensitive = true
}
`
  /** The requests about tags that the server has counted. */
  const tagRequests = async (...methods: readonly string[]) => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return methods.flatMap((method) => metrics.match(RegExp(`_count\\{method="${method}",route=".*tag.*`, "g")) ?? [])
  }
  const workspace = (name: string) => engine.workspaces.get({ organization: "acme", name })

  test("makes a workspace, keeps its state there and reads it again", async () => {
    const { run, succeeds } = await project("named", cloud(`name = "named"`) + resources)
    await succeeds("init")
    expect(await workspace("named")).toMatchObject({ resourceCount: 0, lock: { held: false } })
    expect(await succeeds("apply -auto-approve")).toContain("Resources: 1 added")
    const applied = await workspace("named")
    expect(applied).toMatchObject({ resourceCount: 1, lock: { held: false } })
    expect(applied.outputIds).toHaveLength(2)
    expect((await run("plan -detailed-exitcode")).code).toBe(0)
    expect((await run("plan -detailed-exitcode -var greeting=bye")).code).toBe(2)
    expect(JSON.parse(await succeeds("output -json"))).toMatchObject({
      greeting: { value: "hello", sensitive: false },
      password: { value: "hunter2", sensitive: true },
    })
    expect(await succeeds("state list")).toBe("terraform_data.greeting\n")
    expect(JSON.parse(await succeeds("state pull"))).toMatchObject({ version: 4, serial: 1 })
  })

  test("cannot apply while somebody holds the lock, and can take it away by force", async () => {
    const { run, succeeds } = await project("locked", cloud(`name = "locked"`) + resources)
    await succeeds("init")
    const { id } = await workspace("locked")
    await engine.workspaces.lock({ id }, { reason: "at work" })
    const refused = await run("apply -auto-approve")
    expect(refused.code).toBe(1)
    expect(refused.text).toContain("workspace already locked")
    expect(await workspace("locked")).toMatchObject({ resourceCount: 0, lock: { held: true, reason: "at work" } })
    await succeeds("force-unlock -force acme/locked")
    expect((await workspace("locked")).lock).toEqual({ held: false })
    await succeeds("apply -auto-approve")
    expect(await succeeds("destroy -auto-approve")).toContain("Resources: 1 destroyed")
    expect(await workspace("locked")).toMatchObject({ resourceCount: 0, lock: { held: false } })
  })

  test("makes, lists, selects and deletes workspaces that share tags", async () => {
    const { run, succeeds } = await project("tagged", cloud(`tags = ["app", "prod"]`) + resources)
    await succeeds("init", "alpha")
    expect((await workspace("alpha")).tagNames.toSorted()).toEqual(["app", "prod"])
    await succeeds("workspace select alpha")
    await succeeds("workspace new beta")
    expect((await workspace("beta")).tagNames.toSorted()).toEqual(["app", "prod"])
    expect(await succeeds("workspace list")).toMatch(/^ {2}alpha\n\* beta\n/m)
    await succeeds("apply -auto-approve")
    await succeeds("workspace select alpha")
    // It has resources.
    expect((await run("workspace delete beta")).code).toBe(1)
    await succeeds("workspace delete -force beta")
    expect(await succeeds("workspace list")).not.toContain("beta")
    await succeeds("workspace new gamma")
    await succeeds("workspace select alpha")
    await succeeds("workspace delete gamma")
    expect(await succeeds("workspace list")).toMatch(/^\* alpha\n/m)
  })

  test.skipIf(kind === "opentofu")("finds workspaces by tags with values, in a project that it makes", async () => {
    const tags = `tags = { app = "shop", live = "" }\n      project = "storefront"`
    const { succeeds } = await project("bound", cloud(tags) + resources)
    await succeeds("init", "shop-eu")
    await succeeds("workspace select shop-eu")
    await succeeds("workspace new shop-us")
    expect(await succeeds("workspace list")).toMatch(/^ {2}shop-eu\n\* shop-us\n/m)
    const { id, projectId, tagNames } = await workspace("shop-us")
    expect((await engine.projects.get(projectId)).name).toBe("storefront")
    expect(tagNames).toEqual(["live"])
    expect(await engine.tags.bindings(id)).toMatchObject([
      { key: "app", value: "shop" },
      { key: "live", value: "" },
    ])
    // It would write them after it made the workspace, and on every command, were what it reads not what it asked for
    // (workspace-facts 2.3).
    await succeeds("plan")
    expect(await tagRequests("GET")).not.toEqual([])
    expect(await tagRequests("PATCH", "POST")).toEqual([])
  })

  test("reads the outputs of another workspace, through the older backend as well", async () => {
    const producer = await project("producer", cloud(`name = "producer"`) + resources)
    await producer.succeeds("init")
    await producer.succeeds("apply -auto-approve")
    const backend = `terraform {
  backend "remote" {
    hostname     = "${hostname}"
    organization = "acme"
    workspaces {
      name = "consumer"
    }
  }
}
data "terraform_remote_state" "producer" {
  backend = "remote"
  config = {
    hostname     = "${hostname}"
    organization = "acme"
    workspaces   = { name = "producer" }
  }
}
output "heard" {
  value = data.terraform_remote_state.producer.outputs.greeting
}
`
    const consumer = await project("consumer", backend)
    await consumer.succeeds("init")
    await consumer.succeeds("apply -auto-approve")
    expect(await consumer.succeeds("output -raw heard")).toBe("hello")
  })
})
