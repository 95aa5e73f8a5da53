// Declared workspaces and tags: validation before any request, and differences to the observed state.
import { describe, expect, test } from "vitest"
import type { Fault } from "../core/errors.ts"
import { type ObservedTag, tagResource, type TagSpec } from "./tag.ts"
import { tagBindingsResource, type TagBindingsSpec } from "./tag-bindings.ts"
import { type ObservedWorkspace, workspaceResource, type WorkspaceSpec } from "./workspace.ts"
import { workspaceTagsResource, type WorkspaceTagsSpec } from "./workspace-tags.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const named = { organization: "acme", name: "api" }

describe("a workspace", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { name: "a b" }, at: "name", why: "a name with a space" },
    { spec: { name: "" }, at: "name", why: "a blank name" },
    { spec: { name: "a".repeat(91) }, at: "name", why: "a name of 91 characters" },
    { spec: { name: 7 }, at: "name", why: "a name that is a number" },
    { spec: { organization: undefined }, at: "organization", why: "no organization" },
    { spec: { executionMode: "agent" }, at: "agentPoolId", why: "agents without a pool" },
    { spec: { executionMode: "remote", agentPoolId: "apool-1" }, at: "agentPoolId", why: "a pool without agents" },
    { spec: { executionMode: "local", agentPoolId: "apool-1" }, at: "agentPoolId", why: "a pool with local runs" },
    { spec: { executionMode: "cloud" }, at: "executionMode", why: "an unknown mode" },
    { spec: { operations: true }, at: "operations", why: "the old word for the mode" },
    {
      spec: { settingOverwrites: { executionMode: true } },
      at: "executionMode",
      why: "an overridden mode that is not set",
    },
    { spec: { autoDestroyActivityDuration: "0d" }, at: "autoDestroyActivityDuration", why: "no days" },
    { spec: { autoDestroyActivityDuration: "12345h" }, at: "autoDestroyActivityDuration", why: "five digits" },
    { spec: { autoDestroyAt: "tomorrow" }, at: "autoDestroyAt", why: "an instant in words" },
    { spec: { engineVersion: "the new one" }, at: "engineVersion", why: "a version in words" },
    { spec: { workingDirectory: "/../etc" }, at: "workingDirectory", why: "a directory above the repository" },
    { spec: { triggerPatterns: ["a"], triggerPrefixes: ["b"] }, at: "triggerPatterns", why: "patterns and prefixes" },
    {
      spec: { globalRemoteState: true, projectRemoteState: true },
      at: "projectRemoteState",
      why: "two kinds of sharing",
    },
    { spec: { vcsRepo: { identifier: "api" } }, at: "vcsRepo.identifier", why: "a repository without its owner" },
    {
      spec: { vcsRepo: { identifier: "a/b", oauthTokenId: "ot-1", githubAppInstallationId: "ghain-1" } },
      at: "vcsRepo.githubAppInstallationId",
      why: "two connections",
    },
    { spec: { vcsRepo: { identifier: "a/b" } }, at: "vcsRepo.oauthTokenId", why: "no connection" },
    { spec: { tagBindings: { "a b": "c" } }, at: "tagBindings.a b", why: "a key with a space" },
    { spec: { tagBindings: { env: "" } }, at: "tagBindings.env", why: "a binding without a value" },
    {
      spec: { tagBindings: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, "v"])) },
      at: "tagBindings",
      why: "eleven bindings",
    },
    { spec: { colour: "red" }, at: "colour", why: "an unknown member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(workspaceResource.validate({ ...named, ...spec }))).toContain(at)
  })

  test.each<{ spec: object; why: string }>([
    { spec: {}, why: "a name and an organization" },
    { spec: { executionMode: "agent", agentPoolId: "apool-1" }, why: "agents and their pool" },
    { spec: { agentPoolId: "apool-1" }, why: "a pool for a mode that is inherited" },
    { spec: { engineVersion: "~> 99.1" }, why: "a version that only its engine may know" },
    { spec: { executionMode: "agent", settingOverwrites: { agentPool: false } }, why: "agents of the project's pool" },
    { spec: { description: null, workingDirectory: "", vcsRepo: null }, why: "absent values in three forms" },
  ])("is accepted with $why", ({ spec }) => expect(workspaceResource.validate({ ...named, ...spec })).toEqual([]))

  test.each<{ spec: object; open: string[] }>([
    { spec: { executionMode: "agent" }, open: ["agentPoolId"] },
    { spec: { executionMode: "agent" }, open: ["settingOverwrites"] },
    { spec: { agentPoolId: "apool-1" }, open: ["executionMode"] },
    { spec: { settingOverwrites: { executionMode: true } }, open: ["executionMode"] },
    { spec: { name: undefined, organization: undefined }, open: ["name", "organization"] },
  ])("is accepted while $open is unknown", ({ spec, open }) => {
    const known = Object.fromEntries(Object.entries({ ...named, ...spec }).filter(([, value]) => value !== undefined))
    expect(workspaceResource.validate(known, new Set(open))).toEqual([])
  })

  const observed: ObservedWorkspace = {
    ...named,
    projectId: "prj-1",
    description: null,
    executionMode: "remote",
    agentPoolId: null,
    settingOverwrites: { executionMode: true, agentPool: true },
    allowDestroyPlan: true,
    assessmentsEnabled: false,
    autoApply: true,
    autoApplyRunTrigger: false,
    autoDestroyAt: "2030-01-01T00:00:00.000Z",
    autoDestroyActivityDuration: "14d",
    inheritsProjectAutoDestroy: false,
    fileTriggersEnabled: true,
    globalRemoteState: false,
    projectRemoteState: true,
    queueAllRuns: false,
    speculativeEnabled: true,
    structuredRunOutputEnabled: true,
    engineVersion: "1.9.0",
    triggerPatterns: ["a", "b"],
    triggerPrefixes: [],
    vcsRepo: { identifier: "a/b", oauthTokenId: "ot-1" },
    workingDirectory: null,
    tagBindings: { env: "prod", team: "payments" },
    createdAt: "2026-01-01T00:00:00.000Z",
  }

  test.each<{ spec: Partial<WorkspaceSpec>; dropped?: string[]; changed: string[]; why: string }>([
    { spec: {}, changed: [], why: "what is not declared is not managed" },
    { spec: { autoDestroyActivityDuration: "336h" }, changed: [], why: "a duration is its length" },
    { spec: { autoDestroyAt: "2030-01-01T01:00:00+01:00" }, changed: [], why: "an instant is its moment" },
    { spec: { description: "", workingDirectory: "" }, changed: [], why: "blank equals none" },
    { spec: { tagBindings: { team: "payments", env: "prod" } }, changed: [], why: "bindings have no order" },
    {
      spec: { vcsRepo: { identifier: "a/b", oauthTokenId: "ot-1", branch: "", ingressSubmodules: false } },
      changed: [],
      why: "a declared default is the default",
    },
    {
      spec: { vcsRepo: { identifier: "a/b", oauthTokenId: "ot-1", branch: "main" } },
      changed: ["vcsRepo"],
      why: "another branch",
    },
    { spec: { triggerPatterns: ["b", "a"] }, changed: ["triggerPatterns"], why: "patterns have an order" },
    { spec: {}, dropped: ["autoApply"], changed: ["autoApply"], why: "declared no longer, it goes back" },
    {
      spec: {},
      dropped: ["projectRemoteState"],
      changed: ["projectRemoteState"],
      why: "a removed permission returns to its default",
    },
    { spec: {}, dropped: ["vcsRepo"], changed: ["vcsRepo"], why: "a repository goes with its declaration" },
    { spec: {}, dropped: ["executionMode"], changed: ["settingOverwrites"], why: "the mode is inherited again" },
    { spec: {}, dropped: ["engineVersion", "projectId"], changed: [], why: "these keep their values" },
    { spec: { name: "web" }, changed: ["name"], why: "a new name" },
  ])("changes $changed: $why", ({ spec, dropped, changed }) => {
    const found = workspaceResource.diff({ ...named, ...spec }, observed, dropped)
    expect(found).toEqual({ changed, mustReplace: [] })
  })

  test("is replaced in another organization", () => {
    const found = workspaceResource.diff({ organization: "other", name: "api" }, observed)
    expect(found.mustReplace).toEqual(["organization"])
  })

  test("overwrites its execution mode again after it became inherited", () => {
    const inherited = { ...observed, settingOverwrites: { executionMode: false, agentPool: false } }
    expect(workspaceResource.diff({ ...named, executionMode: "remote" }, inherited).changed).toEqual(["executionMode"])
  })
})

describe("flat tags of a workspace", () => {
  test.each<{ tags: unknown; at: string; why: string }>([
    { tags: ["a", ""], at: "tags.1", why: "a blank one" },
    { tags: ["Prod", "prod"], at: "tags.1", why: "the same one twice, in other letters" },
    { tags: ["hc:x"], at: "tags.0", why: "a reserved prefix" },
    { tags: "a", at: "tags", why: "text in the place of a list" },
  ])("are rejected with $why", ({ tags, at }) => {
    expect(pathsOf(workspaceTagsResource.validate({ workspaceId: "ws-1", tags }))).toEqual([at])
  })

  const observed = { workspaceId: "ws-1", tags: ["a", "B"], mode: "additive" } as const
  test.each<{ spec: Partial<WorkspaceTagsSpec>; changed: string[]; why: string }>([
    { spec: { tags: ["b", "A"] }, changed: [], why: "order and case do not matter" },
    { spec: { tags: ["a"] }, changed: ["tags"], why: "one less" },
    { spec: { tags: ["a", "b"], mode: "exclusive" }, changed: ["mode"], why: "no others any more" },
    { spec: { tags: ["a", "b"], workspaceId: "ws-2" }, changed: ["workspaceId"], why: "another workspace" },
  ])("change $changed: $why", ({ spec, changed }) => {
    const found = workspaceTagsResource.diff({ workspaceId: "ws-1", tags: [], ...spec }, observed)
    expect(found).toEqual({ changed, mustReplace: changed.filter((name) => name === "workspaceId") })
  })
})

describe("key-value tags of a workspace", () => {
  test.each<{ bindings: unknown; at: string; why: string }>([
    { bindings: { env: "" }, at: "bindings.env", why: "no value" },
    { bindings: { "hcp:x": "y" }, at: "bindings.hcp:x", why: "a reserved prefix" },
    { bindings: { env: "a b" }, at: "bindings.env", why: "a value with a space" },
    { bindings: { env: 1 }, at: "bindings.env", why: "a number" },
  ])("are rejected with $why", ({ bindings, at }) => {
    expect(pathsOf(tagBindingsResource.validate({ workspaceId: "ws-1", bindings }))).toEqual([at])
  })

  const observed = { workspaceId: "ws-1", bindings: { env: "prod", team: "x" }, mode: "additive" } as const
  test.each<{ spec: Partial<TagBindingsSpec>; changed: string[]; why: string }>([
    { spec: { bindings: { team: "x", env: "prod" } }, changed: [], why: "order does not matter" },
    { spec: { bindings: { team: "x", env: "Prod" } }, changed: ["bindings"], why: "the case of a value does" },
  ])("change $changed: $why", ({ spec, changed }) => {
    const found = tagBindingsResource.diff({ workspaceId: "ws-1", bindings: {}, ...spec }, observed)
    expect(found).toEqual({ changed, mustReplace: [] })
  })
})

describe("a tag", () => {
  test.each(["", "a b", "-a", "hc:a", "a".repeat(256)])("rejects the name %j", (name) => {
    expect(pathsOf(tagResource.validate({ organization: "acme", name }))).toEqual(["name"])
  })

  const observed: ObservedTag = { organization: "acme", name: "prod", workspaceIds: ["ws-1", "ws-2"] }
  test.each<{ spec: Partial<TagSpec>; dropped?: string[]; changed: string[]; replaced: string[]; why: string }>([
    { spec: { workspaceIds: ["ws-2", "ws-1"] }, changed: [], replaced: [], why: "order does not matter" },
    { spec: { workspaceIds: ["ws-2", "ws-3"] }, changed: ["workspaceIds"], replaced: [], why: "one goes, one comes" },
    {
      spec: { workspaceIds: [] },
      changed: ["workspaceIds"],
      replaced: ["workspaceIds"],
      why: "a tag without workspaces is deleted",
    },
    {
      spec: {},
      dropped: ["workspaceIds"],
      changed: ["workspaceIds"],
      replaced: ["workspaceIds"],
      why: "declared no longer, it leaves them",
    },
    { spec: { name: "live" }, changed: ["name"], replaced: ["name"], why: "a tag is its name" },
  ])("changes $changed: $why", ({ spec, dropped, changed, replaced }) => {
    const found = tagResource.diff({ organization: "acme", name: "prod", ...spec }, observed, dropped)
    expect([found.changed, found.mustReplace]).toEqual([changed, replaced])
    expect(found.removeFirst).toBe(replaced.includes("workspaceIds"))
  })
})
