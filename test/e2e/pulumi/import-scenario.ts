// Imports everything in an engine into a stack with the import command and `pulumi import`. A program that declares it finds no changes.
import { join } from "node:path"
import { expect } from "vitest"
import type { ServedEngine } from "../../../engine/src/engine.ts"
import { run } from "../../../provider/src/cli/index.ts"
import type { TestStack } from "./stack.ts"

const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----"

/** Creates resources as a team has them that did not use Pulumi before. */
async function furnish(engine: ServedEngine): Promise<void> {
  const { workspaces, projects, tags } = engine
  const { id: projectId } = await projects.create("acme", {
    name: "payments",
    description: "money",
    tagBindings: [{ key: "team", value: "payments" }],
  })
  const { id: agentPoolId } = await engine.agentPools.create("acme", { name: "pool" })
  const { id: sshKeyId } = await engine.sshKeys.create("acme", { name: "modules", value: sshKey })
  const api = await workspaces.create("acme", {
    name: "api",
    projectId,
    executionMode: "agent",
    agentPoolId,
    autoApply: true,
    globalRemoteState: false,
    engineVersion: "~> 1.5",
    triggerPatterns: ["a/**"],
    tagBindings: [{ key: "env", value: "prod" }],
    tags: [{ name: "web" }, { name: "Blue" }],
  })
  const web = await workspaces.create("acme", { name: "web" })
  await workspaces.create("acme", { name: "2nd-try", executionMode: "local", description: 'says "no"' })
  await engine.remoteStateConsumers.add(api.id, [web.id])
  await workspaces.assignSshKey({ id: api.id }, sshKeyId)
  await engine.retentionPolicies.set({ kind: "workspace", id: web.id }, { kind: "delete-older", days: 30 })
  const variable = { key: "region", category: "terraform", value: "eu", description: "where", hcl: false } as const
  await engine.variables.create({ id: web.id }, { ...variable, sensitive: false })
  await engine.variables.create({ id: web.id }, { ...variable, category: "env", value: "hidden", sensitive: true })
  await tags.create("acme", ["unused"])
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 31_536_000_000 } })
  const pki = engine.pki("pki")
  await pki.roles.save("site", { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec" })
  await pki.roles.save("plain", {})
  await pki.issuers.generateRoot({ commonName: "Example Root", issuerName: "root", keyType: "ec" })
  await engine.mounts.tune("pki", { config: { allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"] } })
  await pki.settings.changeCluster({ path: "https://ca.example/v1/pki" })
  await pki.settings.changeAcme({ enabled: true, allowedRoles: ["site"], eabPolicy: "always-required" })
  await pki.settings.changeEst({ enabled: true, labelToPathPolicy: { site: "role:site" }, auditFields: ["csr"] })
}

export async function importScenario(stack: TestStack): Promise<void> {
  await furnish(stack.engine)
  const [file, program] = [join(stack.folder, "import.json"), join(stack.folder, "program/imported.ts")]
  const messages: string[] = []
  const say = (text: string) => void messages.push(text)
  const terminal = { environment: stack.environment, say, complain: say }
  const args = ["import", "--mount", "pki", "--file", file, "--program", program]
  expect([await run(args, terminal), messages.join("")]).toEqual([0, expect.stringContaining("17 resources are in")])
  await stack.command(["import", "--file", file, "--generate-code=false", "--protect=false", "--yes"])

  const declared = async () => void (await import(program))
  const allSame = (operations: object) => {
    expect(Object.keys(operations)).toHaveLength(17)
    expect(new Set(Object.values(operations))).toEqual(new Set(["same"]))
  }
  allSame((await stack.preview(declared)).operations)
  await stack.refresh()
  // A module runs only once, so a query makes its URL new; without it, the second run would declare nothing.
  const again = async () => void (await import(`${program}?again`))
  allSame((await stack.up(again)).operations)

  // Imported resources are retained.
  await stack.destroy()
  const { items } = await stack.engine.workspaces.list("acme", {}, { number: 1, size: 10 })
  expect(items.map(({ name }) => name)).toEqual(["2nd-try", "api", "web"])
  const [, , web] = items
  // Created within the same millisecond, so either can be first.
  const variables = await stack.engine.variables.list({ id: web?.id ?? "" })
  expect(variables.toSorted((a, b) => a.category.localeCompare(b.category))).toMatchObject([
    { category: "env", sensitive: true },
    { category: "terraform", value: "eu" },
  ])
  expect(await stack.engine.pki("pki").roles.list()).toEqual(["plain", "site"])
  expect(await stack.engine.pki("pki").settings.acme()).toMatchObject({ enabled: true, allowedRoles: ["site"] })
  expect(await stack.engine.pki("pki").settings.est()).toMatchObject({ labelToPathPolicy: { site: "role:site" } })
}
