import { beforeAll, describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { Engine } from "../../engine/src/engine.ts"
import { sha256 } from "../../engine/src/x509/digest.ts"
import { type Users, newUsers, type Person } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

const rule = (path: string, ...capabilities: readonly string[]) =>
  `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }\n`

export function accessCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  let root: Engine
  beforeAll(async () => {
    testUsers = await newUsers(engine())
    root = testUsers.root
  })

  async function newPolicy(text = rule("contract/any", "read")): Promise<string> {
    const name = testUsers.newName("policy")
    await root.policies.put(name, text)
    return name
  }
  async function newHolder(text: string): Promise<Person & { readonly policy: string }> {
    const person = await testUsers.newPerson()
    const policy = await newPolicy(text)
    await root.policies.attach(policy, { kind: "user", username: person.username })
    return { ...person, policy }
  }

  describe("a blocked key", () => {
    test("is added, found in either case, given another comment, listed and deleted", async () => {
      const { blockedKeys } = root
      const digest = sha256(Buffer.from(testUsers.newName("key")))
      const added = await blockedKeys.add({ spkiSha256: digest.toUpperCase(), comment: "first" })
      expect(added).toMatchObject({
        spkiSha256: digest,
        source: "entry",
        mount: "",
        serialNumber: null,
        comment: "first",
      })
      expect(await blockedKeys.add({ spkiSha256: digest, comment: "second" })).toEqual({ ...added, comment: "second" })
      expect(await blockedKeys.get(digest)).toEqual({ ...added, comment: "second" })
      expect(await blockedKeys.list()).toContain(digest)
      expect(await blockedKeys.list({ after: digest, limit: 1 })).not.toContain(digest)
      await blockedKeys.delete(digest)
      await blockedKeys.delete(digest)
      await expect(blockedKeys.get(digest)).rejects.toMatchObject(notFound)
    })

    test("is rejected when it is neither a key nor a digest", async () => {
      const { blockedKeys } = root
      await expect(blockedKeys.add({})).rejects.toMatchObject(refused("invalid", ["key"]))
      await expect(blockedKeys.add({ key: "x" })).rejects.toMatchObject(refused("invalid", ["key"]))
      await expect(blockedKeys.add({ spkiSha256: "x" })).rejects.toMatchObject(refused("invalid", ["spkiSha256"]))
      await expect(blockedKeys.add({ spkiSha256: "a".repeat(64), comment: "\n" })).rejects.toMatchObject(
        refused("invalid", ["comment"]),
      )
      await expect(blockedKeys.get("x")).rejects.toMatchObject(refused("invalid", ["spkiSha256"]))
    })
  })

  describe("a policy", () => {
    test("is written, found by its name in any case, replaced and deleted", async () => {
      const name = testUsers.newName("Policy")
      const known = name.toLowerCase()
      await root.policies.put(name, rule("a", "read"))
      expect(await root.policies.get(known)).toEqual({ name: known, text: rule("a", "read") })
      await root.policies.put(name, `{"path": {"a": {"capabilities": ["list"]}}}`)
      expect((await root.policies.get(name)).text).toContain("list")
      expect(await root.policies.list()).toEqual(expect.arrayContaining(["default", known, "root"]))
      await root.policies.delete(known)
      await root.policies.delete(known)
      await expect(root.policies.get(known)).rejects.toMatchObject(notFound)
    })

    test("is rejected with every fault named, and not stored", async () => {
      const name = testUsers.newName("policy")
      for (const text of ["", "path", 'path "a" { capabilities = ["write"] }'])
        await expect(root.policies.put(name, text)).rejects.toMatchObject(refused("invalid", ["policy"]))
      await expect(root.policies.put("-", "#")).rejects.toMatchObject(refused("invalid", ["name"]))
      await expect(root.policies.put("root", "#")).rejects.toMatchObject(refused("unprocessable"))
      await expect(root.policies.delete("default")).rejects.toMatchObject(refused("unprocessable"))
      await expect(root.policies.get(name)).rejects.toMatchObject(notFound)
    })

    test("is attached to a user, a team and a token, and detached", async () => {
      const { policies } = root
      const name = await newPolicy()
      const { username, teamId } = await testUsers.newMember()
      const { name: team } = await testUsers.owner.engine.teams.get(teamId)
      const { id } = await testUsers.owner.engine.tokens.createForUser(testUsers.owner.id, {})
      for (const subject of [
        { kind: "user", username },
        { kind: "team", organization: testUsers.organization, team },
        { kind: "token", id },
      ] as const) {
        await policies.attach(name, subject)
        await policies.attach(name, subject)
        expect(await policies.attached(subject)).toEqual([name])
        await policies.detach(name, subject)
        await policies.detach(name, subject)
        expect(await policies.attached(subject)).toEqual([])
      }
    })

    test("cannot be attached to a missing owner, and root cannot be attached at all", async () => {
      const { policies } = root
      const name = await newPolicy()
      for (const subject of [
        { kind: "user", username: "nobody" },
        { kind: "team", organization: "none", team: "none" },
        { kind: "token", id: "at-none" },
      ] as const) {
        await expect(policies.attach(name, subject)).rejects.toMatchObject(notFound)
        await expect(policies.detach(name, subject)).rejects.toMatchObject(notFound)
        await expect(policies.attached(subject)).rejects.toMatchObject(notFound)
      }
      const subject = { kind: "user", username: testUsers.owner.username } as const
      await expect(policies.attach("root", subject)).rejects.toMatchObject(refused("unprocessable"))
      await expect(policies.attach("contract-none", subject)).rejects.toMatchObject(notFound)
    })

    test("takes effect at once", async () => {
      const holder = await newHolder(rule("sys/mounts", "read"))
      await holder.engine.mounts.list()
      await root.policies.put(holder.policy, rule("sys/mounts", "deny"))
      await expect(holder.engine.mounts.list()).rejects.toMatchObject(refused("forbidden"))
    })
  })

  describe("a service token", () => {
    test("has the requested properties, and is looked up by secret, by accessor and by itself", async () => {
      const policy = await newPolicy()
      const { secret, token, warnings } = await root.serviceTokens.create({
        policies: [policy],
        ttlMs: hourMs,
        explicitMaxTtlMs: 2 * hourMs,
        displayName: "contract",
        meta: { one: "1", two: "a, b=c" },
        noParent: true,
      })
      expect(warnings).toEqual([])
      expect(token).toMatchObject({
        policies: ["default", policy],
        displayName: "token-contract",
        meta: { one: "1", two: "a, b=c" },
        orphan: true,
        path: "auth/token/create",
        entityId: "",
        expiresAt: token.createdAt + hourMs,
        ttlMs: hourMs,
        explicitMaxTtlMs: 2 * hourMs,
        periodMs: null,
        renewable: true,
        lastRenewedAt: null,
        usesLeft: null,
        remainingMs: hourMs,
      })
      const self = await engine().as(secret)
      const { accessor } = token
      for (const looked of [
        await self.serviceTokens.lookup("self"),
        await root.serviceTokens.lookup({ secret }),
        await root.serviceTokens.lookup({ accessor }),
      ])
        expect({ ...looked, remainingMs: hourMs }).toEqual(token)
      expect(await root.serviceTokens.list()).toContain(accessor)
      const [first = ""] = await root.serviceTokens.list({ limit: 1 })
      expect(await root.serviceTokens.list({ after: first })).not.toContain(first)
    })

    test("is created without a parent, is limited in uses, and cannot be created by a token with a use limit", async () => {
      const { secret, token } = await root.serviceTokens.createOrphan({ policies: ["root"], numUses: 3 })
      expect(token).toMatchObject({ orphan: true, expiresAt: null, remainingMs: null, usesLeft: 3, ttlMs: null })
      const self = await engine().as(secret)
      await expect(self.serviceTokens.create({})).rejects.toMatchObject(refused("unprocessable"))
    })

    test("is renewed up to its maximum, with a warning", async () => {
      const input = { policies: ["default"], ttlMs: hourMs, explicitMaxTtlMs: 2 * hourMs }
      const { secret, token } = await root.serviceTokens.create(input)
      const { accessor } = token
      const self = await engine().as(secret)
      for (const renewed of [
        await self.serviceTokens.renew("self"),
        await root.serviceTokens.renew({ secret }, hourMs),
        await root.serviceTokens.renew({ accessor }, hourMs),
      ]) {
        expect(renewed).toMatchObject({ warnings: [], token: { accessor, ttlMs: hourMs } })
        expect(renewed.token.lastRenewedAt).toBeGreaterThanOrEqual(token.createdAt)
      }
      const capped = await root.serviceTokens.renew({ accessor }, 3 * hourMs)
      expect(capped.token.expiresAt).toBe(token.createdAt + 2 * hourMs)
      expect(capped.warnings).toEqual([expect.stringContaining("exceeded the effective max_ttl")])
      const fixed = await root.serviceTokens.create({ ...input, renewable: false })
      await expect(root.serviceTokens.renew({ secret: fixed.secret })).rejects.toMatchObject(refused("unprocessable"))
    })

    test("is revoked with its parent, unless the parent is revoked alone", async () => {
      const parent = await root.serviceTokens.create({ policies: ["root"], ttlMs: hourMs })
      const made = await engine().as(parent.secret)
      const child = await made.serviceTokens.create({ policies: ["default"] })
      expect(child.token.orphan).toBe(false)
      await root.serviceTokens.revokeOrphan(parent.secret)
      const looked = await (await engine().as(child.secret)).serviceTokens.lookup("self")
      expect(looked).toMatchObject({ accessor: child.token.accessor, orphan: true })
      await root.serviceTokens.revoke({ secret: child.secret })
      await root.serviceTokens.revoke({ secret: child.secret })
      await expect(root.serviceTokens.lookup({ secret: child.secret })).rejects.toMatchObject(refused("forbidden"))
      const last = await root.serviceTokens.create({ policies: ["default"] })
      await (await engine().as(last.secret)).serviceTokens.revoke("self")
      await expect(root.serviceTokens.revoke({ accessor: last.token.accessor })).rejects.toMatchObject(
        refused("forbidden"),
      )
    })

    test("is rejected with every fault named, and to callers without permission", async () => {
      const { serviceTokens } = root
      await expect(serviceTokens.create({ numUses: -1, displayName: "x".repeat(129) })).rejects.toMatchObject(
        refused("invalid", ["displayName"], ["numUses"]),
      )
      await expect(serviceTokens.create({ policies: ["contract-none"] })).rejects.toMatchObject(
        refused("invalid", ["policies"]),
      )
      const maker = await newHolder(rule("auth/token/create", "update"))
      await expect(maker.engine.serviceTokens.create({ policies: ["default", "root"] })).rejects.toMatchObject(
        refused("invalid", ["policies"]),
      )
      await expect(maker.engine.serviceTokens.create({ periodMs: hourMs })).rejects.toMatchObject(
        refused("unprocessable"),
      )
      const { token } = await maker.engine.serviceTokens.create({})
      expect(token.policies).toEqual(["default", maker.policy])
      expect(token.orphan).toBe(false)
      await expect(maker.engine.serviceTokens.createOrphan({})).rejects.toMatchObject(refused("forbidden"))
      await expect(maker.engine.serviceTokens.list()).rejects.toMatchObject(refused("forbidden"))
    })
  })

  test("the capabilities of a token are listed in the order of the requested paths", async () => {
    const holder = await newHolder(
      rule("pki/issue/+", "update") + rule("pki/issue/root", "deny") + rule("sys/capabilities-self", "update"),
    )
    const paths = ["pki/issue/web", "pki/issue/root", "pki/roles/a,b", "/pki/issue/web"]
    const expectedCapabilities = paths.map((path) => ({
      path,
      capabilities: [path.endsWith("/web") ? "update" : "deny"],
    }))
    expect(await holder.engine.serviceTokens.capabilities("self", paths)).toEqual(expectedCapabilities)
    expect(await root.serviceTokens.capabilities({ secret: holder.token }, paths)).toEqual(expectedCapabilities)
    expect(await root.serviceTokens.capabilities("self", ["x"])).toEqual([{ path: "x", capabilities: ["root"] }])
    await expect(root.serviceTokens.capabilities("self", [])).rejects.toMatchObject(refused("invalid", ["paths"]))
    await expect(root.serviceTokens.capabilities({ accessor: "at-none" }, ["x"])).rejects.toMatchObject(
      refused("forbidden"),
    )
  })
}
