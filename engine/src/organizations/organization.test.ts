import { describe, expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import {
  changeOrganization,
  createOrganization,
  type OrganizationInput,
  organizationNameFaults,
  recordedSettingFaults,
} from "./organization.ts"

const made = { id: "org-1" as OrganizationId, defaultProjectId: "prj-1" as ProjectId, now: 1 }
const input: OrganizationInput = { name: "acme", email: "a@b" }
const before = createOrganization(input, { siteAdmin: false }, made)
const nobody = { siteAdmin: false, ownsAgentPool: false }
const poolOwner = { siteAdmin: false, ownsAgentPool: true }

function faultsOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (isEngineError(error, "invalid"))
      return error.faults.map(({ field, detail }) => `${field?.join(".")}: ${detail}`)
    throw error
  }
}

test.each([
  { name: "acme", valid: true },
  { name: "Acme_2-x", valid: true },
  { name: "a".repeat(40), valid: true },
  { name: "a".repeat(41), valid: false },
  { name: "", valid: false },
  { name: "a b", valid: false },
  { name: "a/b", valid: false },
  { name: "é", valid: false },
])('the organization name "$name" is valid: $valid', ({ name, valid }) => {
  expect(organizationNameFaults(name)).toHaveLength(valid ? 0 : 1)
})

test("a new organization has the defaults of HCP Terraform", () => {
  expect(before).toEqual({
    id: made.id,
    defaultProjectId: made.defaultProjectId,
    name: "acme",
    email: "a@b",
    createdAt: 1,
    defaultExecutionMode: "remote",
    defaultAgentPoolId: null,
    remoteOperations: "on",
    allowForceDeleteWorkspaces: false,
    assessmentsEnforced: false,
    plan: "plus",
    costEstimationEnabled: false,
    collaboratorAuthPolicy: "password",
    sessionTimeout: null,
    sessionRemember: null,
    ownersTeamSamlRoleId: null,
    aggregatedCommitStatusEnabled: true,
    sendPassingStatusesForUntriggeredSpeculativePlans: false,
    speculativePlanManagementEnabled: true,
    stacksEnabled: false,
  })
})

describe("[F-W8] commit statuses exclude each other", () => {
  test.each([
    { patch: { sendPassingStatusesForUntriggeredSpeculativePlans: true }, aggregated: false, untriggered: true },
    {
      patch: { sendPassingStatusesForUntriggeredSpeculativePlans: false, aggregatedCommitStatusEnabled: false },
      aggregated: false,
      untriggered: false,
    },
    { patch: { aggregatedCommitStatusEnabled: true }, aggregated: true, untriggered: false },
  ])("$patch", ({ patch, aggregated, untriggered }) => {
    const sending = changeOrganization(before, { sendPassingStatusesForUntriggeredSpeculativePlans: true }, poolOwner)
    expect(changeOrganization(sending, patch, poolOwner)).toMatchObject({
      aggregatedCommitStatusEnabled: aggregated,
      sendPassingStatusesForUntriggeredSpeculativePlans: untriggered,
    })
  })

  test.each([
    {
      patch: { sendPassingStatusesForUntriggeredSpeculativePlans: true, aggregatedCommitStatusEnabled: true },
      field: "aggregatedCommitStatusEnabled",
    },
    { patch: { sessionTimeout: 0 }, field: "sessionTimeout" },
    { patch: { sessionRemember: 1.5 }, field: "sessionRemember" },
    { patch: { ownersTeamSamlRoleId: "r".repeat(256) }, field: "ownersTeamSamlRoleId" },
  ])("$patch is rejected", ({ patch, field }) => {
    expect(recordedSettingFaults(patch)).toMatchObject([{ field: [field] }])
  })
})

describe("the default agent pool", () => {
  const withPool = changeOrganization(
    before,
    { defaultExecutionMode: "agent", defaultAgentPoolId: "apool-1" },
    poolOwner,
  )

  test("is set by agent execution and cleared when that ends", () => {
    expect(withPool).toMatchObject({ defaultExecutionMode: "agent", defaultAgentPoolId: "apool-1" })
    expect(changeOrganization(withPool, { email: "c@d" }, nobody).defaultAgentPoolId).toBe("apool-1")
    expect(changeOrganization(withPool, { defaultExecutionMode: "local" }, nobody)).toMatchObject({
      defaultExecutionMode: "local",
      defaultAgentPoolId: null,
    })
  })

  const unlessAgent = "Default agent pool must not be specified unless using 'agent' execution mode"
  const needed = "Default agent pool must be specified when using 'agent' execution mode"
  test.each([
    {
      why: "a pool with remote execution",
      of: before,
      patch: { defaultAgentPoolId: "apool-1" },
      fault: `defaultAgentPoolId.id: ${unlessAgent}`,
    },
    {
      why: "a pool in a change away from agent execution",
      of: withPool,
      patch: { defaultExecutionMode: "local", defaultAgentPoolId: "apool-1" },
      fault: `defaultAgentPoolId.id: ${unlessAgent}`,
    },
    {
      why: "agent execution without a pool",
      of: before,
      patch: { defaultExecutionMode: "agent" },
      fault: `defaultAgentPoolId: ${needed}`,
    },
    {
      why: "agent execution with its pool removed",
      of: withPool,
      patch: { defaultAgentPoolId: null },
      fault: `defaultAgentPoolId: ${needed}`,
    },
  ] as const)("is rejected: $why", ({ of, patch, fault }) => {
    expect(faultsOf(() => changeOrganization(of, patch, poolOwner))).toEqual([fault])
  })

  test("in another organization does not exist", () => {
    const patch = { defaultExecutionMode: "agent", defaultAgentPoolId: "apool-1" } as const
    expect(faultsOf(() => changeOrganization(before, patch, nobody))).toEqual([
      "defaultAgentPoolId.id: Default agent pool does not exist in this organization",
    ])
  })
})

test("only a site administrator can change the plan; naming the current one is no change", () => {
  expect(faultsOf(() => changeOrganization(before, { plan: "free", email: "x" }, nobody))).toEqual([
    "email: Email is invalid",
    "plan: Plan identifier can only be set by a site administrator",
  ])
  expect(changeOrganization(before, { plan: "plus" }, nobody).plan).toBe("plus")
  expect(changeOrganization(before, { plan: "free" }, { ...nobody, siteAdmin: true }).plan).toBe("free")
})
