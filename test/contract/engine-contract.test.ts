import { describe, expect, test } from "vitest"
import { newUsers } from "./users.ts"
import { engineContract } from "./engine-contract.ts"
import { hosted, implementations } from "./engines.ts"
import { notFound } from "./refusals.ts"

for (const { name, available, open } of implementations)
  describe.skipIf(!available)(`the engine, ${name},`, () => {
    engineContract(open)
  })

test.each(hosted)("the hosted edition, $name, assesses workspaces and retains no data by policy", async ({ open }) => {
  await using opened = await open()
  const { owner, newWorkspace } = await newUsers(opened)
  const { id } = await newWorkspace({ assessmentsEnabled: true })
  expect(await owner.engine.workspaces.get({ id })).toMatchObject({ assessmentsEnabled: true })
  expect(await owner.engine.workspaces.update({ id }, { assessmentsEnabled: false })).toMatchObject({
    assessmentsEnabled: false,
  })
  await expect(owner.engine.retentionPolicies.get({ kind: "workspace", id })).rejects.toMatchObject(notFound)
})
