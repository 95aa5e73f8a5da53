// Policies and service tokens over the database, on every kind: attached policies apply, expired and revoked tokens are refused.
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import type { Engine, ServingEngine } from "../../engine.ts"
import { maxTokenAncestors } from "../../organizations/authentication.ts"
import { databaseKinds, type DatabaseKind, defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { newMember, newOrganization, newTeam, newUser, newUserToken } from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import type { ServiceTokenInput } from "../service-tokens/service-token.ts"

const clock = manualClock()
const runtime = { ...systemRuntime(), clock }

async function open(kind: DatabaseKind = defaultSharedKind): Promise<TestEngine & { readonly url: string }> {
  const place = await kind.place()
  const testEngine = await openTestEngine({ url: place.url, runtime })
  onTestFinished(async () => {
    await testEngine[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })
  return Object.assign(testEngine, { url: place.url })
}

const rule = (path: string, ...capabilities: readonly string[]) =>
  `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }\n`
const as = async ({ engine }: TestEngine, token: string): Promise<ServingEngine> =>
  engine.as(await engine.authenticate(token))
const make = async (engine: ServingEngine, input: ServiceTokenInput) => {
  const { secret, token } = await engine.serviceTokens.create(input)
  return { secret, accessor: token.accessor }
}
const ended = { code: "unauthenticated" }
const denied = { code: "forbidden", message: "permission denied" }

describe.each(databaseKinds.filter(({ available }) => available))("on $name", (kind) => {
  test("policies are written, read, listed and deleted", async () => {
    const { engine } = await open(kind)
    const { policies } = engine
    expect(await policies.list()).toEqual(["default", "root"])
    await policies.put("Web", rule("pki/issue/web", "update"))
    expect(await policies.get("WEB")).toEqual({ name: "web", text: rule("pki/issue/web", "update") })
    await policies.put("web", rule("pki/sign/web", "update"))
    expect(await policies.get("web")).toEqual({ name: "web", text: rule("pki/sign/web", "update") })
    expect(await policies.list()).toEqual(["default", "root", "web"])
    await policies.delete("web")
    await policies.delete("web")
    await expect(policies.get("web")).rejects.toMatchObject({
      code: "not-found",
      message: 'policy "web" does not exist',
    })
  })

  test("an attached policy applies to a user, the teams of a user, a team and a token", async () => {
    const testEngine = await open(kind)
    const { policies, tokens } = testEngine.engine
    await newOrganization(testEngine, "acme")
    const ada = await newMember(testEngine, "acme", "ada")
    const teamId = await newTeam(testEngine, "acme", "Web", { members: [ada] })
    const subjects = [
      { kind: "user", username: "ADA" },
      { kind: "team", organization: "Acme", team: "web" },
      {
        kind: "token",
        id: (await testEngine.engine.tokens.listForUser(ada.id, { number: 1, size: 1 })).items[0]?.id ?? "",
      },
    ] as const
    const reaches = async (token: string) => {
      const caller = await testEngine.engine.authenticate(token)
      return caller.acl.policies
    }
    for (const { kind: name } of subjects) await policies.put(`for-${name}`, rule(`pki/issue/${name}`, "update"))
    for (const subject of subjects) await policies.attach(`for-${subject.kind}`, subject)
    for (const subject of subjects) await policies.attach(`for-${subject.kind}`, subject)

    expect(await reaches(ada.token)).toEqual(["for-team", "for-token", "for-user"])
    expect(await reaches(await newUserToken(testEngine, ada.id))).toEqual(["for-team", "for-user"])
    expect(await reaches((await tokens.createForTeam(teamId, {})).secret)).toEqual(["for-team"])
    expect(await reaches((await tokens.createForOrganization("acme", {})).secret)).toEqual([])
    for (const subject of subjects) expect(await policies.attached(subject)).toEqual([`for-${subject.kind}`])

    for (const subject of subjects) await policies.detach(`for-${subject.kind}`, subject)
    expect(await reaches(ada.token)).toEqual([])
    await policies.attach("for-user", { kind: "user", username: "ada" })
    await policies.delete("for-user")
    expect(await reaches(ada.token)).toEqual([])
    await policies.put("for-user", rule("x", "read"))
    expect(await reaches(ada.token)).toEqual([])
  })

  test("a service token is created, looked up, renewed and revoked", async () => {
    const testEngine = await open(kind)
    const { serviceTokens, policies } = testEngine.engine
    await policies.put("web", rule("pki/issue/web", "update"))
    const { secret, token, warnings } = await serviceTokens.create({
      policies: ["web"],
      ttlMs: hourMs,
      displayName: "ci",
      meta: { job: "7" },
    })
    expect(warnings).toEqual([])
    expect(secret).toMatch(/^chy_[A-Za-z0-9_-]{43}$/)
    expect(token).toEqual({
      boundCidrs: [],
      role: null,
      accessor: expect.stringMatching(/^at-[1-9A-Za-z]{16}$/),
      entityId: "",
      displayName: "token-ci",
      policies: ["default", "web"],
      meta: { job: "7" },
      orphan: true,
      path: "auth/token/create",
      createdAt: clock.now(),
      expiresAt: clock.now() + hourMs,
      remainingMs: hourMs,
      ttlMs: hourMs,
      explicitMaxTtlMs: null,
      periodMs: null,
      renewable: true,
      lastRenewedAt: null,
      usesLeft: null,
    })
    const self = await as(testEngine, secret)
    clock.advance(minuteMs)
    const later = { ...token, remainingMs: hourMs - minuteMs }
    expect(await self.serviceTokens.lookup("self")).toEqual(later)
    expect(await serviceTokens.lookup({ secret })).toEqual(later)
    expect(await serviceTokens.lookup({ accessor: token.accessor })).toEqual(later)
    expect(await serviceTokens.list()).toEqual([token.accessor])

    const renewed = await self.serviceTokens.renew("self", 2 * hourMs)
    expect(renewed).toEqual({
      warnings: [],
      token: { ...token, expiresAt: clock.now() + 2 * hourMs, remainingMs: 2 * hourMs, lastRenewedAt: clock.now() },
    })
    expect((await serviceTokens.renew({ secret }, minuteMs)).token.remainingMs).toBe(minuteMs)
    expect((await serviceTokens.renew({ accessor: token.accessor })).token.remainingMs).toBe(hourMs)

    await self.serviceTokens.revoke("self")
    await expect(as(testEngine, secret)).rejects.toMatchObject(ended)
    await expect(serviceTokens.lookup({ secret })).rejects.toMatchObject({ code: "forbidden", message: "bad token" })
    expect(await serviceTokens.list()).toEqual([])
  })

  test("a revocation takes effect on all replicas at once", async () => {
    const testEngine = await open(kind)
    // A database in memory has no second replica.
    await using other =
      kind.name === "SQLite memory" ? undefined : await openTestEngine({ url: testEngine.url, runtime })
    const replica = other ?? testEngine
    await testEngine.engine.policies.put("web", rule("pki/issue/web", "update"))
    const [one, two, three] = [
      await make(testEngine.engine, { policies: ["web"] }),
      await make(testEngine.engine, { policies: ["web"] }),
      await make(testEngine.engine, { policies: ["web"], ttlMs: 2 * hourMs }),
    ]
    for (const { secret } of [one, two, three]) await replica.engine.authenticate(secret)
    await testEngine.engine.serviceTokens.revoke({ secret: one.secret })
    await testEngine.engine.serviceTokens.revoke({ accessor: two.accessor })
    await testEngine.engine.serviceTokens.renew({ secret: three.secret }, minuteMs)
    for (const { secret } of [one, two]) await expect(replica.engine.authenticate(secret)).rejects.toMatchObject(ended)
    expect((await replica.engine.authenticate(three.secret)).acl.policies).toEqual(["default", "web"])
    await testEngine.engine.policies.delete("web")
    expect((await replica.engine.authenticate(three.secret)).acl.policies).toEqual(["default"])
    clock.advance(minuteMs)
    await expect(replica.engine.authenticate(three.secret)).rejects.toMatchObject(ended)
  })

  test("one of two concurrent requests with the last use of a token is rejected", async () => {
    const testEngine = await open(kind)
    const { secret, accessor } = await make(testEngine.engine, { policies: ["default"], numUses: 3 })
    expect((await testEngine.engine.serviceTokens.lookup({ accessor })).usesLeft).toBe(3)
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => testEngine.engine.authenticate(secret)))
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
    await expect(testEngine.engine.authenticate(secret)).rejects.toMatchObject(ended)
    await expect(testEngine.engine.serviceTokens.lookup({ accessor })).rejects.toMatchObject({ code: "forbidden" })
  })

  test("revoking a token revokes its descendants", async () => {
    const testEngine = await open(kind)
    const { serviceTokens } = testEngine.engine
    const child = async (parent: string, input: ServiceTokenInput = {}) => make(await as(testEngine, parent), input)
    const first = await make(testEngine.engine, { ttlMs: hourMs, policies: ["root"] })
    const second = await child(first.secret)
    const third = await child(second.secret, { ttlMs: 3 * hourMs })
    const orphan = await child(first.secret, { noParent: true, ttlMs: 3 * hourMs })
    expect((await serviceTokens.lookup({ secret: third.secret })).remainingMs).toBe(hourMs)

    clock.advance(hourMs - 1)
    await testEngine.engine.authenticate(third.secret)
    await serviceTokens.renew({ secret: first.secret }, 2 * hourMs)
    clock.advance(minuteMs)
    await testEngine.engine.authenticate(third.secret)
    clock.advance(2 * hourMs)
    for (const { secret } of [first, second, third])
      await expect(testEngine.engine.authenticate(secret)).rejects.toMatchObject(ended)
    clock.advance(-2 * hourMs)

    await serviceTokens.revokeOrphan(second.secret)
    await expect(testEngine.engine.authenticate(second.secret)).rejects.toMatchObject(ended)
    clock.advance(minuteMs)
    expect(await serviceTokens.lookup({ secret: third.secret })).toMatchObject({ orphan: true })
    await serviceTokens.revoke({ secret: first.secret })
    await testEngine.engine.authenticate(third.secret)
    await testEngine.engine.authenticate(orphan.secret)

    const ada = await newUser(testEngine, "ada")
    await testEngine.engine.policies.put("maker", rule("auth/token/create", "update"))
    await testEngine.engine.policies.attach("maker", { kind: "user", username: "ada" })
    const hers = await child(ada.token)
    await testEngine.engine.users.delete(ada.id)
    await expect(testEngine.engine.authenticate(hers.secret)).rejects.toMatchObject(ended)
  })

  test("expired tokens are deleted when new ones are created", async () => {
    const testEngine = await open(kind)
    const { serviceTokens } = testEngine.engine
    for (let count = 0; count < 25; count += 1)
      await make(testEngine.engine, { ttlMs: minuteMs, policies: ["default"] })
    clock.advance(minuteMs)
    const known = async () => {
      clock.advance(-minuteMs)
      const found = await serviceTokens.list()
      clock.advance(minuteMs)
      return found.length
    }
    expect(await serviceTokens.list()).toEqual([])
    expect(await known()).toBe(25)
    await make(testEngine.engine, {})
    expect(await known()).toBe(6)
    await make(testEngine.engine, {})
    expect(await known()).toBe(2)
  })
})

describe("a caller may", () => {
  const makers = rule("auth/token/create", "update")

  test.each<{
    what: string
    policy: string
    work: (engine: Engine & ServingEngine) => Promise<unknown>
    allowed: boolean
  }>([
    {
      what: "write a policy that is there, with update",
      policy: rule("sys/policies/acl/old", "update"),
      work: ({ policies }) => policies.put("old", "#"),
      allowed: true,
    },
    {
      what: "write a policy that is there, with create",
      policy: rule("sys/policies/acl/old", "create"),
      work: ({ policies }) => policies.put("old", "#"),
      allowed: false,
    },
    {
      what: "write a new policy, with create",
      policy: rule("sys/policies/acl/new", "create"),
      work: ({ policies }) => policies.put("new", "#"),
      allowed: true,
    },
    {
      what: "write a new policy, with read",
      policy: rule("sys/policies/acl/new", "read"),
      work: ({ policies }) => policies.put("new", "#"),
      allowed: false,
    },
    {
      what: "write a policy with a name in another case",
      policy: rule("sys/policies/acl/*", "update") + rule("sys/policies/acl/old", "deny"),
      work: ({ policies }) => policies.put("OLD", "#"),
      allowed: false,
    },
    {
      what: "read a policy, with read",
      policy: rule("sys/policies/acl/old", "read"),
      work: ({ policies }) => policies.get("old"),
      allowed: true,
    },
    {
      what: "read a policy, with list",
      policy: rule("sys/policies/acl/old", "list"),
      work: ({ policies }) => policies.get("old"),
      allowed: false,
    },
    {
      what: "list policies, with list",
      policy: rule("sys/policies/acl", "list"),
      work: ({ policies }) => policies.list(),
      allowed: true,
    },
    {
      what: "list policies, with read",
      policy: rule("sys/policies/acl", "read"),
      work: ({ policies }) => policies.list(),
      allowed: false,
    },
    {
      what: "delete a policy, with delete",
      policy: rule("sys/policies/acl/+", "delete"),
      work: ({ policies }) => policies.delete("old"),
      allowed: true,
    },
    {
      what: "delete a policy, with update",
      policy: rule("sys/policies/acl/+", "update"),
      work: ({ policies }) => policies.delete("old"),
      allowed: false,
    },
    {
      what: "attach a policy that it holds",
      policy: rule("sys/policies/attachments/*", "update"),
      work: ({ policies }) => policies.attach("it", { kind: "user", username: "ada" }),
      allowed: true,
    },
    {
      what: "attach a policy that it does not hold",
      policy: rule("sys/policies/attachments/*", "update"),
      work: ({ policies }) => policies.attach("old", { kind: "user", username: "ada" }),
      allowed: false,
    },
    {
      what: "attach any policy, with sudo",
      policy: rule("sys/policies/attachments/*", "update", "sudo"),
      work: ({ policies }) => policies.attach("old", { kind: "user", username: "ada" }),
      allowed: true,
    },
    {
      what: "attach to a subject with a name in another case",
      policy:
        rule("sys/policies/attachments/user/+/it", "update") + rule("sys/policies/attachments/user/ada/it", "deny"),
      work: ({ policies }) => policies.attach("it", { kind: "user", username: "Ada" }),
      allowed: false,
    },
    {
      what: "detach a policy, with delete",
      policy: rule("sys/policies/attachments/user/ada/old", "delete"),
      work: ({ policies }) => policies.detach("old", { kind: "user", username: "ada" }),
      allowed: true,
    },
    {
      what: "detach a policy, with update",
      policy: rule("sys/policies/attachments/user/ada/old", "update"),
      work: ({ policies }) => policies.detach("old", { kind: "user", username: "ada" }),
      allowed: false,
    },
    {
      what: "list attachments, with list",
      policy: rule("sys/policies/attachments/user/ada", "list"),
      work: ({ policies }) => policies.attached({ kind: "user", username: "ada" }),
      allowed: true,
    },
    {
      what: "list attachments, with read",
      policy: rule("sys/policies/attachments/user/ada", "read"),
      work: ({ policies }) => policies.attached({ kind: "user", username: "ada" }),
      allowed: false,
    },
    {
      what: "create a token, with update",
      policy: makers,
      work: ({ serviceTokens }) => serviceTokens.create({}),
      allowed: true,
    },
    {
      what: "create a token, with create",
      policy: rule("auth/token/create", "create"),
      work: ({ serviceTokens }) => serviceTokens.create({}),
      allowed: true,
    },
    {
      what: "create an orphan, with sudo",
      policy: rule("auth/token/create-orphan", "update", "sudo"),
      work: ({ serviceTokens }) => serviceTokens.createOrphan({}),
      allowed: true,
    },
    {
      what: "create an orphan, without sudo",
      policy: rule("auth/token/create-orphan", "update"),
      work: ({ serviceTokens }) => serviceTokens.createOrphan({}),
      allowed: false,
    },
    {
      what: "look up its own token",
      policy: rule("auth/token/lookup-self", "read"),
      work: ({ serviceTokens }) => serviceTokens.lookup("self"),
      allowed: true,
    },
    {
      what: "look up another token",
      policy: rule("auth/token/lookup-self", "read"),
      work: ({ serviceTokens }) => serviceTokens.lookup({ secret: "x" }),
      allowed: false,
    },
    {
      what: "look up another token by its accessor",
      policy: rule("auth/token/lookup", "update"),
      work: ({ serviceTokens }) => serviceTokens.lookup({ accessor: "x" }),
      allowed: false,
    },
    {
      what: "renew another token",
      policy: rule("auth/token/renew-self", "update"),
      work: ({ serviceTokens }) => serviceTokens.renew({ secret: "x" }),
      allowed: false,
    },
    {
      what: "revoke another token",
      policy: rule("auth/token/revoke", "update"),
      work: ({ serviceTokens }) => serviceTokens.revoke({ secret: "x" }),
      allowed: true,
    },
    {
      what: "revoke another token, with the right to revoke its own",
      policy: rule("auth/token/revoke-self", "update"),
      work: ({ serviceTokens }) => serviceTokens.revoke({ secret: "x" }),
      allowed: false,
    },
    {
      what: "orphan the children of another token, without sudo",
      policy: rule("auth/token/revoke-orphan", "update"),
      work: ({ serviceTokens }) => serviceTokens.revokeOrphan("x"),
      allowed: false,
    },
    {
      what: "list accessors, with sudo",
      policy: rule("auth/token/accessors", "list", "sudo"),
      work: ({ serviceTokens }) => serviceTokens.list(),
      allowed: true,
    },
    {
      what: "list accessors, without sudo",
      policy: rule("auth/token/accessors", "list"),
      work: ({ serviceTokens }) => serviceTokens.list(),
      allowed: false,
    },
    {
      what: "query its own capabilities",
      policy: rule("sys/capabilities-self", "update"),
      work: ({ serviceTokens }) => serviceTokens.capabilities("self", ["x"]),
      allowed: true,
    },
    {
      what: "query the capabilities of another token",
      policy: rule("sys/capabilities-self", "update"),
      work: ({ serviceTokens }) => serviceTokens.capabilities({ secret: "x" }, ["x"]),
      allowed: false,
    },
  ])("$what: $allowed", async ({ policy, work, allowed }) => {
    const testEngine = await open()
    await newUser(testEngine, "ada")
    await testEngine.engine.policies.put("old", rule("x", "read"))
    await testEngine.engine.policies.put("it", policy)
    const { secret } = await make(testEngine.engine, { policies: ["it"], noDefaultPolicy: true })
    const outcome = await work(await as(testEngine, secret)).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(outcome === undefined).toBe(allowed)
    expect(outcome ?? denied).toMatchObject(denied)
  })

  test("a caller without policies may do nothing, not even look up its own token", async () => {
    const testEngine = await open()
    const ada = await as(testEngine, (await newUser(testEngine, "ada")).token)
    await expect(ada.serviceTokens.lookup("self")).rejects.toMatchObject(denied)
    await expect(ada.policies.list()).rejects.toMatchObject(denied)
    await expect(ada.serviceTokens.capabilities("self", ["x"])).rejects.toMatchObject(denied)
  })

  test("[P-5-n6] the default policy lets every service token revoke with the key of a certificate, on any mount", async () => {
    const testEngine = await open()
    await testEngine.engine.policies.put("web", rule("pki/issue/web", "update"))
    const { secret } = await make(testEngine.engine, { policies: ["web"] })
    const { serviceTokens } = await as(testEngine, secret)
    const paths = ["pki/revoke-with-key", "teams/web/pki/revoke-with-key", "pki/revoke", "pki/issue/web"]
    expect((await serviceTokens.capabilities("self", paths)).map(({ capabilities }) => capabilities)).toEqual([
      ["update"],
      ["update"],
      ["deny"],
      ["update"],
    ])
  })
})

describe("a request is rejected", () => {
  test("when it changes a built-in policy or has an invalid name", async () => {
    const { policies } = (await open()).engine
    const refusals = [
      policies.put("root", "#"),
      policies.put("a/b", "#"),
      policies.put("x".repeat(129), "#"),
      policies.put("x", "path"),
      policies.delete("root"),
      policies.delete("Default"),
      policies.attach("root", { kind: "user", username: "root" }),
      policies.attach("none", { kind: "user", username: "root" }),
      policies.attach("default", { kind: "user", username: "nobody" }),
      policies.attach("default", { kind: "team", organization: "none", team: "web" }),
      policies.attach("default", { kind: "token", id: "at-0" }),
    ].map((refusal) => refusal.catch((error: Error) => error.message))
    expect(await Promise.all(refusals)).toEqual([
      "the policy root allows everything and cannot be changed",
      "name may contain only letters, digits, _, . and -, and must begin and end with a letter, a digit or _",
      "name is too long (maximum is 128 characters)",
      "policy line 1: expected a quoted path, found the end of the text",
      "the policy root cannot be deleted",
      "the policy default cannot be deleted",
      "the policy root cannot be attached; only site administrators have it",
      'policy "none" does not exist',
      'user "nobody" does not exist',
      'team "none/web" does not exist',
      'token "at-0" does not exist',
    ])
    await policies.put("default", "# nothing")
    expect(await policies.get("default")).toEqual({ name: "default", text: "# nothing" })
  })

  test("when it creates a token with unknown policies, from a token with limited uses, or with too many ancestors", async () => {
    const testEngine = await open()
    const { serviceTokens } = testEngine.engine
    await expect(serviceTokens.create({ policies: ["none", "nil"] })).rejects.toMatchObject({
      code: "invalid",
      faults: [
        { field: ["policies"], detail: 'policies contains "nil", which does not exist' },
        { field: ["policies"], detail: 'policies contains "none", which does not exist' },
      ],
    })
    const limited = await make(testEngine.engine, { numUses: 5 })
    await expect((await as(testEngine, limited.secret)).serviceTokens.create({})).rejects.toMatchObject({
      code: "unprocessable",
      message: "a token with a limited number of uses cannot create other tokens",
    })
    let { secret } = await make(testEngine.engine, {})
    for (let depth = 0; depth < maxTokenAncestors; depth += 1)
      ({ secret } = await make(await as(testEngine, secret), {}))
    const last = await as(testEngine, secret)
    await expect(last.serviceTokens.create({})).rejects.toMatchObject({ code: "unprocessable" })
    await last.serviceTokens.createOrphan({})
    expect(await serviceTokens.list()).toHaveLength(maxTokenAncestors + 3)
  })

  test("when its accessor is unknown, or belongs to a token that is not a service token", async () => {
    const testEngine = await open()
    const ada = await newUser(testEngine, "ada")
    const { serviceTokens, tokens } = testEngine.engine
    const id = (await tokens.listForUser(ada.id, { number: 1, size: 1 })).items[0]?.id ?? ""
    for (const accessor of ["at-0", id]) {
      const unknown = { code: "forbidden", message: "invalid accessor" }
      await expect(serviceTokens.lookup({ accessor })).rejects.toMatchObject(unknown)
      await expect(serviceTokens.renew({ accessor })).rejects.toMatchObject(unknown)
      await expect(serviceTokens.revoke({ accessor })).rejects.toMatchObject(unknown)
      await expect(serviceTokens.capabilities({ accessor }, ["x"])).rejects.toMatchObject(unknown)
    }
    await testEngine.engine.authenticate(ada.token)
  })

  test("when a list or query has invalid parameters", async () => {
    const { serviceTokens } = (await open()).engine
    await expect(serviceTokens.list({ limit: 0 })).rejects.toMatchObject({ code: "invalid" })
    await expect(serviceTokens.capabilities("self", [])).rejects.toMatchObject({ code: "invalid" })
    const many = Array.from({ length: 1_001 }, String)
    await expect(serviceTokens.capabilities("self", many)).rejects.toMatchObject({ code: "invalid" })
    await expect(serviceTokens.lookup("self")).rejects.toMatchObject({ code: "unprocessable" })
  })
})

test("accessors are listed in order, after a given one, up to the limit", async () => {
  const testEngine = await open()
  for (let count = 0; count < 5; count += 1) await make(testEngine.engine, {})
  const { serviceTokens } = testEngine.engine
  const all = await serviceTokens.list()
  expect(all).toEqual(all.toSorted())
  expect(await serviceTokens.list({ limit: 2 })).toEqual(all.slice(0, 2))
  expect(await serviceTokens.list({ after: all[1] ?? "", limit: 2 })).toEqual(all.slice(2, 4))
  expect(await serviceTokens.list({ after: all[4] ?? "" })).toEqual([])
})

test("tokens of users are looked up by their secret and revoked", async () => {
  const testEngine = await open()
  await newOrganization(testEngine, "acme")
  const ada = await newMember(testEngine, "acme", "ada")
  const teamId = await newTeam(testEngine, "acme", "web")
  const { serviceTokens, tokens, policies } = testEngine.engine
  const ofTeam = await tokens.createForTeam(teamId, { expiresAt: clock.now() + hourMs })
  const ofOrganization = await tokens.createForOrganization("acme", {})
  await policies.attach("default", { kind: "user", username: "ada" })
  const self = await (await as(testEngine, ada.token)).serviceTokens.lookup("self")
  expect(self).toMatchObject({
    displayName: "user-ada",
    entityId: ada.id,
    policies: ["default"],
    expiresAt: null,
    remainingMs: null,
    renewable: false,
    orphan: true,
  })
  expect(await serviceTokens.lookup({ secret: ofTeam.secret })).toMatchObject({
    accessor: ofTeam.id,
    displayName: "team-web",
    entityId: teamId,
    policies: [],
    ttlMs: hourMs,
    remainingMs: hourMs,
  })
  expect(await serviceTokens.lookup({ secret: ofOrganization.secret })).toMatchObject({
    displayName: "organization-acme",
  })
  expect(await (await as(testEngine, testEngine.rootToken)).serviceTokens.lookup("self")).toMatchObject({
    displayName: "user-root",
    policies: ["root"],
  })
  await expect(serviceTokens.renew({ secret: ada.token })).rejects.toMatchObject({ message: "lease is not renewable" })
  await (await as(testEngine, ada.token)).serviceTokens.revoke("self")
  await expect(testEngine.engine.authenticate(ada.token)).rejects.toMatchObject(ended)
})

test("the capabilities of a token are the same by secret, by accessor and for itself", async () => {
  const testEngine = await open()
  await testEngine.engine.policies.put("web", rule("pki/issue/+", "update", "create") + rule("pki/issue/root", "deny"))
  const { secret, accessor } = await make(testEngine.engine, { policies: ["web"] })
  const paths = ["/pki/issue/web", "pki/issue/root", "pki/roles"]
  const expected = [
    { path: "/pki/issue/web", capabilities: ["create", "update"] },
    { path: "pki/issue/root", capabilities: ["deny"] },
    { path: "pki/roles", capabilities: ["deny"] },
  ]
  const { serviceTokens } = testEngine.engine
  expect(await serviceTokens.capabilities({ secret }, paths)).toEqual(expected)
  expect(await serviceTokens.capabilities({ accessor }, paths)).toEqual(expected)
  expect(await (await as(testEngine, secret)).serviceTokens.capabilities("self", paths)).toEqual(expected)
  expect(await serviceTokens.capabilities("self", ["x"])).toEqual([{ path: "x", capabilities: ["root"] }])
})
