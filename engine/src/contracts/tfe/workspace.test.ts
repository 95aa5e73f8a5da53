// The handwritten encoder writes exactly the members of the contract, and the contract reads its output.
import { expect, test } from "vitest"
import { z } from "zod"
import { workspacePermissionNames, type WorkspacePermissions } from "../../workspaces/access/workspace-permissions.ts"
import type { WorkspaceView } from "../../workspaces/workspace/workspace-view.ts"
import { wireNameOf } from "./document.ts"
import { flatWorkspace, workspace } from "./workspace.ts"

const permissions = Object.fromEntries(workspacePermissionNames.map((name) => [name, true])) as WorkspacePermissions

const view = {
  id: "ws-1",
  organizationName: "acme",
  projectId: "prj-1",
  name: "network",
  description: null,
  isDestroyable: true,
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyAt: 5_000,
  autoDestroyStatus: null,
  autoDestroyActivityDuration: "14d",
  inheritsProjectAutoDestroy: false,
  createdAt: 1_000,
  updatedAt: 2_000,
  latestChangeAt: 3_000,
  lastAssessmentResultAt: null,
  environment: "default",
  executionMode: "agent",
  agentPoolId: "apool-1",
  settingOverwrites: { executionMode: true, agentPool: true },
  fileTriggersEnabled: true,
  globalRemoteState: false,
  projectRemoteState: false,
  lock: {
    held: true,
    by: { kind: "users", id: "user-1" },
    reason: "Upgrade",
    since: 4_000,
    end: { at: 64_000, ttlMs: 60_000 },
  },
  oauthClientName: "GitHub",
  permissions,
  metrics: {
    applyDurationAverageMs: 1,
    planDurationAverageMs: null,
    policyCheckFailures: null,
    runFailures: 2,
    runsCount: 3,
  },
  queueAllRuns: false,
  resourceCount: 7,
  source: "tfe-api",
  sourceName: null,
  sourceUrl: null,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  tagNames: ["production"],
  engineVersion: "1.12.2",
  triggerPrefixes: [],
  triggerPatterns: ["*.tf"],
  vcsRepo: {
    identifier: "acme/network",
    oauthTokenId: "ot-1",
    githubAppInstallationId: null,
    branch: "",
    ingressSubmodules: false,
    tagsRegex: null,
    repositoryHttpUrl: "https://github.com/acme/network",
    serviceProvider: "github",
  },
  workingDirectory: null,
  currentConfigurationVersionId: "cv-1",
  currentRunId: "run-1",
  currentStateVersionId: "sv-1",
  currentAssessmentResultId: null,
  outputIds: ["wsout-1"],
  readmeId: null,
  sshKeyId: "sshkey-1",
  variableIds: ["var-1"],
  retentionPolicy: { id: "drp-1", kind: "delete-older" },
} as unknown as WorkspaceView
const minimal = {
  ...view,
  lock: { held: false },
  vcsRepo: null,
  retentionPolicy: null,
  autoDestroyAt: null,
} as WorkspaceView

const groups = ["attributes", "relationships"] as const
const answered = (group: (typeof groups)[number]) =>
  Object.entries(flatWorkspace[group]).flatMap(([name, one]) => {
    const { writeOnly, schema } = one as { readonly writeOnly?: true; readonly schema: z.ZodType }
    return writeOnly === true ? [] : [[wireNameOf(name, one), schema] as const]
  })

test.each(groups)("a workspace with all members has exactly the %s of the contract", (group) => {
  const encoded = workspace.encode({ ...view, effectiveTagBindingIds: ["tb-1"] })[group] ?? {}
  expect(Object.keys(encoded).toSorted()).toEqual(
    answered(group)
      .map(([name]) => name)
      .toSorted(),
  )
})

test.each(groups.flatMap((group) => answered(group).map(([name, schema]) => ({ group, name, schema }))))(
  "$group: $name matches the contract",
  ({ group, name, schema }) => {
    for (const one of [view, minimal])
      expect(schema.optional().safeParse(workspace.encode(one)[group]?.[name])).toMatchObject({ success: true })
  },
)

test.each([
  ["everything", view],
  ["nothing optional", minimal],
])("a workspace with %s is decoded as it was encoded", (_which, one) => {
  expect(workspace.decode(JSON.parse(JSON.stringify(workspace.encode(one))))).toEqual(one)
})

test("objects inside attributes have the members of the contract", () => {
  const { attributes } = workspace.encode(view)
  const objects = Object.entries(flatWorkspace.attributes).filter(([name]) =>
    ["vcsRepo", "permissions", "settingOverwrites", "actions"].includes(name),
  )
  for (const [name, one] of objects) {
    const { properties, anyOf } = z.toJSONSchema(one.schema, { io: "input", unrepresentable: "any" }) as {
      readonly properties?: object
      readonly anyOf?: readonly { readonly properties?: object }[]
    }
    const members = properties ?? anyOf?.[0]?.properties ?? {}
    const encoded = attributes[wireNameOf(name, one)] as object
    expect(Object.keys(encoded).toSorted()).toEqual(Object.keys(members).toSorted())
  }
  expect(objects).toHaveLength(4)
})
