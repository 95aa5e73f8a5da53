// Behaviour of the lock with two concurrent tools, a killed tool, and a killed server.
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { TerraformProgram } from "../../../toolchain/terraform.ts"
import {
  cloud,
  noTool,
  openTerraformFixture,
  organization,
  type Project,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const workspace = (name: string) => fixture.engine.workspaces.get({ organization, name })

/** Two resources. Creating the second one writes the file `waits`, then waits up to a minute for a file `go`. */
const slow = `resource "terraform_data" "first" {
  input = "first"
}
resource "terraform_data" "second" {
  input = terraform_data.first.output
  provisioner "local-exec" {
    command = "touch waits; n=0; while [ ! -e go ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done"
  }
}
`

async function slowProject(tool: TerraformProgram, folder: string, name: string): Promise<Project> {
  const project = await fixture.project(tool, folder, cloud(`name = "${name}"`) + slow)
  await project.succeeds("init")
  return project
}

const unblockApply = ({ folder }: Project): Promise<void> => writeFile(join(folder, "go"), "")

/** Starts an apply and waits until it creates its second resource, holding the lock. */
async function startedApply(project: Project) {
  const apply = project.start("apply -auto-approve")
  let over = false
  void apply.ended.then(() => (over = true))
  await expect.poll(() => over || existsSync(join(project.folder, "waits")), { interval: 20 }).toBe(true)
  expect(over, `the apply: ${apply.text()}`).toBe(false)
  return apply
}

describe.skipIf(noTool).each(tools)("locking, by $kind $version", (tool) => {
  const { kind } = tool

  test("an apply fails while another user holds the lock, and succeeds after a force-unlock", async () => {
    const name = `${kind}-held`
    const project = await slowProject(tool, "held", name)
    await unblockApply(project)
    await fixture.engine.workspaces.lock({ organization, name }, { reason: "at work" })
    for (const command of ["apply -auto-approve", "plan", "destroy -auto-approve"])
      expect(await project.fails(command)).toContain("workspace already locked")
    // Commands that only read need no lock.
    await project.succeeds("state pull")
    expect(await workspace(name)).toMatchObject({ resourceCount: 0, lock: { held: true, reason: "at work" } })
    expect(await project.fails(`force-unlock -force ${organization}/another`)).toContain("does not match")
    await project.succeeds(`force-unlock -force ${organization}/${name}`)
    expect((await workspace(name)).lock).toEqual({ held: false })
    expect(await project.fails(`force-unlock -force ${organization}/${name}`)).toContain("already unlocked")
    await project.applies()
  })

  test("a plan with -lock=false runs beside the lock holder; an apply with -lock=false can write nothing", async () => {
    const name = `${kind}-lockless`
    const project = await slowProject(tool, "lockless", name)
    await unblockApply(project)
    await project.applies()
    await fixture.engine.workspaces.lock({ organization, name }, { reason: "at work" })
    fixture.proxy.take()
    await project.isSettled("-lock=false")
    expect(fixture.proxy.take().filter(({ path }) => path.endsWith("lock"))).toEqual([])
    await fixture.engine.workspaces.unlock({ organization, name })
    expect(await project.fails("apply -auto-approve -lock=false -replace=terraform_data.first")).toContain("locked")
    expect((await workspace(name)).lock).toEqual({ held: false })
  })

  test("the token of an organization, which cannot lock, plans and applies nothing", async () => {
    const { secret: token } = await fixture.engine.tokens.createForOrganization(organization, {})
    const configuration = cloud(`name = "${kind}-impersonal"`) + slow
    const { succeeds, fails } = await fixture.project(tool, "impersonal", configuration, { token })
    await succeeds("init")
    expect(await fails("plan")).toMatch(/Error acquiring the state lock/i)
    expect(await fails("apply -auto-approve")).toMatch(/Error acquiring the state lock/i)
    expect((await workspace(`${kind}-impersonal`)).lock).toEqual({ held: false })
  })

  test("of two concurrent applies the second fails, or waits for the lock timeout", async () => {
    const name = `${kind}-twice`
    const first = await slowProject(tool, "first", name)
    const second = await slowProject(tool, "second", name)
    const apply = await startedApply(first)
    expect(await second.fails("apply -auto-approve")).toContain("workspace already locked")
    expect(await second.fails("apply -auto-approve -lock-timeout=1s")).toContain("workspace already locked")
    fixture.proxy.take()
    const waiting = second.start("apply -auto-approve -lock-timeout=120s")
    await fixture.proxy.answered("POST", /\/actions\/lock$/, 409)
    await unblockApply(first)
    expect(await apply.ended).toMatchObject({ code: 0, text: expect.stringContaining("2 added") as string })
    expect(await waiting.ended).toMatchObject({ code: 0, text: expect.stringContaining("No changes") as string })
    expect(await workspace(name)).toMatchObject({ resourceCount: 2, lock: { held: false } })
    for (const project of [first, second]) await project.isSettled()
  })
})

describe.skipIf(noTool).each(tools)("recovery of interrupted commands, by $kind $version", (tool) => {
  const { kind } = tool

  test("an apply that was killed leaves the lock, which is broken, and the next apply finishes the rest", async () => {
    const name = `${kind}-killed`
    const project = await slowProject(tool, "killed", name)
    const apply = await startedApply(project)
    apply.child.kill("SIGKILL")
    await unblockApply(project)
    expect((await apply.ended).code).toBeNull()
    expect((await workspace(name)).lock).toMatchObject({ held: true })
    expect(await project.fails("plan")).toContain("workspace already locked")
    await project.succeeds(`force-unlock -force ${organization}/${name}`)
    expect(await project.applies()).toMatch(/Resources: [12] added/)
    expect(await workspace(name)).toMatchObject({ resourceCount: 2, lock: { held: false } })
  })

  test("an apply does not notice a server that is killed and restarted", async () => {
    const name = `${kind}-server-back`
    const project = await slowProject(tool, "server-back", name)
    const apply = await startedApply(project)
    await fixture.killServer()
    await fixture.restartServer()
    await unblockApply(project)
    const { code, text } = await apply.ended
    expect(code, `the apply: ${text}`).toBe(0)
    expect(await workspace(name)).toMatchObject({ resourceCount: 2, lock: { held: false } })
    await project.isSettled()
  })

  test("an apply whose lock is broken leaves its state in a file, which can be pushed", async () => {
    const name = `${kind}-robbed`
    const project = await slowProject(tool, "robbed", name)
    const apply = await startedApply(project)
    await fixture.engine.workspaces.forceUnlock({ organization, name })
    await unblockApply(project)
    const { code, text } = await apply.ended
    expect(code).toBe(1)
    expect(text).toContain("errored.tfstate")
    expect(await workspace(name)).toMatchObject({ resourceCount: 0, lock: { held: false } })
    const errored = JSON.parse(await readFile(join(project.folder, "errored.tfstate"), "utf8")) as {
      resources: unknown[]
    }
    expect(errored.resources).toHaveLength(2)
    await project.succeeds("state push errored.tfstate")
    expect(await workspace(name)).toMatchObject({ resourceCount: 2, lock: { held: false } })
    await project.isSettled()
  })
})
