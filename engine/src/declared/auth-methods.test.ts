// Declared auth methods, their users and certificate roles: validation before any request, differences to the observed state, and existing
// ones.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { unavailable } from "../core/errors.ts"
import type { Fault } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { foreignRoot } from "../../testing/issuing-mount.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { authMethodResource, type AuthMethodSpec } from "./auth-method.ts"
import { certificateAuthRoleResource, type CertificateAuthRoleSpec } from "./certificate-auth-role.ts"
import { userpassUserResource, type UserpassUserSpec } from "./userpass-user.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const detailsOf = (faults: readonly Fault[]) => faults.map(({ detail }) => detail)
const origin = { marker: "m", adopt: false }
const adopting = { marker: "m", adopt: true }
const known = { before: {}, now: 0 }

const { certificate } = foreignRoot()
const other = foreignRoot().certificate
const bcrypt = "$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"

let testEngine: TestEngine
let engine: Engine
beforeAll(async () => {
  testEngine = await openTestEngine()
  engine = testEngine.engine
  await engine.authMethods.enable({ path: "people", type: "userpass" })
  await engine.authMethods.enable({ path: "devices", type: "cert" })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

/** Returns the engine whose answer to one user's creation is lost. */
const losingAnswers = (): Engine => ({
  ...engine,
  userpass: (path) => {
    const { users, logins } = engine.userpass(path)
    const save: typeof users.save = async (name, input) => {
      await users.save(name, input)
      throw unavailable("no answer")
    }
    return { logins, users: { ...users, get: (name) => users.get(name), save } }
  },
})

describe("an auth method", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { path: "" }, at: "path", why: "no path" },
    { spec: { path: "token/x" }, at: "path", why: "the path of the built-in method" },
    { spec: { path: "a b" }, at: "path", why: "a space in its path" },
    { spec: { type: "ldap" }, at: "type", why: "an unknown type" },
    { spec: { type: undefined }, at: "type", why: "no type" },
    { spec: { description: "a\nb" }, at: "description", why: "a description of two lines" },
    { spec: { defaultLeaseTtl: "soon" }, at: "defaultLeaseTtl", why: "a lifetime in words" },
    { spec: { defaultLeaseTtl: "2h", maxLeaseTtl: "1h" }, at: "defaultLeaseTtl", why: "a default above the maximum" },
    { spec: { maxLeaseTtl: "0s" }, at: "maxLeaseTtl", why: "no lifetime" },
    { spec: { tokenType: "batch" }, at: "tokenType", why: "an unsupported type of tokens" },
    { spec: { listingVisibility: "public" }, at: "listingVisibility", why: "an unknown visibility" },
    { spec: { allowedResponseHeaders: ["a b"] }, at: "allowedResponseHeaders", why: "a header with a space" },
    { spec: { lockoutThreshold: 0 }, at: "lockoutThreshold", why: "a lockout after no failure" },
    { spec: { lockoutDuration: "1500ms" }, at: "lockoutDuration", why: "half a second of lockout" },
    { spec: { lockoutCounterReset: "1000d" }, at: "lockoutCounterReset", why: "a count of years" },
    { spec: { type: "approle", lockoutDisable: true }, at: "lockoutDisable", why: "a lockout without users" },
    { spec: { max_lease_ttl: "1h" }, at: "max_lease_ttl", why: "the API's name of a member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(authMethodResource.validate({ path: "x", type: "userpass", ...spec }))).toEqual([at])
  })

  test("is rejected with property names", () => {
    const spec = { path: "x", type: "userpass", defaultLeaseTtl: "2h", maxLeaseTtl: "1h", lockoutThreshold: 0 }
    expect(detailsOf(authMethodResource.validate(spec))).toEqual([
      "defaultLeaseTtl must not be longer than the maximum of 3600 seconds",
      "lockoutThreshold must be from 1 to 1000; set lockoutDisable to lock no user",
    ])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: {}, open: ["path", "type"] },
    { spec: { path: "x", lockoutThreshold: 3 }, open: ["type"] },
    { spec: { path: "x", type: "cert", defaultLeaseTtl: "8760h" }, open: ["maxLeaseTtl"] },
    { spec: { path: "team/x/", type: "approle", maxLeaseTtl: null }, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(authMethodResource.validate({ ...spec }, new Set(open))).toEqual([])
  })

  test.each<{ spec: Partial<AuthMethodSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { path: "staff/", maxLeaseTtl: "1d", lockoutDuration: "300s" }, changed: [] },
    { spec: { maxLeaseTtl: null }, changed: ["maxLeaseTtl"] },
    { spec: {}, dropped: ["maxLeaseTtl", "lockoutDuration", "tokenType"], changed: ["maxLeaseTtl", "lockoutDuration"] },
    { spec: { lockoutDisable: true }, changed: ["lockoutDisable"] },
    { spec: { type: "approle" }, changed: ["type"], replaced: ["type"] },
    { spec: { path: "crew" }, changed: ["path"], replaced: ["path"] },
  ])("with $spec, and without $dropped, differs in $changed", async ({ spec, dropped, changed, replaced = [] }) => {
    const whole = { path: "staff", type: "userpass", maxLeaseTtl: "24h", lockoutDuration: "5m" } as const
    const { observed } = await authMethodResource.create(engine, whole, origin)
    const found = authMethodResource.diff({ path: "staff", type: "userpass", ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  })

  test("is deleted before another one at its path, or above or below it", async () => {
    const spec: AuthMethodSpec = { path: "a/b", type: "cert" }
    const { observed } = await authMethodResource.create(engine, spec, origin)
    const paths = ["a/b", "a", "a/b/c", "a/bc"]
    expect(paths.map((path) => authMethodResource.diff({ path, type: "approle" }, observed).removeFirst)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test("has no lockout, and no difference in one, unless it has users", async () => {
    const { id, observed } = await authMethodResource.create(engine, { path: "robots", type: "approle" }, origin)
    expect(observed).not.toHaveProperty("lockoutThreshold")
    expect(await authMethodResource.observe(engine, id, {}, known)).toEqual(observed)
  })

  test("keeps other settings of the lockout when one changes", async () => {
    const spec: AuthMethodSpec = { path: "locked", type: "userpass", lockoutThreshold: 3, lockoutDuration: "1m" }
    const { id, observed } = await authMethodResource.create(engine, spec, origin)
    const { lockoutDuration: _, ...less } = { ...spec, lockoutThreshold: 4 }
    expect(await authMethodResource.update(engine, id, less, observed)).toMatchObject({
      lockoutThreshold: 4,
      lockoutDuration: "1m",
    })
    expect(await authMethodResource.update(engine, id, less, observed, ["lockoutDuration"])).toMatchObject({
      lockoutDuration: "15m",
    })
  })

  test("is taken over if it is empty and as declared, and otherwise only with adopt and the same type", async () => {
    const spec: AuthMethodSpec = { path: "found", type: "userpass", description: "of others" }
    await authMethodResource.create(engine, spec, origin)
    expect(await authMethodResource.create(engine, spec, origin)).toMatchObject({ adopted: false })
    await engine.userpass("found").users.save("x", { password: "a long password" })
    await expect(authMethodResource.create(engine, spec, origin)).rejects.toMatchObject({ code: "conflict" })
    const described = { ...spec, description: "ours" }
    expect(await authMethodResource.create(engine, described, adopting)).toMatchObject({
      adopted: true,
      observed: { description: "ours" },
    })
    await expect(authMethodResource.create(engine, { ...spec, type: "cert" }, adopting)).rejects.toThrow(
      "the auth method at found has the type userpass, and not cert",
    )
    await expect(authMethodResource.create(engine, { ...spec, path: "found/below" }, adopting)).rejects.toThrow(
      "auth methods do not nest",
    )
  })

  test.each<{ type: AuthMethodSpec["type"]; fill: () => Promise<unknown> }>([
    { type: "userpass", fill: () => engine.userpass("kept").users.save("x", { password: "a long password" }) },
    { type: "cert", fill: () => engine.certificateLogins("kept").saveRole("x", { certificate }) },
    { type: "approle", fill: () => engine.appRoles("kept").roles.save("x", {}) },
    {
      type: "kubernetes",
      fill: () =>
        engine.kubernetesLogins("kept").saveRole("x", {
          boundServiceAccountNames: ["a"],
          boundServiceAccountNamespaces: ["b"],
        }),
    },
  ])("of the type $type is kept by safe while it has users or roles", async ({ type, fill }) => {
    const spec: AuthMethodSpec = { path: "kept", type }
    const { id, observed } = await authMethodResource.create(engine, spec, origin)
    const now = { before: observed, now: 0 }
    await fill()
    await expect(authMethodResource.delete(engine, id, spec, "safe", now)).rejects.toThrow(
      /^auth method kept has (users|roles), which would be deleted with all tokens of their logins$/,
    )
    await authMethodResource.delete(engine, id, spec, "force", now)
    await authMethodResource.delete(engine, id, spec, "safe", now)
    expect(await authMethodResource.observe(engine, id, {}, known)).toBeUndefined()
  })

  test("cannot be the built-in method", async () => {
    expect(await authMethodResource.observe(engine, "token", {}, known)).toBeUndefined()
  })
})

/** Members of the terms of tokens that are rejected in every user and role. */
const wrongTerms: readonly { spec: object; at: string; why: string }[] = [
  { spec: { tokenTtl: "soon" }, at: "tokenTtl", why: "a lifetime in words" },
  { spec: { tokenTtl: 600 }, at: "tokenTtl", why: "a lifetime without a unit" },
  { spec: { tokenTtl: "2h", tokenMaxTtl: "1h" }, at: "tokenTtl", why: "a lifetime above the longest" },
  { spec: { tokenPeriod: "1500ms" }, at: "tokenPeriod", why: "half a second" },
  { spec: { tokenPolicies: ["Root"] }, at: "tokenPolicies", why: "the policy root" },
  { spec: { tokenPolicies: ["a b"] }, at: "tokenPolicies", why: "a policy with a space" },
  { spec: { tokenPolicies: "web" }, at: "tokenPolicies", why: "a policy that is no list" },
  { spec: { tokenBoundCidrs: ["10.0.0.0/33"] }, at: "tokenBoundCidrs", why: "an unknown range" },
  { spec: { tokenNumUses: -1 }, at: "tokenNumUses", why: "less than no use" },
  { spec: { tokenNumUses: 1.5 }, at: "tokenNumUses", why: "half a use" },
  { spec: { tokenType: "batch" }, at: "tokenType", why: "an unsupported type of tokens" },
  { spec: { authMethod: "a b" }, at: "authMethod", why: "a method with a space" },
  { spec: { authMethod: "token" }, at: "authMethod", why: "the built-in method" },
  { spec: { authMethod: undefined }, at: "authMethod", why: "no method" },
  { spec: { name: "a b" }, at: "name", why: "a name with a space" },
  { spec: { name: "" }, at: "name", why: "no name" },
  { spec: { token_ttl: "1h" }, at: "token_ttl", why: "the API's name of a member" },
]

describe("a user", () => {
  const named = { authMethod: "people", name: "printer" }

  test.each<{ spec: object; at: string; why: string }>([
    ...wrongTerms,
    { spec: { password: "" }, at: "password", why: "an empty password" },
    { spec: { password: "x".repeat(1_025) }, at: "password", why: "a password that is too long" },
    { spec: { password: 7 }, at: "password", why: "a password that is a number" },
    { spec: { password: "x", passwordHash: bcrypt }, at: "passwordHash", why: "a password and a hash" },
    { spec: { passwordHash: "$2y$20$x" }, at: "passwordHash", why: "text that is no hash" },
    { spec: { passwordHash: bcrypt.replace("$10$", "$14$") }, at: "passwordHash", why: "a hash that takes too long" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(userpassUserResource.validate({ ...named, ...spec }))).toEqual([at])
  })

  test("is rejected with property names, without the password", () => {
    const password = "\u0000secret"
    const faults = userpassUserResource.validate({ ...named, password, tokenTtl: "2h", tokenMaxTtl: "1h" })
    expect(detailsOf(faults)).toEqual([
      expect.stringMatching(/^password (?!.*secret)/),
      "tokenTtl must not be longer than tokenMaxTtl",
    ])
    expect(detailsOf(userpassUserResource.validate({ ...named, password: "x", passwordHash: "secret" }))).toEqual([
      "passwordHash and password are mutually exclusive",
    ])
    expect(detailsOf(userpassUserResource.validate({ ...named, passwordHash: "secret" }))).toEqual([
      'passwordHash must be a hash of bcrypt, which begins with "$2a$", "$2b$" or "$2y$"',
    ])
  })

  test.each<{ spec: object; open: string[] }>([
    { spec: {}, open: ["authMethod", "name", "password"] },
    { spec: { ...named, tokenTtl: "2h" }, open: ["tokenMaxTtl"] },
    { spec: { ...named, tokenTtl: null, tokenMaxTtl: "0s" }, open: [] },
    { spec: named, open: [] },
  ])("is accepted as $spec while $open is unknown", ({ spec, open }) => {
    expect(userpassUserResource.validate({ ...spec }, new Set(open))).toEqual([])
  })

  test.each<{ spec: Partial<UserpassUserSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { authMethod: "people/", name: "Differing", tokenTtl: "600s", tokenPolicies: ["B", "a"] }, changed: [] },
    { spec: { tokenMaxTtl: null, tokenPeriod: "0s" }, changed: [] },
    { spec: { password: "another password" }, changed: ["password"] },
    { spec: {}, dropped: ["password", "tokenTtl", "tokenNumUses"], changed: ["password", "tokenTtl"] },
    { spec: { name: "other" }, changed: ["name"], replaced: ["name"] },
    { spec: { authMethod: "other" }, changed: ["authMethod"], replaced: ["authMethod"] },
  ])("with $spec, and without $dropped, differs in $changed", async ({ spec, dropped, changed, replaced = [] }) => {
    const place = { authMethod: "people", name: "differing" }
    const terms = { password: "a long password", tokenTtl: "10m", tokenPolicies: ["a", "b"] }
    const { observed } = await userpassUserResource.create(engine, { ...place, ...terms }, adopting)
    const found = userpassUserResource.diff({ ...place, ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  })

  const logIn = (name: string, password: string) => engine.userpass("people").logins.logIn({ name, password })

  test("gets a changed password or hash, and keeps it when neither is declared", async () => {
    const place = { authMethod: "people", name: "Changing" }
    const { id, observed } = await userpassUserResource.create(engine, { ...place, password: "first one" }, origin)
    expect([id, observed.name]).toEqual(["people/users/changing", "changing"])
    await expect(logIn("changing", "first one")).resolves.toBeDefined()
    const second = await userpassUserResource.update(engine, id, { ...place, password: "second one" }, observed)
    expect(second).toMatchObject({ password: "second one", passwordHash: null })
    await expect(logIn("changing", "second one")).resolves.toBeDefined()
    await expect(logIn("changing", "first one")).rejects.toMatchObject({ code: "unprocessable" })
    const forgotten = await userpassUserResource.update(engine, id, place, second, ["password"])
    expect(forgotten).toMatchObject({ password: null, passwordHash: null })
    await expect(logIn("changing", "second one")).resolves.toBeDefined()
    const hashed = await userpassUserResource.update(engine, id, { ...place, passwordHash: bcrypt }, forgotten)
    expect(hashed).toMatchObject({ password: null, passwordHash: bcrypt })
    await expect(logIn("changing", "second one")).rejects.toMatchObject({ code: "unprocessable" })
  })

  test("is read without its password", async () => {
    const place = { authMethod: "people", name: "read" }
    const { id, observed } = await userpassUserResource.create(engine, { ...place, password: "first one" }, origin)
    const before = { before: observed, now: 0 }
    expect(await userpassUserResource.observe(engine, id, place, before)).toEqual(observed)
    expect(await userpassUserResource.observe(engine, id, place, known)).toEqual({ ...observed, password: null })
    await expect(userpassUserResource.observe(engine, "read", place, known)).rejects.toThrow(
      'id of a user must be PATH/users/NAME, not "read"',
    )
  })

  test("needs a password, unless it exists and is adopted", async () => {
    const place = { authMethod: "people", name: "existing" }
    await expect(userpassUserResource.create(engine, place, origin)).rejects.toMatchObject({
      faults: [{ field: ["password"], detail: "password or passwordHash is required for a new user" }],
    })
    await engine.userpass("people").users.save("existing", { password: "of others" })
    const spec = { ...place, password: "of ours" }
    await expect(userpassUserResource.create(engine, spec, origin)).rejects.toThrow(
      'user "existing" of people already exists',
    )
    await expect(logIn("existing", "of others")).resolves.toBeDefined()
    expect(await userpassUserResource.create(engine, place, adopting)).toMatchObject({ adopted: true })
    await expect(logIn("existing", "of others")).resolves.toBeDefined()
    expect(await userpassUserResource.create(engine, spec, adopting)).toMatchObject({ adopted: true })
    await expect(logIn("existing", "of ours")).resolves.toBeDefined()
  })

  test("is created when only the answer was lost", async () => {
    const spec: UserpassUserSpec = { authMethod: "people", name: "lost", password: "first one", tokenTtl: "10m" }
    expect(await userpassUserResource.create(losingAnswers(), spec, origin)).toMatchObject({
      adopted: false,
      observed: { name: "lost", tokenTtl: "10m", password: "first one" },
    })
  })

  test("is deleted already without its method, and not created", async () => {
    const spec: UserpassUserSpec = { authMethod: "gone", name: "x", password: "first one" }
    await userpassUserResource.delete(engine, "gone/users/x", spec, "safe", known)
    await expect(userpassUserResource.create(engine, spec, origin)).rejects.toMatchObject({ code: "not-found" })
  })
})

describe("a certificate role", () => {
  const named = { authMethod: "devices", name: "printers", certificate }

  test.each<{ spec: object; at: string; why: string }>([
    ...wrongTerms,
    { spec: { certificate: undefined }, at: "certificate", why: "no certificate" },
    { spec: { certificate: "x" }, at: "certificate", why: "text that is no certificate" },
    { spec: { ocspCaCertificates: "x" }, at: "ocspCaCertificates", why: "a responder that is no certificate" },
    { spec: { allowedCommonNames: [""] }, at: "allowedCommonNames.0", why: "an empty name" },
    { spec: { requiredExtensions: ["x"] }, at: "requiredExtensions", why: "an extension without a value" },
    { spec: { allowedMetadataExtensions: ["x"] }, at: "allowedMetadataExtensions", why: "an unknown extension" },
    { spec: { ocspServersOverride: ["ftp://x"] }, at: "ocspServersOverride", why: "a server without HTTP" },
    { spec: { ocspMaxRetries: 11 }, at: "ocspMaxRetries", why: "too many retries" },
    { spec: { ocspThisUpdateMaxAge: "1500ms" }, at: "ocspThisUpdateMaxAge", why: "half a second" },
    { spec: { displayName: "x".repeat(201) }, at: "displayName", why: "a long display name" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(certificateAuthRoleResource.validate({ ...named, ...spec }))).toEqual([at])
  })

  test("is rejected with property names", () => {
    const spec = { ...named, requiredExtensions: ["x"], tokenTtl: "2h", tokenMaxTtl: "1h" }
    expect(detailsOf(certificateAuthRoleResource.validate(spec))).toEqual([
      'requiredExtensions must contain "OID:value" or "hex:OID:value"',
      "tokenTtl must not be longer than tokenMaxTtl",
    ])
  })

  test("is accepted while its certificate is unknown", () => {
    const open = new Set(["certificate", "name"])
    expect(certificateAuthRoleResource.validate({ authMethod: "devices" }, open)).toEqual([])
  })

  test.each<{ spec: Partial<CertificateAuthRoleSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
    { spec: {}, changed: [] },
    { spec: { name: "Differing", certificate: `\n${certificate.replaceAll("\n", "\r\n")}\n` }, changed: [] },
    { spec: { allowedDnsSans: ["b.test", "a.test"], tokenTtl: "600s", displayName: "" }, changed: ["displayName"] },
    { spec: { certificate: other }, changed: ["certificate"] },
    { spec: {}, dropped: ["displayName", "allowedDnsSans", "ocspEnabled"], changed: ["displayName", "allowedDnsSans"] },
    { spec: { name: "other" }, changed: ["name"], replaced: ["name"] },
    { spec: { authMethod: "other" }, changed: ["authMethod"], replaced: ["authMethod"] },
  ])("with $spec, and without $dropped, differs in $changed", async ({ spec, dropped, changed, replaced = [] }) => {
    const place = { ...named, name: "differing" }
    const rules = { displayName: "office", allowedDnsSans: ["a.test", "b.test"], tokenTtl: "10m" }
    const { observed } = await certificateAuthRoleResource.create(engine, { ...place, ...rules }, origin)
    const found = certificateAuthRoleResource.diff({ ...place, ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  })

  test("returns to the name of the role as its display name", async () => {
    const spec = { ...named, name: "Shown", displayName: "office" }
    const { id, observed } = await certificateAuthRoleResource.create(engine, spec, origin)
    const { displayName: _, ...less } = spec
    const updated = await certificateAuthRoleResource.update(engine, id, less, observed, ["displayName"])
    expect([id, updated.displayName]).toEqual(["devices/certs/shown", "shown"])
    expect(certificateAuthRoleResource.diff(less, updated, ["displayName"]).changed).toEqual([])
  })

  test("is taken over if it is as declared, and otherwise only with adopt", async () => {
    const spec: CertificateAuthRoleSpec = { ...named, name: "found", tokenPolicies: ["Web"] }
    await certificateAuthRoleResource.create(engine, spec, origin)
    expect(await certificateAuthRoleResource.create(engine, spec, origin)).toMatchObject({ adopted: false })
    const changed = { ...spec, allowedCommonNames: ["printer-*"] }
    await expect(certificateAuthRoleResource.create(engine, changed, origin)).rejects.toThrow(
      'role "found" of devices already exists with different settings',
    )
    expect(await certificateAuthRoleResource.create(engine, changed, adopting)).toMatchObject({
      adopted: true,
      observed: { allowedCommonNames: ["printer-*"], tokenPolicies: ["web"] },
    })
  })

  test("is deleted already without its method", async () => {
    await certificateAuthRoleResource.delete(engine, "gone/certs/x", named, "safe", known)
    expect(await certificateAuthRoleResource.observe(engine, "gone/certs/x", {}, known)).toBeUndefined()
    await expect(certificateAuthRoleResource.observe(engine, "x", {}, known)).rejects.toThrow(
      'id of a role must be PATH/certs/NAME, not "x"',
    )
  })
})
