// Selection, creation and deletion of workspaces by the tools: by name, by tags, and by tags with values.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { habits } from "./differences.ts"
import {
  cloud,
  greeting,
  hostname,
  noTool,
  openTerraformFixture,
  organization,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => {
  fixture.proxy.take()
})

const workspace = (name: string) => fixture.engine.workspaces.get({ organization, name })
const list = (...tags: readonly string[]): string => cloud(`tags = ${JSON.stringify(tags)}`)

/** Returns the writing requests about tags since the last call. */
const tagsWritten = (): readonly string[] =>
  fixture.proxy
    .take()
    .filter(({ method, path }) => method !== "GET" && /tag/.test(path))
    .map(({ method, path }) => `${method} ${path}`)

const bind = (id: string): string => `PATCH /api/v2/workspaces/${id}/tag-bindings`

const bindings = async (id: string) =>
  Object.fromEntries((await fixture.engine.tags.bindings(id)).map(({ key, value }) => [key, value]))

describe.skipIf(noTool).each(tools)("workspaces are found and created, by $kind $version", (tool) => {
  const { kind } = tool
  /** Returns the expected requests of Terraform, which binds flat tags once; they are then both flat tags and bindings. */
  const boundOnce = (...ids: readonly string[]) => (habits[kind].wantsTagsTwice ? ids.map(bind) : [])

  test("by name: init creates a missing workspace, and uses an existing one", async () => {
    const name = `${kind}-named`
    const { succeeds, applies, fails } = await fixture.project(tool, "named", cloud(`name = "${name}"`) + greeting)
    await succeeds("init")
    const made = { engineVersion: tool.version, resourceCount: 0, lock: { held: false } }
    expect(await workspace(name)).toMatchObject(made)
    expect(await applies()).toContain("Resources: 1 added")
    expect(await workspace(name)).toMatchObject({ ...made, resourceCount: 1 })
    expect(await succeeds("workspace show")).toBe(`${name}\n`)
    // A configuration that names its workspace has no other.
    expect(await fails("workspace new other")).toContain("not supported")
    for (const verb of ["select", "delete"]) expect(await fails(`workspace ${verb} other`)).toContain("doesn't exist")

    const again = await fixture.project(tool, "named-again", cloud(`name = "${name}"`) + greeting)
    await again.succeeds("init")
    await again.isSettled()
  })

  test("[F-W6] by a list of tags: new, list, select, show and delete write nothing about tags that are flat and bound", async () => {
    const [alpha, beta, gamma] = [`${kind}-alpha`, `${kind}-beta`, `${kind}-gamma`]
    const tags = [`${kind}-app`, "prod"]
    const { succeeds, applies, fails } = await fixture.project(tool, "tagged", list(...tags) + greeting)
    await succeeds("init", { answers: [{ to: "Enter a value", say: alpha }] })
    const { id: alphaId, tagNames } = await workspace(alpha)
    expect(tagNames.toSorted()).toEqual(tags.toSorted())
    await succeeds(`workspace new ${beta}`)
    const { id: betaId } = await workspace(beta)
    await applies()
    expect(await succeeds("workspace list")).toMatch(new RegExp(`^ {2}${alpha}\\n\\* ${beta}\\n`, "m"))
    expect(await succeeds("workspace show")).toBe(`${beta}\n`)
    await succeeds(`workspace select ${alpha}`)
    expect(await fails("workspace select missing")).toContain("doesn't exist")
    await applies()
    expect(await fails(`workspace delete ${beta}`)).toContain("not empty")
    await succeeds(`workspace delete -force ${beta}`)
    await expect(workspace(beta)).rejects.toMatchObject({ code: "not-found" })
    await succeeds(`workspace select -or-create=true ${gamma}`)
    const { id: gammaId, tagNames: gammaTags } = await workspace(gamma)
    expect(gammaTags.toSorted()).toEqual(tags.toSorted())
    await succeeds(`workspace select ${alpha}`)
    await succeeds(`workspace delete ${gamma}`)
    expect(await succeeds("workspace list")).toMatch(new RegExp(`^\\* ${alpha}\\n`, "m"))
    expect(tagsWritten()).toEqual(boundOnce(alphaId, betaId, gammaId))
  })

  test("by the environment, when the configuration names none", async () => {
    const name = `${kind}-outside`
    const named = `terraform {\n  cloud {\n    workspaces { name = "${name}" }\n  }\n}\n${greeting}`
    const { write, succeeds, applies, isSettled } = await fixture.project(tool, "outside", named)
    const environment = { TF_CLOUD_HOSTNAME: hostname, TF_CLOUD_ORGANIZATION: organization }
    await succeeds("init", { environment })
    await applies(undefined, { environment })
    await write(`terraform {\n  cloud {}\n}\n${greeting}`)
    await succeeds("init", { environment: { ...environment, TF_WORKSPACE: name } })
    await isSettled(undefined, { environment: { ...environment, TF_WORKSPACE: name } })
    expect(await workspace(name)).toMatchObject({ resourceCount: 1, lock: { held: false } })
  })

  test("by the name in the environment, which must exist", async () => {
    const [name, tag] = [`${kind}-environment`, `${kind}-environment-tag`]
    const { fails, succeeds, applies } = await fixture.project(tool, "environment", list(tag) + greeting)
    const environment = { TF_WORKSPACE: name }
    expect(await fails("init", { environment })).toContain("Invalid workspace selection")
    const { id } = await fixture.engine.workspaces.create(organization, { name, tags: [{ name: tag }] })
    await succeeds("init", { environment })
    await applies(undefined, { environment })
    expect(tagsWritten()).toEqual(boundOnce(id))
  })

  test("[F-W6] a tag added to the configuration is written, and other tags are left alone", async () => {
    const name = `${kind}-gaining`
    const [first, second] = [`${kind}-first`, `${kind}-second`]
    const { write, succeeds, applies } = await fixture.project(tool, "gaining", list(first) + greeting)
    await succeeds("init", { answers: [{ to: "Enter a value", say: name }] })
    await succeeds(`workspace select ${name}`)
    const { id } = await workspace(name)
    await fixture.engine.tags.add(id, [{ name: "theirs" }])
    expect(tagsWritten()).toEqual(boundOnce(id))
    await applies()
    expect(tagsWritten()).toEqual([])
    await write(list(first, second) + greeting)
    // No workspace has both tags yet; the named one gets them.
    await succeeds("init", { answers: [{ to: "Enter a value", say: name }] })
    const { method, path } = habits[kind].addsTags
    expect(tagsWritten()).toEqual([`${method} /api/v2/workspaces/${id}/${path}`])
    // The apply and its second plan each write the tag again if it is only a binding.
    await applies()
    expect(tagsWritten()).toEqual(boundOnce(id, id))
    const flat = habits[kind].wantsTagsTwice ? [first, "theirs"] : [first, second, "theirs"]
    expect((await workspace(name)).tagNames.toSorted()).toEqual(flat.toSorted())
    expect(await bindings(id)).toEqual(habits[kind].wantsTagsTwice ? { [first]: "", [second]: "" } : {})
  })

  test("more than one page of them are all listed, and any can be selected", async () => {
    const tag = `${kind}-many`
    const names = Array.from({ length: 45 }, (_, index) => `${kind}-many-${String(index).padStart(2, "0")}`)
    for (const name of names) await fixture.engine.workspaces.create(organization, { name, tags: [{ name: tag }] })
    const { succeeds, applies } = await fixture.project(tool, "many", list(tag) + greeting)
    const last = names.at(-1) ?? ""
    await succeeds("init", { answers: [{ to: "Enter a value", say: String(names.length) }] })
    await succeeds(`workspace select ${last}`)
    fixture.proxy.take()
    const listed = await succeeds("workspace list")
    expect(listed.match(/\S+-many-\d+/g)).toEqual(names)
    expect(fixture.proxy.take().filter(({ path }) => /\/workspaces\?/.test(path))).toHaveLength(3)
    await applies()
    expect((await workspace(last)).resourceCount).toBe(1)
  })

  test.runIf(habits[kind].tagsWithValues)(
    "by tags with values, in a project that it creates, and writes no tag again",
    async () => {
      const [eu, us] = [`${kind}-shop-eu`, `${kind}-shop-us`]
      const configuration = cloud(`tags = { app = "${kind}-shop", tier = "web" }\n      project = "${kind}-storefront"`)
      const { succeeds, applies } = await fixture.project(tool, "bound", configuration + greeting)
      await succeeds("init", { answers: [{ to: "Enter a value", say: eu }] })
      await succeeds(`workspace select ${eu}`)
      await succeeds(`workspace new ${us}`)
      expect(await succeeds("workspace list")).toMatch(new RegExp(`^ {2}${eu}\\n\\* ${us}\\n`, "m"))
      const { id, projectId, tagNames } = await workspace(us)
      expect((await fixture.engine.projects.get(projectId)).name).toBe(`${kind}-storefront`)
      expect(tagNames).toEqual([])
      expect(await bindings(id)).toEqual({ app: `${kind}-shop`, tier: "web" })
      await applies()
      await applies("-var greeting=bye")
      await succeeds(`workspace delete ${eu}`)
      // Terraform writes tag bindings after `init` and on every command if it misses one (docs/compatibility.md, "Tags").
      expect(tagsWritten()).toEqual([])
    },
  )

  test.runIf(habits[kind].tagsWithValues)(
    "[F-W6] by tags of which one has no value, and writes them with every command because it is not a flat tag as well",
    async () => {
      const [eu, us] = [`${kind}-live-eu`, `${kind}-live-us`]
      const configuration = cloud(`tags = { app = "${kind}-live", live = "" }`)
      const { succeeds, applies } = await fixture.project(tool, "live", configuration + greeting)
      await succeeds("init", { answers: [{ to: "Enter a value", say: eu }] })
      await succeeds(`workspace new ${us}`)
      const [{ id: euId }, { id: usId, tagNames }] = await Promise.all([workspace(eu), workspace(us)])
      expect(tagNames).toEqual([])
      expect(await bindings(usId)).toEqual({ app: `${kind}-live`, live: "" })
      expect(tagsWritten()).toEqual([euId, usId].map(bind))
      await applies()
      expect(tagsWritten()).toEqual([usId, usId].map(bind))
      await succeeds(`workspace delete ${eu}`)
      expect(tagsWritten()).toEqual([euId].map(bind))
      expect(await bindings(usId)).toEqual({ app: `${kind}-live`, live: "" })
    },
  )
})
