// Complete scenarios with the real Pulumi engine, with the engine in the provider's process and with a server.
import {
  DataRetentionPolicy,
  Project,
  Provider,
  RemoteStateConsumers,
  SshKeyAssignment,
  Tag,
  Variable,
  Workspace,
  type WorkspaceArgs,
  WorkspaceLock,
} from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { openFaultInjectingProxy } from "../e2e/pulumi/fault-injecting-proxy.ts"
import { importScenario } from "../e2e/pulumi/import-scenario.ts"
import { pkiScenario } from "../e2e/pulumi/pki-scenario.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { workspaceScenario } from "../e2e/pulumi/workspace-scenario.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { sampleOf } from "./sample.ts"

const pulumi = await pulumiProgram()
const firstHundred = { number: 1, size: 100 }

beforeAll(buildProvider)

const workspace = (args: WorkspaceArgs) => async () => {
  new Workspace("api", args)
}

describe.skipIf(pulumi === undefined)("the provider", () => {
  test.each(sampleOf(["embedded", "remote"] as const, 6))(
    "creates, changes, repairs and deletes workspaces and tags with the %s engine",
    async (mode) => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(workspaceScenario(stack)).resolves.toBeUndefined()
    },
  )

  test("serves several tenants, each with its own token, and switches to a new token", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { engine, token, url } = stack
    // A token in the environment would apply to all of them.
    stack.setEnvironment({ CHANCERY_TOKEN: "", CHANCERY_ENGINE_URL: "", CHANCERY_ORGANIZATION: "" })
    const program = async () => {
      const tenants = ["acme", "globex"].map(
        (organization) => new Provider(organization, { engineUrl: url, token, organization }),
      )
      for (const [index, provider] of tenants.entries()) {
        const { id } = new Workspace(`api-${index}`, {}, { provider })
        new Tag(`prod-${index}`, { name: "prod", workspaceIds: [id] }, { provider })
      }
    }
    await stack.up(program)
    for (const [index, organization] of ["acme", "globex"].entries()) {
      const { items } = await engine.workspaces.list(organization, {}, firstHundred)
      expect(items.map(({ name, tagNames }) => [name, tagNames])).toEqual([[`api-${index}`, ["prod"]]])
    }
    expect(await stack.state()).not.toContain(token)

    const { caller, tokens } = engine
    if (caller.kind !== "user") throw new Error("the engine acts as a user")
    for (const { id } of (await tokens.listForUser(caller.userId, firstHundred)).items) await tokens.delete(id)
    await expect(stack.destroy()).rejects.toThrow(/401 unauthenticated.*CHANCERY_TOKEN/s)
    const renewed = await tokens.createForUser(caller.userId, { description: "renewed" })
    stack.setEnvironment({ CHANCERY_TOKEN: renewed.secret })
    await stack.destroy()
    expect((await engine.workspaces.list("globex", {}, firstHundred)).items).toEqual([])
  })

  test("imports all existing resources into a stack unchanged", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await expect(importScenario(stack)).resolves.toBeUndefined()
  })

  test("adopts existing resources on request, and retains them on destroy", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { engine } = stack
    const { id } = await engine.workspaces.create("acme", { name: "api", description: "somebody's" })
    await expect(stack.up(workspace({ description: "ours" }))).rejects.toThrow(/already been taken.*adopt: true/s)
    await stack.up(workspace({ description: "ours", adopt: true }))
    expect(await engine.workspaces.get({ id })).toMatchObject({ description: "ours" })
    await stack.destroy()
    expect(await engine.workspaces.get({ id })).toMatchObject({ name: "api" })
  })

  test("preserves other members of a workspace", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { engine } = stack
    const value = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----"
    const { id: sshKeyId } = await engine.sshKeys.create("acme", { name: "modules", value })
    const about = (reason: string, deleteOlderThanDays: number) => async () => {
      const { id: projectId } = new Project("payments", { tagBindings: { team: "payments" } })
      const { id: workspaceId } = new Workspace("api", { projectId, globalRemoteState: false })
      const { id: consumer } = new Workspace("web", { projectId })
      new RemoteStateConsumers("consumers", { workspaceId, consumerIds: [consumer] })
      new SshKeyAssignment("key", { workspaceId, sshKeyId })
      new WorkspaceLock("lock", { workspaceId, reason })
      new DataRetentionPolicy("retention", { workspaceId, deleteOlderThanDays })
    }
    await stack.up(about("moving", 30))
    const { id, lock } = await engine.workspaces.get({ organization: "acme", name: "api" })
    expect(lock).toMatchObject({ held: true, reason: "moving" })
    expect((await engine.remoteStateConsumers.list(id, firstHundred)).items).toMatchObject([{ name: "web" }])
    const changed = await stack.up(about("moved", 60))
    expect(changed.operations).toEqual({
      payments: "same",
      api: "same",
      web: "same",
      consumers: "same",
      key: "same",
      lock: "replace",
      retention: "update",
    })
    expect(await engine.workspaces.get({ id })).toMatchObject({ sshKeyId, lock: { reason: "moved" } })
    expect((await engine.retentionPolicies.get({ kind: "workspace", id })).rule).toEqual({
      kind: "delete-older",
      days: 60,
    })
    await stack.destroy()
    expect((await engine.workspaces.list("acme", {}, firstHundred)).items).toEqual([])
    expect((await engine.projects.list("acme", { names: ["payments"] }, firstHundred)).items).toEqual([])
  })

  test("stores variables, and sensitive values only as secrets", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { variables, workspaces } = stack.engine
    const declaring = (password: string, sensitive: boolean) => async () => {
      const { id: workspaceId } = new Workspace("api")
      new Variable("region", { workspaceId, key: "region", category: "terraform", value: "eu" })
      new Variable("password", { workspaceId, key: "PASSWORD", category: "env", value: password, sensitive })
    }
    await stack.up(declaring("opensesame", true))
    expect(await stack.state()).not.toContain("opensesame")
    expect((await stack.up(declaring("opensesame", true))).operations).toMatchObject({ password: "same" })
    expect((await stack.refresh()).operations).toMatchObject({ region: "refresh", password: "refresh" })
    expect((await stack.preview(declaring("opensesame", true))).operations).toMatchObject({ password: "same" })

    const { id } = await workspaces.get({ organization: "acme", name: "api" })
    // The two were created concurrently, in any order.
    const idOf = new Map((await variables.list({ id })).map((one) => [one.key, one.id]))
    const [region = "", password = ""] = [idOf.get("region"), idOf.get("PASSWORD")]
    await variables.update({ id }, password, { value: "of somebody else" })
    await variables.update({ id }, region, { value: "us" })
    await stack.refresh()
    const mended = await stack.up(declaring("opensesame", true))
    expect(mended.operations).toMatchObject({ region: "update", password: "update" })
    expect(await variables.get({ id }, region)).toMatchObject({ value: "eu" })
    expect(await stack.state()).not.toContain("opensesame")

    const readable = await stack.up(declaring("no secret", false))
    expect(readable.operations).toMatchObject({ region: "same", password: "replace" })
    expect(await variables.list({ id })).toMatchObject([{ value: "eu" }, { value: "no secret", sensitive: false }])
    await stack.destroy()
  })

  test("creates every resource once when the network loses responses and resets requests", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await using proxy = await openFaultInjectingProxy(stack.url)
    stack.setEnvironment({ CHANCERY_ENGINE_URL: proxy.url })
    const any = () => true
    const made = (what: string) => (method: string, path: string) => method === "POST" && path.endsWith(what)
    proxy.nextFaults.push(
      { matches: any, answer: { status: 429, headers: { "retry-after": "1" } } },
      { matches: any, answer: { status: 503, headers: { "retry-after": "0" } } },
      { matches: any, answer: { status: 429 } },
      { matches: made("/organizations/acme/workspaces"), answer: "lost" },
    )
    await stack.up(workspace({ autoApply: true }))
    expect(proxy.nextFaults).toEqual([])
    const { items } = await stack.engine.workspaces.list("acme", {}, firstHundred)
    expect(items.map(({ name, autoApply }) => [name, autoApply])).toEqual([["api", true]])
    expect((await stack.up(workspace({ autoApply: true }))).operations).toEqual({ api: "same" })

    // The tag is created, but adding it to its workspace fails. The next run finishes that, and creates no second tag.
    const tagged = async () => {
      const { id } = new Workspace("api", { autoApply: true })
      new Tag("prod", { workspaceIds: [id] })
    }
    proxy.nextFaults.push({ matches: made("/relationships/workspaces"), answer: { status: 409 } })
    await expect(stack.up(tagged)).rejects.toThrow(/409 conflict/)
    expect((await stack.up(tagged)).operations).toEqual({ api: "same", prod: "update" })
    const tags = await stack.engine.tags.list("acme", {}, firstHundred)
    expect(tags.items.map(({ name, instanceCount }) => [name, instanceCount])).toEqual([["prod", 1]])

    // The deletion is executed, but its answer is lost.
    proxy.nextFaults.push({ matches: made("/actions/safe-delete"), answer: "lost" })
    await expect(stack.destroy()).rejects.toThrow(/next `pulumi up` detects the result/)
    await stack.destroy()
    expect((await stack.engine.workspaces.list("acme", {}, firstHundred)).items).toEqual([])
  })

  test("recognizes a workspace whose creation it did not see answered", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const sourceName = "pulumi:organization/project/test/api"
    const { id } = await stack.engine.workspaces.create("acme", { name: "api", sourceName })
    await stack.up(workspace({ autoApply: true }))
    expect(await stack.engine.workspaces.get({ organization: "acme", name: "api" })).toMatchObject({
      id,
      autoApply: true,
    })
    await stack.destroy()
    expect((await stack.engine.workspaces.list("acme", {}, firstHundred)).items).toEqual([])
  })

  test.each(sampleOf(["embedded", "remote"] as const, 7))(
    "creates, changes, repairs and deletes mounts and roles with the %s engine",
    async (mode) => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(pkiScenario(stack)).resolves.toBeUndefined()
    },
  )
})
