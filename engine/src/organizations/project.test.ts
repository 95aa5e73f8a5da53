import { describe, expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import { activityDurationFaults, changeProject, createProject, projectDefaults, projectNameFaults } from "./project.ts"

const made = { id: "prj-1" as ProjectId, organizationId: "org-1" as OrganizationId, now: 1 }
const remote = { defaultExecutionMode: "remote", defaultAgentPoolId: null, remoteOperations: "on" } as const
const agents = { defaultExecutionMode: "agent", defaultAgentPoolId: "apool-org", remoteOperations: "on" } as const
const under = (organization: typeof remote | typeof agents) => ({
  organization,
  ownsAgentPool: true,
  bindingFaults: [],
})
const plain = createProject({ name: "web" }, under(remote), made)

function detailsOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (isEngineError(error, "invalid") || isEngineError(error, "unprocessable"))
      return error.faults.map(({ detail }) => detail)
    throw error
  }
}

test.each([
  { name: "web", valid: true },
  { name: "Web Shop_2-x", valid: true },
  { name: "a".repeat(40), valid: true },
  { name: "a".repeat(41), valid: false },
  { name: "", valid: false },
  { name: " web", valid: false },
  { name: "web ", valid: false },
  { name: "web\tshop", valid: false },
  { name: "web.shop", valid: false },
])('the project name "$name" is valid: $valid', ({ name, valid }) => {
  expect(projectNameFaults(name)).toHaveLength(valid ? 0 : 1)
})

test.each([
  { duration: "1d", valid: true },
  { duration: "9999h", valid: true },
  { duration: "0014d", valid: true },
  { duration: "0d", valid: false },
  { duration: "0000h", valid: false },
  { duration: "10000d", valid: false },
  { duration: "1m", valid: false },
  { duration: "d", valid: false },
  { duration: "", valid: false },
])('the activity duration "$duration" is valid: $valid', ({ duration, valid }) => {
  expect(activityDurationFaults(duration)).toHaveLength(valid ? 0 : 1)
})

describe("project defaults", () => {
  test("are the organization's until the project sets its own", () => {
    expect(projectDefaults(plain, remote)).toEqual({ executionMode: "remote", agentPoolId: null })
    expect(projectDefaults(plain, agents)).toEqual({ executionMode: "agent", agentPoolId: "apool-org" })
    const local = changeProject(plain, { defaultExecutionMode: "local" }, under(agents))
    expect(projectDefaults(local, agents)).toEqual({ executionMode: "local", agentPoolId: null })
    const own = changeProject(plain, { defaultAgentPoolId: "apool-own" }, under(agents))
    expect(own.defaultExecutionMode).toBeNull()
    expect(projectDefaults(own, agents)).toEqual({ executionMode: "agent", agentPoolId: "apool-own" })
  })

  test("are inherited again when an overwrite is false, and kept when it is true", () => {
    const own = changeProject(plain, { defaultExecutionMode: "agent", defaultAgentPoolId: "apool-own" }, under(agents))
    const withoutPool = changeProject(own, { settingOverwrites: { defaultAgentPool: false } }, under(agents))
    expect(withoutPool).toMatchObject({ defaultExecutionMode: "agent", defaultAgentPoolId: null })
    const kept = changeProject(own, { settingOverwrites: { defaultExecutionMode: true } }, under(agents))
    expect(kept).toEqual(own)
    const inherits = changeProject(own, { settingOverwrites: { defaultExecutionMode: false } }, under(remote))
    expect(inherits).toMatchObject({ defaultExecutionMode: null, defaultAgentPoolId: null })
  })

  test.each([
    {
      why: "an overwrite without a value",
      patch: { settingOverwrites: { defaultExecutionMode: true, defaultAgentPool: true } },
      details: [
        "Default execution mode must be specified when its setting overwrite is true",
        "Default agent pool must be specified when its setting overwrite is true",
      ],
    },
    {
      why: "agent execution without any pool",
      patch: { defaultExecutionMode: "agent" },
      details: ["Default agent pool must be specified when using 'agent' execution mode"],
    },
    {
      why: "a pool without agent execution",
      patch: { defaultAgentPoolId: "apool-own" },
      details: ["Agent pool must not be specified unless using 'agent' execution mode"],
    },
    {
      why: "[F-W9] overwrites that contradict each other",
      patch: {
        defaultExecutionMode: "remote",
        settingOverwrites: { defaultExecutionMode: true, defaultAgentPool: false },
      },
      details: [
        "If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.",
      ],
    },
  ] as const)("are rejected: $why", ({ patch, details }) => {
    expect(detailsOf(() => changeProject(plain, patch, under(remote)))).toEqual(details)
  })
})

test("a project whose name breaks a later rule can still change other attributes", () => {
  const old = { ...plain, name: "of another time!" }
  expect(changeProject(old, { description: "x" }, under(remote)).description).toBe("x")
})
