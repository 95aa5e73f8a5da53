import type { Values } from "@chancery/engine/declared"
import { expect, test } from "vitest"
import { lifecycles } from "../lifecycle/kinds.ts"
import { isLegacyState, namedState } from "./legacy-state.ts"

const declared = { organization: "acme", name: "api", autoApply: false }
const settings = { createdAt: "2026-01-01T00:00:00.000Z", engineVersion: "1.9.0", queueAllRuns: true }
const named = {
  ...declared,
  ...settings,
  projectId: "prj-1",
  adopted: false,
  agentPoolId: null,
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApplyRunTrigger: false,
  autoDestroyActivityDuration: null,
  autoDestroyAt: null,
  description: null,
  executionMode: "remote",
  fileTriggersEnabled: true,
  globalRemoteState: false,
  inheritsProjectAutoDestroy: true,
  projectRemoteState: false,
  settingOverwrites: { agentPool: false, executionMode: false },
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  triggerPatterns: [],
  triggerPrefixes: [],
  vcsRepo: null,
  workingDirectory: null,
  deletionPolicy: "safe",
  __marker: "prod:api",
  __managed: ["autoApply", "name", "organization"],
}
const { createdAt, engineVersion, queueAllRuns } = settings

test.each<{ form: string; found: unknown; others: Values }>([
  {
    form: "a JSON text",
    found: JSON.stringify([createdAt, engineVersion, "prj-1", "prod:api", { queueAllRuns }]),
    others: {},
  },
  {
    form: "a list",
    found: [createdAt, engineVersion, "prj-1", { queueAllRuns }],
    others: { __marker: "prod:api" },
  },
  {
    form: "an object",
    found: { createdAt, engineVersion, projectId: "prj-1", queueAllRuns },
    others: { __marker: "prod:api" },
  },
])("[F-U5] a state with settings in $form is read with all members by name", ({ found, others }) => {
  const legacy = { ...declared, deletionPolicy: "safe", ...others, __found: found }
  expect(isLegacyState(legacy)).toBe(true)
  expect(namedState(legacy)).toEqual(named)
})

test.each([
  { form: "a JSON text", found: JSON.stringify([createdAt, engineVersion, null, "prod:api"]), others: {} },
  { form: "a list", found: [createdAt, engineVersion, null], others: { __marker: "prod:api" } },
])("[F-U5] a declared member is read from its own place when $form has null for it", ({ found, others }) => {
  const legacy = { ...declared, projectId: "prj-2", deletionPolicy: "safe", ...others, __found: found }
  expect(namedState(legacy)).toEqual({
    ...named,
    queueAllRuns: false,
    projectId: "prj-2",
    __managed: ["autoApply", "name", "organization", "projectId"],
  })
})

test("[F-U5] a state with named members is no legacy state and is returned as it is", () => {
  expect(isLegacyState(named)).toBe(false)
  expect(namedState(named)).toEqual(named)
})

test("every omitted setting is a member of a workspace", () => {
  const { adopted: _adopted, __managed: _managed, ...omitted } = namedState({ __found: {} })
  expect(lifecycles.workspace.members).toEqual(expect.arrayContaining(Object.keys(omitted)))
})
