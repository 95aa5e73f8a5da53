import { describe, expect, test } from "vitest"
import { type Capability, compileAccess } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { isEngineError } from "../../core/errors.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { initialMountConfig, initialMountTraits, mountMoveId, type Mounts } from "./mount.ts"

test("a mount is created, found, tuned, moved and deleted", async () => {
  await using testEngine = await openTestEngine()
  const { mounts } = testEngine.engine
  const created = await mounts.create({ path: "team/pki/", description: "Leaves" })
  expect(created).toEqual({
    path: "team/pki",
    type: "pki",
    description: "Leaves",
    config: initialMountConfig,
    traits: initialMountTraits,
    options: {},
    accessor: expect.stringMatching(/^pki_[0-9a-f]{8}$/),
    uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  })
  await mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_600_000 } })
  expect((await mounts.list()).map(({ path }) => path)).toEqual(["pki", "team/pki"])

  const tuned = await mounts.tune("team/pki", { config: { allowedResponseHeaders: ["Link"] } })
  expect(tuned).toEqual({ ...created, config: { ...initialMountConfig, allowedResponseHeaders: ["Link"] } })
  const described = await mounts.tune("team/pki", { description: "Roots" })
  expect(described).toEqual({ ...tuned, description: "Roots" })

  const labelled = await mounts.tune("team/pki", { options: { team: "web", tier: "1" } })
  expect(labelled).toEqual({ ...described, options: { team: "web", tier: "1" } })
  const relabelled = await mounts.tune("team/pki", { options: { tier: "", zone: "a" } })
  expect(relabelled).toEqual({ ...described, options: { team: "web", zone: "a" } })

  const moved = await mounts.move("team/pki", "roots/pki")
  expect(moved).toEqual({ ...relabelled, path: "roots/pki" })
  expect(await mounts.get("/roots/pki/")).toEqual(moved)
  await expect(mounts.get("team/pki")).rejects.toMatchObject({ code: "not-found" })

  await mounts.delete("roots/pki")
  expect((await mounts.list()).map(({ path }) => path)).toEqual(["pki"])
})

test("a path that is in use, or above or below a mount, is rejected, and nothing changes", async () => {
  await using testEngine = await openTestEngine()
  const { mounts } = testEngine.engine
  await mounts.create({ path: "a/b" })
  await mounts.create({ path: "pki" })
  for (const path of ["pki", "pki/x", "a", "a/b/c"])
    await expect(mounts.create({ path })).rejects.toMatchObject({ code: "conflict" })
  for (const path of ["a", "a/b", "a/b/c"])
    await expect(mounts.move("pki", path)).rejects.toMatchObject({ code: "conflict" })
  expect((await mounts.list()).map(({ path }) => path)).toEqual(["a/b", "pki"])
})

test("every fault is reported at once, and nothing changes", async () => {
  await using testEngine = await openTestEngine()
  const { mounts } = testEngine.engine
  const wrong = { path: "sys/x", description: "\n", config: { maxLeaseTtlMs: -1 } }
  await expect(mounts.create(wrong)).rejects.toMatchObject({
    code: "invalid",
    faults: [{ field: ["path"] }, { field: ["description"] }, { field: ["maxLeaseTtlMs"] }],
  })
  await mounts.create({ path: "pki" })
  await expect(mounts.tune("pki", { config: { defaultLeaseTtlMs: 1 } })).rejects.toMatchObject({ code: "invalid" })
  await expect(mounts.move("pki", "auth/pki")).rejects.toMatchObject({ code: "invalid" })
  expect(await mounts.list()).toMatchObject([{ path: "pki", config: initialMountConfig }])
})

test("every operation on an unknown mount answers not found", async () => {
  await using testEngine = await openTestEngine()
  const { mounts } = testEngine.engine
  const absent = { code: "not-found", message: 'no handler for route "pki". route entry not found.' }
  await expect(mounts.get("pki")).rejects.toMatchObject(absent)
  await expect(mounts.tune("pki", {})).rejects.toMatchObject(absent)
  await expect(mounts.delete("pki")).rejects.toMatchObject(absent)
  await expect(mounts.move("pki", "other")).rejects.toMatchObject(absent)
})

describe("an operation on mounts", () => {
  const operations: Readonly<Record<string, (mounts: Mounts) => Promise<unknown>>> = {
    list: (mounts) => mounts.list(),
    get: (mounts) => mounts.get("pki"),
    create: (mounts) => mounts.create({ path: "other" }),
    tune: (mounts) => mounts.tune("pki", { description: "tuned" }),
    move: (mounts) => mounts.move("pki", "third"),
    moved: async (mounts) => mounts.moved(moveId).catch(unlessNotFound),
    delete: (mounts) => mounts.delete("pki/"),
  }
  const moveId = mountMoveId({ uuid: "any", from: "pki", to: "third" })
  const unlessNotFound = (error: unknown) => {
    if (!isEngineError(error, "not-found")) throw error
  }
  const allowedBy = async (path: string, ...granted: Capability[]): Promise<string[]> => {
    const acl = compileAccess([{ name: "test", rules: [{ path, capabilities: granted }] }])
    const caller: Caller = { kind: "service", tokenId: "at-1", acl }
    const allowed: string[] = []
    for (const [name, operation] of Object.entries(operations)) {
      await using testEngine = await openTestEngine()
      await testEngine.engine.mounts.create({ path: "pki" })
      const refusal = await operation(testEngine.engine.as(caller).mounts).catch((error: unknown) => error)
      if (isEngineError(refusal)) expect(refusal).toMatchObject({ code: "forbidden", message: "permission denied" })
      else allowed.push(name)
    }
    return allowed
  }

  test.each<[path: string, granted: Capability[], allowed: string[]]>([
    ["pki/*", ["create", "read", "update", "delete", "list", "sudo"], []],
    ["sys/mounts", ["read"], ["list"]],
    ["sys/mounts/pki", ["read"], ["get"]],
    ["sys/mounts/pki/tune", ["read"], ["get"]],
    ["sys/mounts/pki", ["delete"], ["delete"]],
    ["sys/mounts/+", ["create"], ["create"]],
    ["sys/mounts/+", ["update"], ["create"]],
    ["sys/mounts/pki/tune", ["update"], ["tune"]],
    ["sys/remount", ["update"], []],
    ["sys/remount", ["update", "sudo"], ["move"]],
    ["sys/remount/status/*", ["read"], ["moved"]],
  ])("under a policy for %s with %j is: %j", async (path, granted, allowed) => {
    expect(await allowedBy(path, ...granted)).toEqual(allowed)
  })
})
