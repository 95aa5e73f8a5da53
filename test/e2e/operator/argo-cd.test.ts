import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { argoHealth } from "./argo-cd.ts"
import { deployFolder } from "./helm.ts"

const condition = (type: string, status = "True") => ({ type, status, reason: "Why", message: `${type} is ${status}` })
const seen = (...conditions: object[]) => ({ observedGeneration: 3, conditions })

test.each([
  { status: undefined, health: "Progressing", why: "no operator reconciled it" },
  { status: { observedGeneration: 0 }, health: "Progressing", why: "it was just created" },
  { status: { ...seen(condition("Ready")), observedGeneration: 2 }, health: "Progressing", why: "its spec is newer" },
  { status: seen(condition("Ready")), health: "Healthy", why: "it is ready" },
  { status: seen(condition("Ready"), condition("Synced", "False")), health: "Healthy", why: "drift is reported only" },
  { status: seen(condition("Ready"), condition("Issuing")), health: "Healthy", why: "a good one is being renewed" },
  {
    status: seen(condition("Ready", "False")),
    health: "Progressing",
    why: "it is not ready, without further conditions",
  },
  { status: seen(condition("Ready"), condition("Reconciling")), health: "Progressing", why: "it is being updated" },
  {
    status: seen(condition("Ready", "False"), condition("Reconciling")),
    health: "Progressing",
    why: "it is retried",
  },
  { status: seen(condition("Ready", "False"), condition("Stalled")), health: "Degraded", why: "a user must act" },
  { status: seen(condition("Ready"), condition("Paused")), health: "Suspended", why: "reconciliation is paused" },
  {
    status: { ...seen(condition("Ready"), condition("Paused")), observedGeneration: 2 },
    health: "Suspended",
    why: "its spec was edited during the pause",
  },
  {
    status: seen(condition("Stalled", "False"), condition("Ready")),
    health: "Healthy",
    why: "it is no longer stalled",
  },
  { status: seen(), health: "Progressing", why: "it has no conditions" },
])("Argo CD sees an object as $health: $why", async ({ status, health }) => {
  const found = await argoHealth({
    metadata: { name: "it", generation: 3 },
    ...(status === undefined ? {} : { status }),
  })
  expect(found).toEqual({ status: health, message: expect.stringMatching(/\w/) as string })
})

test.each([
  { status: seen(condition("Ready")), health: "Progressing", why: "it is being deleted" },
  {
    status: seen(condition("Ready", "False"), condition("Stalled")),
    health: "Degraded",
    why: "its deletion is blocked",
  },
  {
    status: seen(condition("Ready"), condition("Paused")),
    health: "Progressing",
    why: "a pause does not block deletion",
  },
])("Argo CD sees a deleted object as $health: $why", async ({ status, health }) => {
  const metadata = { name: "it", generation: 3, deletionTimestamp: "2026-01-01T00:00:00Z" }
  expect(await argoHealth({ metadata, status })).toMatchObject({ status: health })
})

test("the health message is shown unchanged, whatever it contains", async () => {
  const message = 'the name "a]]b" is taken\n— by ü'
  const status = seen({ ...condition("Stalled"), message })
  expect(await argoHealth({ metadata: { generation: 3 }, status })).toEqual({ status: "Degraded", message })
})

test("the patch of argocd-cm contains the script itself", async () => {
  const folder = join(deployFolder, "argo-cd")
  const patch = parse(await readFile(join(folder, "argocd-cm.yaml"), "utf8")) as { data: Record<string, string> }
  expect(parse(patch.data["resource.customizations"] ?? "")).toEqual({
    "chancery.dev/*": { "health.lua": await readFile(join(folder, "health.lua"), "utf8") },
  })
})
