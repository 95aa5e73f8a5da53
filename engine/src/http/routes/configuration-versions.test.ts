import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { populatedWorld } from "../../testing/populated-world.ts"

async function configurationWorld() {
  const clock = manualClock()
  const world = await populatedWorld({ runtime: { ...systemRuntime(), clock } })
  const id = await world.workspace("web")
  const { request } = world
  return Object.assign(world, {
    id,
    async create(attributes: Record<string, unknown> = {}): Promise<string> {
      clock.advance(1)
      const body = { data: { type: "configuration-versions", attributes } }
      const answer = await request("POST", `/workspaces/${id}/configuration-versions`, { body })
      expect(answer.status).toBe(201)
      return answer.body.data.id
    },
    get: (path: string) => request("GET", path),
    current: async () =>
      (await request("GET", `/workspaces/${id}`)).body.data.relationships["current-configuration-version"],
    async apply(version: string) {
      const relationships = {
        workspace: { data: { type: "workspaces", id } },
        "configuration-version": { data: { type: "configuration-versions", id: version } },
      }
      const run = (await request("POST", "/runs", { body: { data: { type: "runs", relationships } } })).body.data.id
      for (const status of ["planning", "planned", "confirmed", "applying", "applied"])
        await request("POST", `/runs/${run}/actions/transition`, { body: { status } })
      return run as string
    },
  })
}

describe("a configuration version", () => {
  test("shows what was said of it, and its origin beside it", async () => {
    await using world = await configurationWorld()
    const ingress = { branch: "main", "commit-sha": "abc", "is-pull-request": true, "pull-request-number": 7 }
    const id = await world.create({ "auto-queue-runs": false, speculative: true, "ingress-attributes": ingress })
    const { data } = (await world.get(`/configuration-versions/${id}`)).body
    expect(data).toMatchObject({
      id: expect.stringMatching(/^cv-\w{16}$/),
      type: "configuration-versions",
      attributes: {
        source: "tfe-api",
        status: "pending",
        speculative: true,
        provisional: false,
        "auto-queue-runs": false,
        "upload-url": null,
      },
    })
    const { "ingress-attributes": related } = data.relationships
    const origin = await world.get(`/configuration-versions/${id}/ingress-attributes`)
    expect(origin.body.data).toMatchObject({
      id: related.data.id,
      type: "ingress-attributes",
      attributes: { ...ingress, tag: null, "on-default-branch": false },
    })
    const plain = await world.create()
    expect((await world.get(`/configuration-versions/${plain}/ingress-attributes`)).status).toBe(404)
  })

  test("lists newest first, in pages", async () => {
    await using world = await configurationWorld()
    const ids = [await world.create(), await world.create(), await world.create()]
    const { body } = await world.get(`/workspaces/${world.id}/configuration-versions?page[size]=2`)
    expect(body.data.map(({ id }: { readonly id: string }) => id)).toEqual(ids.toReversed().slice(0, 2))
    expect(body.meta.pagination["total-count"]).toBe(3)
  })

  test("is archived unless it is the current one", async () => {
    await using world = await configurationWorld()
    const [old, current] = [await world.create(), await world.create()]
    const archive = (id: string) => world.request("POST", `/configuration-versions/${id}/actions/archive`)
    expect([(await archive(old)).status, (await archive(current)).status]).toEqual([202, 409])
    expect((await world.get(`/configuration-versions/${old}`)).body.data.attributes.status).toBe("archived")
  })

  test("that is deleted is forgotten by its workspace and its runs", async () => {
    await using world = await configurationWorld()
    const id = await world.create({ readme: "# Web" })
    const run = await world.apply(id)
    expect((await world.request("DELETE", `/configuration-versions/${id}`)).status).toBe(204)
    expect((await world.get(`/configuration-versions/${id}`)).status).toBe(404)
    expect((await world.current()).data).toBeNull()
    const { relationships } = (await world.get(`/runs/${run}`)).body.data
    expect(relationships["configuration-version"].data).toBeNull()
  })

  test.each<{ attributes: Record<string, unknown>; pointer: string }>([
    { attributes: { speculative: "yes" }, pointer: "/data/attributes/speculative" },
    {
      attributes: { "ingress-attributes": { "pull-request-number": "7" } },
      pointer: "/data/attributes/ingress-attributes/pull-request-number",
    },
    { attributes: { readme: "x".repeat(1024 * 1024 + 1) }, pointer: "/data/attributes/readme" },
  ])("is refused at $pointer where that is wrong", async ({ attributes, pointer }) => {
    await using world = await configurationWorld()
    const answer = await world.request("POST", `/workspaces/${world.id}/configuration-versions`, {
      body: { data: { type: "configuration-versions", attributes } },
    })
    expect([answer.status, answer.body.errors[0].source]).toEqual([422, { pointer }])
  })

  test.each<{ who: "stranger" | "read" | "plan" | "write"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404] },
    { who: "read", statuses: [200, 404, 404] },
    { who: "plan", statuses: [200, 201, 404] },
    { who: "write", statuses: [200, 201, 204] },
  ])("shows to, is made by and deleted by $who: $statuses", async ({ who, statuses }) => {
    await using world = await configurationWorld()
    const id = await world.create()
    const token = await world.token(who === "stranger" ? {} : { on: { [world.id]: who } })
    const body = { data: { type: "configuration-versions" } }
    const answers = [
      await world.request("GET", `/configuration-versions/${id}`, { token }),
      await world.request("POST", `/workspaces/${world.id}/configuration-versions`, { body, token }),
      await world.request("DELETE", `/configuration-versions/${id}`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })
})

describe("the workspace", () => {
  test("[W-2.5-r2] points at its newest configuration that is neither speculative nor provisional", async () => {
    await using world = await configurationWorld()
    expect(await world.current()).toEqual({ data: null, links: { related: null } })
    const id = await world.create()
    await world.create({ speculative: true })
    const provisional = await world.create({ provisional: true })
    expect(await world.current()).toEqual({
      data: { type: "configuration-versions", id },
      links: { related: `/api/v2/configuration-versions/${id}` },
    })
    await world.apply(provisional)
    expect((await world.current()).data.id).toBe(provisional)
  })

  test("[W-2.5-r12] has the readme of its current configuration", async () => {
    await using world = await configurationWorld()
    const shown = async () => (await world.get(`/workspaces/${world.id}`)).body.data.relationships.readme
    expect([await shown(), (await world.get(`/workspaces/${world.id}/readme`)).status]).toEqual([{ data: null }, 404])
    await world.create({ readme: "# Web\n" })
    const { body } = await world.get(`/workspaces/${world.id}/readme`)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^readme-\w{16}$/),
      type: "workspace-readme",
      attributes: { "raw-markdown": "# Web\n" },
    })
    expect(await shown()).toEqual({ data: { type: "workspace-readme", id: body.data.id } })
  })
})
