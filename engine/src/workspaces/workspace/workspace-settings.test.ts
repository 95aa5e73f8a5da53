import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import type { OrganizationId, ProjectId, WorkspaceId } from "../../core/ids.ts"
import { dayMs } from "../../core/time.ts"
import { knownReleases } from "./terraform-version.ts"
import { changeWorkspace, createWorkspace, type Surroundings } from "./workspace-settings.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { Workspace, WorkspaceSettings } from "./workspace.ts"

const created = Date.UTC(2026, 0, 1)
const later = created + dayMs
const place = {
  id: "ws-1111111111111111" as WorkspaceId,
  organizationId: "org-1111111111111111" as OrganizationId,
  projectId: "prj-1111111111111111" as ProjectId,
}
const usual: Surroundings = {
  edition: "self-hosted",
  plan: "free",
  execution: { executionMode: "remote", agentPoolId: null, remoteOperations: "on" },
  globalRemoteStateDefault: false,
  releases: knownReleases(),
  nameIsTaken: false,
  agentPoolExists: true,
  agentPoolAdmits: true,
  oauthTokenExists: true,
  oauthTokenAdmits: true,
  appInstallationExists: true,
}
const hosted: Surroundings = { ...usual, edition: "hosted", plan: "plus" }
const agents: Surroundings = {
  ...usual,
  execution: { executionMode: "agent", agentPoolId: "apool-default", remoteOperations: "on" },
}

const create = (input: WorkspaceInput, surroundings = usual) =>
  createWorkspace({ name: "web", ...input }, place, surroundings, created)
const change = (before: Workspace, input: WorkspaceInput, surroundings = usual) =>
  changeWorkspace(before, place.projectId, input, surroundings, later)

/** Returns the field of each fault in order, or an empty list if the input was accepted. */
function faultsOf(work: () => unknown): string[] {
  try {
    work()
    return []
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    return error.faults.map(({ field }) => (field ?? []).join("."))
  }
}

const repo = { identifier: "acme/web", oauthTokenId: "ot-1" }

describe("defaults of a new workspace", () => {
  test.each<[keyof WorkspaceSettings, unknown]>([
    ["description", null],
    ["allowDestroyPlan", true],
    ["assessmentsEnabled", false],
    ["autoApply", false],
    ["autoApplyRunTrigger", false],
    ["autoDestroyAt", null],
    ["autoDestroyActivityDuration", null],
    ["inheritsProjectAutoDestroy", true],
    ["executionMode", "remote"],
    ["agentPoolId", null],
    ["settingOverwrites", { executionMode: false, agentPool: false }],
    ["fileTriggersEnabled", true],
    ["globalRemoteState", false],
    ["projectRemoteState", false],
    ["queueAllRuns", false],
    ["speculativeEnabled", true],
    ["structuredRunOutputEnabled", true],
    ["engineVersion", usual.releases.at(-1)],
    ["triggerPatterns", []],
    ["triggerPrefixes", []],
    ["vcsRepo", null],
    ["workingDirectory", null],
  ])("%s is %j", (name, expected) => {
    expect(create({})[name]).toEqual(expected)
  })

  test("global remote state is the administrators' default", () => {
    expect(create({}, { ...usual, globalRemoteStateDefault: true }).globalRemoteState).toBe(true)
    expect(create({ globalRemoteState: false }, { ...usual, globalRemoteStateDefault: true }).globalRemoteState).toBe(
      false,
    )
  })

  test("state shared with the project is not shared with the organization, whatever the default is", () => {
    const made = create({ projectRemoteState: true }, { ...usual, globalRemoteStateDefault: true })
    expect([made.globalRemoteState, made.projectRemoteState]).toEqual([false, true])
  })

  test("a new workspace is unlocked, manages nothing and has equal times of creation and update", () => {
    expect(create({})).toMatchObject({
      lock: { held: false },
      resourceCount: 0,
      createdAt: created,
      updatedAt: created,
      latestChangeAt: created,
      currentRunId: null,
    })
  })
})

describe("each rule rejects invalid input with the name of the attribute", () => {
  const bad: { why: string; input: WorkspaceInput; faults: string[]; in?: Surroundings }[] = [
    { why: "name is required", input: { name: "" }, faults: ["name"] },
    { why: "name contains a space", input: { name: "a b" }, faults: ["name"] },
    { why: "name contains a dot", input: { name: "a.b" }, faults: ["name"] },
    { why: "name contains another character", input: { name: "größe" }, faults: ["name"] },
    { why: "name has more than 90 characters", input: { name: "a".repeat(91) }, faults: ["name"] },
    { why: "name is taken", input: {}, faults: ["name"], in: { ...usual, nameIsTaken: true } },
    { why: "description is too long", input: { description: "x".repeat(10_001) }, faults: ["description"] },
    { why: "agent mode without a pool", input: { executionMode: "agent" }, faults: ["agentPoolId"] },
    {
      why: "agent mode with an empty pool",
      input: { executionMode: "agent", agentPoolId: "" },
      faults: ["agentPoolId"],
    },
    {
      why: "state shared with both the organization and the project",
      input: { globalRemoteState: true, projectRemoteState: true },
      faults: ["projectRemoteState"],
    },
    {
      why: "a pool in remote mode",
      input: { executionMode: "remote", agentPoolId: "apool-1" },
      faults: ["agentPoolId"],
    },
    {
      why: "a pool in local mode",
      input: { executionMode: "local", agentPoolId: "apool-1" },
      faults: ["agentPoolId"],
    },
    { why: "a pool with operations", input: { operations: true, agentPoolId: "apool-1" }, faults: ["agentPoolId"] },
    { why: "a pool in an inherited remote mode", input: { agentPoolId: "apool-1" }, faults: ["agentPoolId"] },
    {
      why: "a pool that is not in the organization",
      input: { executionMode: "agent", agentPoolId: "apool-9" },
      faults: ["agentPoolId"],
      in: { ...usual, agentPoolExists: false },
    },
    {
      why: "operations together with execution mode",
      input: { operations: true, executionMode: "remote" },
      faults: ["operations"],
    },
    {
      why: "an overwritten mode without a mode",
      input: { settingOverwrites: { executionMode: true } },
      faults: ["executionMode"],
    },
    {
      why: "an absent member of setting-overwrites is true",
      input: { settingOverwrites: { agentPool: false } },
      faults: ["executionMode"],
    },
    {
      why: "a duration of zero days",
      input: { autoDestroyActivityDuration: "0d" },
      faults: ["autoDestroyActivityDuration"],
    },
    {
      why: "a duration of five digits",
      input: { autoDestroyActivityDuration: "10000h" },
      faults: ["autoDestroyActivityDuration"],
    },
    {
      why: "a duration in other units",
      input: { autoDestroyActivityDuration: "3w" },
      faults: ["autoDestroyActivityDuration"],
    },
    { why: "an empty duration", input: { autoDestroyActivityDuration: "" }, faults: ["autoDestroyActivityDuration"] },
    { why: "an invalid version", input: { engineVersion: "nonexisting" }, faults: ["engineVersion"] },
    { why: "a constraint that no release matches", input: { engineVersion: "> 99" }, faults: ["engineVersion"] },
    {
      why: "patterns together with prefixes",
      input: { triggerPatterns: ["/a/*"], triggerPrefixes: ["/b"] },
      faults: ["triggerPatterns"],
    },
    { why: "blank triggers", input: { triggerPatterns: ["/a", " "] }, faults: ["triggerPatterns.1"] },
    {
      why: "[F-W8] assessments in the self-hosted edition",
      input: { assessmentsEnabled: true },
      faults: ["assessmentsEnabled"],
    },
    {
      why: "a directory outside the repository",
      input: { workingDirectory: "a/../../b" },
      faults: ["workingDirectory"],
    },
    { why: "a source URL that is not a URL", input: { sourceUrl: "not a url" }, faults: ["sourceUrl"] },
    { why: "a source URL without http or https", input: { sourceUrl: "javascript:alert(1)" }, faults: ["sourceUrl"] },
    {
      why: "a repository without identifier and connection",
      input: { vcsRepo: { branch: "main" } },
      faults: ["vcsRepo.identifier", "vcsRepo.oauthTokenId"],
    },
    {
      why: "an identifier without the form :org/:repo",
      input: { vcsRepo: { ...repo, identifier: "web" } },
      faults: ["vcsRepo.identifier"],
    },
    {
      why: "two kinds of connection",
      input: { vcsRepo: { ...repo, githubAppInstallationId: "ghain-1" } },
      faults: ["vcsRepo.githubAppInstallationId"],
    },
    {
      why: "a token that is not in the organization",
      input: { vcsRepo: repo },
      faults: ["vcsRepo.oauthTokenId"],
      in: { ...usual, oauthTokenExists: false },
    },
    {
      why: "an installation that is not in the organization",
      input: { vcsRepo: { identifier: "acme/web", githubAppInstallationId: "ghain-1" } },
      faults: ["vcsRepo.githubAppInstallationId"],
      in: { ...usual, appInstallationExists: false },
    },
    {
      why: "a branch name that git rejects",
      input: { vcsRepo: { ...repo, branch: "a b" } },
      faults: ["vcsRepo.branch"],
    },
    {
      why: "a regular expression that does not compile",
      input: { vcsRepo: { ...repo, tagsRegex: "v(" } },
      faults: ["vcsRepo.tagsRegex"],
    },
    {
      why: "a tags regex together with trigger patterns",
      input: { vcsRepo: { ...repo, tagsRegex: "v.*" }, triggerPatterns: ["/a"] },
      faults: ["triggerPatterns"],
    },
    {
      why: "a tags regex together with trigger prefixes",
      input: { vcsRepo: { ...repo, tagsRegex: "v.*" }, triggerPrefixes: ["/a"] },
      faults: ["triggerPrefixes"],
    },
    {
      why: "a tags regex together with file triggers",
      input: { vcsRepo: { ...repo, tagsRegex: "v.*" }, fileTriggersEnabled: true },
      faults: ["fileTriggersEnabled"],
    },
    {
      why: "assessments below the top plan",
      input: { assessmentsEnabled: true },
      faults: ["assessmentsEnabled"],
      in: { ...hosted, plan: "standard" },
    },
    {
      why: "assessments below version 0.15.4",
      input: { assessmentsEnabled: true, engineVersion: "0.15.3" },
      faults: ["assessmentsEnabled"],
      in: hosted,
    },
    {
      why: "assessments outside remote mode",
      input: { assessmentsEnabled: true, executionMode: "local" },
      faults: ["assessmentsEnabled"],
      in: hosted,
    },
  ]
  test.each(bad)("at create: $why", ({ input, faults, in: surroundings }) => {
    expect(faultsOf(() => create(input, surroundings))).toEqual(faults)
  })
  test.each(bad)("at update: $why", ({ input, faults, in: surroundings }) => {
    expect(faultsOf(() => change(create({}), { name: "web", ...input }, surroundings))).toEqual(faults)
  })

  test("all faults of one request are reported at once, those of the decoder first", () => {
    const input: WorkspaceInput = {
      name: "no spaces please",
      engineVersion: "soon",
      workingDirectory: "/..",
      vcsRepo: {},
      faults: [{ field: ["autoApply"], detail: "auto-apply must be a boolean" }],
    }
    expect(faultsOf(() => create(input))).toEqual([
      "autoApply",
      "name",
      "engineVersion",
      "vcsRepo.identifier",
      "vcsRepo.oauthTokenId",
      "workingDirectory",
    ])
  })
})

describe("valid input is accepted", () => {
  const good: { why: string; input: WorkspaceInput; expected: Partial<Workspace>; in?: Surroundings }[] = [
    { why: "a name of 90 characters", input: { name: "a".repeat(90) }, expected: { name: "a".repeat(90) } },
    {
      why: "a literal mode overwrites mode and pool",
      input: { executionMode: "local" },
      expected: { executionMode: "local", settingOverwrites: { executionMode: true, agentPool: true } },
    },
    {
      why: "operations false is local mode",
      input: { operations: false },
      expected: { executionMode: "local", settingOverwrites: { executionMode: true, agentPool: true } },
    },
    {
      why: "agent mode with a pool",
      input: { executionMode: "agent", agentPoolId: "apool-1" },
      expected: { agentPoolId: "apool-1", settingOverwrites: { executionMode: true, agentPool: true } },
    },
    {
      why: "own agent mode on the default pool",
      input: { executionMode: "agent", settingOverwrites: { executionMode: true, agentPool: false } },
      in: agents,
      expected: { agentPoolId: null, settingOverwrites: { executionMode: true, agentPool: false } },
    },
    {
      why: "an own pool with an inherited agent mode",
      input: { agentPoolId: "apool-1" },
      in: agents,
      expected: { agentPoolId: "apool-1", settingOverwrites: { executionMode: false, agentPool: true } },
    },
    {
      why: "setting-overwrites that inherit mode and pool",
      input: { settingOverwrites: { executionMode: false, agentPool: false } },
      in: agents,
      expected: { settingOverwrites: { executionMode: false, agentPool: false } },
    },
    {
      why: "setting-overwrites that inherit the mode also inherit the pool",
      input: { settingOverwrites: { executionMode: false } },
      in: agents,
      expected: { settingOverwrites: { executionMode: false, agentPool: false } },
    },
    {
      why: "an empty pool id and an empty regex are unset",
      input: { executionMode: "remote", agentPoolId: "", vcsRepo: { ...repo, tagsRegex: "" } },
      expected: { agentPoolId: null, fileTriggersEnabled: true },
    },
    {
      why: "a duration of four digits",
      input: { autoDestroyActivityDuration: "9999h" },
      expected: {
        autoDestroyActivityDuration: "9999h",
        inheritsProjectAutoDestroy: false,
      },
    },
    {
      why: "an instant in the past",
      input: { autoDestroyAt: 0 },
      expected: { autoDestroyAt: 0, inheritsProjectAutoDestroy: false },
    },
    {
      why: "a constraint is stored as it was sent",
      input: { engineVersion: "~> 1.5" },
      expected: { engineVersion: "~> 1.5" },
    },
    { why: "an empty directory is the root", input: { workingDirectory: "" }, expected: { workingDirectory: null } },
    {
      why: "[F-W11] a leading slash is the root of the repository and is kept",
      input: { workingDirectory: "/db" },
      expected: { workingDirectory: "/db" },
    },
    { why: "a directory", input: { workingDirectory: "envs/prod/" }, expected: { workingDirectory: "envs/prod/" } },
    {
      why: "patterns together with empty prefixes",
      input: { triggerPatterns: ["/**/net/*"], triggerPrefixes: [] },
      expected: { triggerPatterns: ["/**/net/*"], triggerPrefixes: [] },
    },
    {
      why: "an identifier with _git",
      input: { vcsRepo: { ...repo, identifier: "acme/my project/_git/web" } },
      expected: {
        vcsRepo: {
          identifier: "acme/my project/_git/web",
          oauthTokenId: "ot-1",
          githubAppInstallationId: null,
          branch: "",
          ingressSubmodules: false,
          tagsRegex: null,
        },
      },
    },
    {
      why: "a tags regex disables file triggers",
      input: { vcsRepo: { ...repo, tagsRegex: "(?i)^v\\d+" } },
      expected: { fileTriggersEnabled: false },
    },
    {
      why: "assessments when all conditions are met",
      input: { assessmentsEnabled: true },
      in: hosted,
      expected: { assessmentsEnabled: true },
    },
    {
      why: "false for assessments in the self-hosted edition",
      input: { assessmentsEnabled: false },
      expected: { assessmentsEnabled: false },
    },
  ]
  test.each(good)("at create: $why", ({ input, expected, in: surroundings }) => {
    expect(create(input, surroundings)).toMatchObject(expected)
  })
  test.each(good)("at update: $why", ({ input, expected, in: surroundings }) => {
    expect(change(create({}), input, surroundings)).toMatchObject(expected)
  })
})

describe("updates", () => {
  test("an omitted attribute keeps its value", () => {
    const before = create({
      description: "shop",
      executionMode: "agent",
      agentPoolId: "apool-1",
      autoApply: true,
      triggerPrefixes: ["/a"],
      vcsRepo: repo,
      autoDestroyAt: 5,
      sourceName: "cli",
    })
    expect(change(before, {})).toEqual(before)
    expect(change(before, { autoApply: false })).toEqual({ ...before, autoApply: false, updatedAt: later })
  })

  test.each<{ why: string; from: WorkspaceInput; to: WorkspaceInput; expected: Partial<Workspace> }>([
    {
      why: "null clears a description",
      from: { description: "x" },
      to: { description: null },
      expected: { description: null },
    },
    { why: "null removes the repository", from: { vcsRepo: repo }, to: { vcsRepo: null }, expected: { vcsRepo: null } },
    {
      why: "a repository changes only in the members that are sent",
      from: { vcsRepo: { ...repo, branch: "main", ingressSubmodules: true } },
      to: { vcsRepo: { branch: "next" } },
      expected: {
        vcsRepo: {
          identifier: "acme/web",
          oauthTokenId: "ot-1",
          githubAppInstallationId: null,
          branch: "next",
          ingressSubmodules: true,
          tagsRegex: null,
        },
      },
    },
    {
      why: "an installation replaces the token",
      from: { vcsRepo: repo },
      to: { vcsRepo: { githubAppInstallationId: "ghain-1" } },
      expected: {
        vcsRepo: {
          identifier: "acme/web",
          oauthTokenId: null,
          githubAppInstallationId: "ghain-1",
          branch: "",
          ingressSubmodules: false,
          tagsRegex: null,
        },
      },
    },
    {
      why: "patterns clear prefixes",
      from: { triggerPrefixes: ["/a"] },
      to: { triggerPatterns: ["/b/*"] },
      expected: { triggerPatterns: ["/b/*"], triggerPrefixes: [] },
    },
    {
      why: "prefixes clear patterns",
      from: { triggerPatterns: ["/a/*"] },
      to: { triggerPrefixes: ["/b"] },
      expected: { triggerPatterns: [], triggerPrefixes: ["/b"] },
    },
    {
      why: "[F-W11] empty prefixes clear patterns",
      from: { triggerPatterns: ["/a/*"] },
      to: { triggerPrefixes: [] },
      expected: { triggerPatterns: [], triggerPrefixes: [] },
    },
    {
      why: "[F-W11] empty patterns clear prefixes",
      from: { triggerPrefixes: ["/a"] },
      to: { triggerPatterns: [] },
      expected: { triggerPatterns: [], triggerPrefixes: [] },
    },
    {
      why: "[F-W11] an instant replaces the duration and ends the inheritance of both",
      from: { autoDestroyActivityDuration: "14d" },
      to: { autoDestroyAt: 5 },
      expected: { autoDestroyAt: 5, autoDestroyActivityDuration: null, inheritsProjectAutoDestroy: false },
    },
    {
      why: "[F-W11] an instant ends the inheritance",
      from: { inheritsProjectAutoDestroy: true },
      to: { autoDestroyAt: 5 },
      expected: { autoDestroyAt: 5, inheritsProjectAutoDestroy: false },
    },
    {
      why: "[F-W11] clearing the instant keeps the duration",
      from: { autoDestroyActivityDuration: "14d" },
      to: { autoDestroyAt: null },
      expected: { autoDestroyAt: null, autoDestroyActivityDuration: "14d", inheritsProjectAutoDestroy: false },
    },
    {
      why: "a tags regex clears patterns",
      from: { vcsRepo: repo, triggerPatterns: ["/a/*"] },
      to: { vcsRepo: { tagsRegex: "v.*" } },
      expected: { triggerPatterns: [], fileTriggersEnabled: false },
    },
    {
      why: "another mode removes the agent pool",
      from: { executionMode: "agent", agentPoolId: "apool-1" },
      to: { executionMode: "remote" },
      expected: { executionMode: "remote", agentPoolId: null },
    },
    {
      why: "setting-overwrites false inherits again",
      from: { executionMode: "local" },
      to: { settingOverwrites: { executionMode: false, agentPool: false } },
      expected: { settingOverwrites: { executionMode: false, agentPool: false } },
    },
    {
      why: "setting-overwrites true keeps the workspace's mode",
      from: { executionMode: "local" },
      to: { settingOverwrites: { executionMode: true } },
      expected: { executionMode: "local", settingOverwrites: { executionMode: true, agentPool: true } },
    },
    {
      why: "null clears the instant",
      from: { autoDestroyAt: 5 },
      to: { autoDestroyAt: null },
      expected: { autoDestroyAt: null },
    },
    {
      why: "clearing the duration clears the instant",
      from: { autoDestroyAt: 5 },
      to: { autoDestroyActivityDuration: null },
      expected: { autoDestroyAt: null, autoDestroyActivityDuration: null },
    },
    {
      why: "a duration replaces the instant",
      from: { autoDestroyAt: 5 },
      to: { autoDestroyActivityDuration: "14d", inheritsProjectAutoDestroy: false },
      expected: { autoDestroyAt: null, autoDestroyActivityDuration: "14d" },
    },
  ])("$why", ({ from, to, expected }) => {
    expect(change(create(from), to)).toMatchObject(expected)
  })

  test("assessments are disabled when the mode no longer allows them", () => {
    const before = create({ assessmentsEnabled: true }, hosted)
    expect(change(before, { executionMode: "local" }, hosted).assessmentsEnabled).toBe(false)
  })

  test("patterns are rejected while the workspace has a tags regex", () => {
    const before = create({ vcsRepo: { ...repo, tagsRegex: "v.*" } })
    expect(faultsOf(() => change(before, { triggerPatterns: ["/a"] }))).toEqual(["triggerPatterns"])
    expect(change(before, { triggerPatterns: ["/a"], vcsRepo: { tagsRegex: "" } }).triggerPatterns).toEqual(["/a"])
  })
})
