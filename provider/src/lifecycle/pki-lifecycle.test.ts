// Lifecycles of mounts and roles over a real engine, without Pulumi.
import { type Engine, EngineError } from "@chancery/engine"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { explain } from "../dynamic/explain.ts"
import { lifecycles } from "./kinds.ts"
import { type Defaults, Unfinished } from "./lifecycle.ts"

const { pkiMount, pkiRole } = lifecycles
const nothing = new Set<string>()
const defaults: Defaults = { deletionPolicy: "safe", tagBindings: {} }
const lost = new EngineError("unavailable", "sent no complete response")

let world: TestEngine
let engine: Engine
beforeEach(async () => {
  world = await openTestEngine()
  engine = world.engine
})
afterEach(() => world[Symbol.asyncDispose]())

/** Returns the engine with lost answers to the creation of mounts and roles. */
const losing = (): Engine => {
  const mounts = {
    get: engine.mounts.get.bind(engine.mounts),
    create: async (...args: Parameters<Engine["mounts"]["create"]>) => {
      await engine.mounts.create(...args)
      throw lost
    },
  }
  const pki = (path: string) => {
    const { roles, ...others } = families(path)
    const save = async (...args: Parameters<typeof roles.save>) => {
      await roles.save(...args)
      throw lost
    }
    return { ...others, roles: { get: roles.get.bind(roles), list: roles.list.bind(roles), save } }
  }
  const replaced: Readonly<Record<PropertyKey, unknown>> = { mounts, pki }
  return new Proxy(engine, { get: (target, name) => replaced[name] ?? Reflect.get(target, name, target) })
}

const families = (path: string) => {
  const { issuers, keys, roles } = engine.pki(path)
  return { issuers, keys, roles }
}

const mountPaths = async () => (await engine.mounts.list()).map(({ path }) => path)

describe("a mount", () => {
  const news = { path: "team/pki", maxLeaseTtl: "8760h", description: "of the team" }

  test("has no difference after its creation and after a read", async () => {
    const { id, state } = await pkiMount.create(engine, news)
    expect(id).toBe("team/pki")
    expect(pkiMount.diff(state, news, nothing).changed).toEqual([])
    const read = await pkiMount.read(engine, id, state)
    expect(read).toEqual({ state, inputs: news })
  })

  test("reverts changes to declared members, and keeps changes to others", async () => {
    const { id, state } = await pkiMount.create(engine, news)
    await engine.mounts.tune(id, { description: "stolen", config: { listingVisibility: "unauth" } })
    const read = (await pkiMount.read(engine, id, state))?.state ?? {}
    expect(pkiMount.diff(read, news, nothing).changed).toEqual(["description"])
    expect(await pkiMount.update(engine, id, read, news)).toMatchObject({
      description: "of the team",
      listingVisibility: "unauth",
    })
  })

  test("has the default lifetimes again after they were removed from the program", async () => {
    const { id, state } = await pkiMount.create(engine, news)
    expect(await pkiMount.update(engine, id, state, { path: "team/pki" })).toMatchObject({
      description: "",
      maxLeaseTtl: null,
      __managed: ["path"],
    })
  })

  test("is created once when the response to its creation is lost, or the process ends", async () => {
    expect(await pkiMount.create(losing(), news)).toMatchObject({ id: "team/pki", state: { adopted: false } })
    expect(await pkiMount.create(engine, news)).toMatchObject({ id: "team/pki", state: { adopted: false } })
    expect(await mountPaths()).toEqual(["team/pki"])
  })

  describe("with URLs", () => {
    const reached = { ...news, clusterPath: "https://ca.test/v1/team/pki" }
    const clusterNow = () => engine.pki("team/pki").settings.cluster()

    test("has its URLs until they are removed from the program", async () => {
      const { id, state } = await pkiMount.create(engine, { ...reached, clusterPath: `${reached.clusterPath}/` })
      expect(await clusterNow()).toEqual({ path: reached.clusterPath, aiaPath: "" })
      expect(pkiMount.diff(state, reached, nothing).changed).toEqual([])
      expect(await pkiMount.read(engine, id, state)).toMatchObject({ state, inputs: news })
      const both = { ...reached, clusterAiaPath: "http://ca.test/v1/team/pki" }
      const moved = await pkiMount.update(engine, id, state, both)
      expect(await clusterNow()).toEqual({ path: reached.clusterPath, aiaPath: both.clusterAiaPath })
      const silent = await pkiMount.update(engine, id, moved, { ...news, clusterAiaPath: both.clusterAiaPath })
      expect(await clusterNow()).toEqual({ path: "", aiaPath: both.clusterAiaPath })
      expect(await pkiMount.update(engine, id, silent, news)).not.toHaveProperty("clusterAiaPath")
      expect(await clusterNow()).toEqual({ path: "", aiaPath: "" })
    })

    test("serves ACME in the same program", async () => {
      const headers = ["Location", "Replay-Nonce", "Link", "Last-Modified"]
      await pkiMount.create(engine, { ...reached, allowedResponseHeaders: headers })
      const { acmeConfig } = lifecycles
      expect(await acmeConfig.create(engine, { mount: "team/pki", enabled: true })).toMatchObject({
        state: { enabled: true },
      })
    })

    test("is adopted if the process ended before the response arrived", async () => {
      await pkiMount.create(engine, news)
      expect(await pkiMount.create(engine, reached)).toMatchObject({ state: { adopted: false } })
      expect(await clusterNow()).toMatchObject({ path: reached.clusterPath })
    })

    test("is not adopted as a lost creation if it has other URLs", async () => {
      await pkiMount.create(engine, { ...reached, clusterPath: "https://other.test/v1/team/pki" })
      await expect(pkiMount.create(engine, reached)).rejects.toMatchObject({ code: "conflict" })
    })

    test("is not created with an invalid URL", async () => {
      const wrong = { ...reached, clusterPath: "http://ca.test" }
      await expect(pkiMount.create(engine, wrong)).rejects.toMatchObject({ code: "invalid" })
      expect(await mountPaths()).toEqual([])
    })

    test("is completed by the next update if the URL was rejected temporarily", async () => {
      const deaf = new Proxy(engine, {
        get: (target, name) =>
          name === "pki"
            ? (path: string) => ({
                ...families(path),
                settings: { changeCluster: () => Promise.reject(lost) },
              })
            : Reflect.get(target, name, target),
      })
      const unfinished = await pkiMount.create(deaf, reached).catch((error: unknown) => error)
      expect(unfinished).toBeInstanceOf(Unfinished)
      const { id, state } = (unfinished as Unfinished).kept
      await pkiMount.update(engine, id, state, reached)
      expect(await clusterNow()).toMatchObject({ path: reached.clusterPath })
    })
  })

  test("in use is taken over only with adopt, and retained at the end", async () => {
    await engine.mounts.create({ path: "team/pki", description: "of the team", config: { maxLeaseTtlMs: 31_536e6 } })
    await engine.pki("team/pki").roles.save("theirs", {})
    const refused = await pkiMount.create(engine, news).catch((error: unknown) => error)
    expect(explain(refused, "pkiMount", "create")).toMatch(/already in use at team\/pki\/ \(409.*\n.*adopt: true/)
    const { id, state } = await pkiMount.create(engine, { ...news, description: "ours", adopt: true })
    expect(state).toMatchObject({ adopted: true, description: "ours" })
    await pkiMount.delete(engine, id, state, defaults)
    expect(await mountPaths()).toEqual(["team/pki"])
  })

  test("below another one is rejected, with and without adopt", async () => {
    await engine.mounts.create({ path: "team" })
    const refused = await pkiMount.create(engine, { ...news, adopt: true }).catch((error: unknown) => error)
    expect(explain(refused, "pkiMount", "create")).toBe(
      "path is already in use at team/, and mounts do not nest (422 unprocessable)",
    )
    expect(await mountPaths()).toEqual(["team"])
  })

  test("is kept with its content, unless the deletion is forced", async () => {
    const { id, state } = await pkiMount.create(engine, news)
    await engine.pki(id).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    const refused = await pkiMount.delete(engine, id, state, defaults).catch((error: unknown) => error)
    expect(explain(refused, "pkiMount", "delete")).toMatch(/has issuers and keys.*deletionPolicy: "force"/s)
    await pkiMount.delete(engine, id, { ...state, deletionPolicy: "force" }, defaults)
    expect(await mountPaths()).toEqual([])
    await pkiMount.delete(engine, id, state, defaults)
    expect(await pkiMount.read(engine, id, state)).toBeUndefined()
  })
})

describe("a role", () => {
  const news = { mount: "pki", name: "web", ttl: "30d", allowedDomains: ["b.test", "a.test"], allowSubdomains: true }
  beforeEach(() => engine.mounts.create({ path: "pki" }))

  test("belongs to the configured mount, otherwise to pki", () => {
    const { mount: _mount, ...homeless } = news
    expect(pkiRole.check(homeless, nothing, defaults)).toEqual({ inputs: news, failures: [] })
    const { inputs } = pkiRole.check(homeless, nothing, { ...defaults, pkiMount: "team/pki" })
    expect(inputs).toMatchObject({ mount: "team/pki" })
  })

  test("has no difference after its creation and after a read", async () => {
    const { id, state } = await pkiRole.create(engine, news)
    expect(id).toBe("pki/roles/web")
    expect(pkiRole.diff(state, news, nothing).changed).toEqual([])
    expect(await pkiRole.read(engine, id, state)).toEqual({ state, inputs: news })
  })

  test("keeps undeclared settings of other clients, also after members were removed", async () => {
    const { id, state } = await pkiRole.create(engine, news)
    await engine.pki("pki").roles.update("web", { ou: ["theirs"], allowSubdomains: false, ttlMs: 60_000 })
    const read = (await pkiRole.read(engine, id, state))?.state ?? {}
    const { ttl: _ttl, ...less } = news
    expect(pkiRole.diff(read, less, nothing).changed.toSorted()).toEqual(["allowSubdomains", "ttl"])
    await pkiRole.update(engine, id, read, less)
    expect(await engine.pki("pki").roles.get("web")).toMatchObject({
      ttlMs: 0,
      allowSubdomains: true,
      ou: ["theirs"],
      allowedDomains: ["b.test", "a.test"],
    })
  })

  test("is created once when the response to its creation is lost", async () => {
    await expect(pkiRole.create(losing(), news)).rejects.toBe(lost)
    expect(await pkiRole.create(engine, news)).toMatchObject({ id: "pki/roles/web", state: { adopted: false } })
  })

  test("that exists with other settings is not overwritten without adopt", async () => {
    await engine.pki("pki").roles.save("web", { ou: ["theirs"] })
    const refused = await pkiRole.create(engine, news).catch((error: unknown) => error)
    expect(explain(refused, "pkiRole", "create")).toMatch(/role "web" of pki already exists.*adopt: true/s)
    expect(await engine.pki("pki").roles.get("web")).toMatchObject({ ttlMs: 0, allowedDomains: [] })
    const { id, state } = await pkiRole.create(engine, { ...news, adopt: true })
    expect(state).toMatchObject({ adopted: true, organizationalUnits: ["theirs"], ttl: "30d" })
    await pkiRole.delete(engine, id, state, defaults)
    expect(await engine.pki("pki").roles.list()).toEqual(["web"])
  })

  test("is rejected with property names if a value that was unknown before is invalid", async () => {
    const refused = await pkiRole.create(engine, { ...news, maxTtl: "1d" }).catch((error: unknown) => error)
    expect(explain(refused, "pkiRole", "create")).toBe("ttl: ttl value must be less than maxTtl value (422 invalid)")
    expect(await engine.pki("pki").roles.list()).toEqual([])
  })

  test("is undefined without its mount", async () => {
    const { id, state } = await pkiRole.create(engine, news)
    await engine.mounts.delete("pki")
    expect(await pkiRole.read(engine, id, state)).toBeUndefined()
    await expect(pkiRole.delete(engine, id, state, defaults)).resolves.toBeUndefined()
  })

  test("is read by its id alone", async () => {
    await pkiRole.create(engine, news)
    expect((await pkiRole.read(engine, "pki/roles/web", {}))?.state).toMatchObject({ name: "web", ttl: "720h" })
    await expect(pkiRole.read(engine, "web", {})).rejects.toThrow("MOUNT/roles/NAME")
  })
})
