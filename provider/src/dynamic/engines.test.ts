import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Engine, EngineError, type EngineOptions } from "@chancery/engine"
import { describe, expect, test } from "vitest"
import { type ConfigurationSource, readConfiguration } from "../configuration.ts"
import { createEngines, createLimiter } from "./engines.ts"

const from =
  (values: Readonly<Record<string, string>>): ConfigurationSource =>
  (key) =>
    values[key]

/** Returns a fake engine with a single method. */
const engineThat = (get: () => Promise<unknown>): Engine =>
  ({ workspaces: { get }, [Symbol.asyncDispose]: async () => undefined }) as unknown as Engine

const open = (make: (url: string, options: EngineOptions) => Engine) =>
  createEngines(new AbortController().signal, async (url, options) => make(url, options))

describe("the configuration", () => {
  test("is read from the stack first, and the token from the environment first", async () => {
    const given = { engineUrl: "https://stack", organization: "stack", token: "of the stack" }
    const environment = {
      CHANCERY_ENGINE_URL: "https://env",
      CHANCERY_ORGANIZATION: "env",
      CHANCERY_TOKEN: "of the env",
    }
    const both = readConfiguration(from(given), environment)
    expect([both.engineUrl, both.defaults.organization, await both.token()]).toEqual([
      "https://stack",
      "stack",
      "of the env",
    ])
    const env = readConfiguration(from({}), environment)
    expect([env.engineUrl, env.defaults.organization]).toEqual(["https://env", "env"])
    expect(await readConfiguration(from(given), {}).token()).toBe("of the stack")
  })

  test("sets the mount of roles", () => {
    expect(readConfiguration(from({ pkiMount: "team/pki" }), {}).defaults).toMatchObject({ pkiMount: "team/pki" })
  })

  test("sets the edition of the server, or none for auto", () => {
    expect(readConfiguration(from({ edition: "selfHosted" }), {}).defaults).toMatchObject({ edition: "selfHosted" })
    expect(readConfiguration(from({ edition: "auto" }), {}).defaults).not.toHaveProperty("edition")
  })

  test.each<{ given: Record<string, string>; says: string }>([
    { given: { deletionPolicy: "never" }, says: "chancery:deletionPolicy must be" },
    { given: { edition: "cloud" }, says: "chancery:edition must be" },
    { given: { skipTlsVerify: "yes" }, says: "chancery:skipTlsVerify must be" },
    { given: { requestsPerSecond: "0" }, says: "chancery:requestsPerSecond must be" },
    { given: { maxConcurrency: "1.5" }, says: "chancery:maxConcurrency must be" },
    { given: { requestTimeout: "soon" }, says: "chancery:requestTimeout must be" },
    { given: { defaultTagBindings: "env=prod" }, says: "chancery:defaultTagBindings must be" },
    { given: { defaultTagBindings: '{"env":1}' }, says: "chancery:defaultTagBindings must be" },
  ])("is rejected when malformed: $given", ({ given, says }) => {
    expect(() => readConfiguration(from(given), {})).toThrow(says)
  })

  test("names the settings of a missing URL or token", async () => {
    const engines = open(() => engineThat(async () => undefined))
    await expect(engines.use(readConfiguration(from({}), {}), async () => 1)).rejects.toThrow(/CHANCERY_ENGINE_URL/)
    const remote = readConfiguration(from({ engineUrl: "https://chancery.test" }), {})
    await expect(engines.use(remote, async () => 1)).rejects.toThrow(/chancery:token.*CHANCERY_TOKEN/)
    const unread = readConfiguration(from({ engineUrl: "https://chancery.test", tokenFile: "/none" }), {})
    await expect(engines.use(unread, async () => 1)).rejects.toThrow("chancery:tokenFile: /none cannot be read")
  })
})

describe("engines", () => {
  test("are opened once per address and token, and closed together", async () => {
    const opened: string[] = []
    const engines = open((url, { token, jobs }) => {
      opened.push(`${url} ${token} ${jobs}`)
      return engineThat(async () => undefined)
    })
    const stack = readConfiguration(from({ engineUrl: "https://a", token: "t" }), {})
    const other = readConfiguration(from({ engineUrl: "sqlite:b" }), {})
    await Promise.all([stack, stack, other, stack].map((one) => engines.use(one, async () => 1)))
    expect(opened).toEqual(["https://a t undefined", "sqlite:b undefined false"])
    await engines.close()
    await engines.use(stack, async () => 1)
    expect(opened).toHaveLength(3)
  })

  test("continue the trace of the caller of Pulumi", async () => {
    const told: (string | undefined)[] = []
    const engines = open((_url, { traceparent }) => {
      told.push(traceparent?.())
      return engineThat(async () => undefined)
    })
    const remote = from({ engineUrl: "https://a", token: "t" })
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await engines.use(readConfiguration(remote, { TRACEPARENT: traceparent }), async () => 1)
    await engines.close()
    await engines.use(readConfiguration(remote, {}), async () => 1)
    expect(told).toEqual([traceparent, undefined])
  })

  test("read a new token from the file after the old one expired", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-token-"))
    const tokenFile = join(folder, "token")
    await writeFile(tokenFile, "old\n")
    const engines = open((_url, { token }) =>
      engineThat(async () => {
        if (token === "new") return "found"
        await writeFile(tokenFile, "new\n")
        throw new EngineError("unauthenticated", "A valid API token is required.")
      }),
    )
    const configuration = readConfiguration(from({ engineUrl: "https://a", tokenFile }), {})
    const found = await engines.use(configuration, (engine) => engine.workspaces.get({ id: "ws-1" }))
    expect(found).toBe("found")
    await rm(folder, { recursive: true })
  })

  test("are retried when they are busy, as often as configured", async () => {
    let calls = 0
    const engines = open(() =>
      engineThat(async () => {
        calls += 1
        throw new EngineError("busy", "later")
      }),
    )
    const configuration = readConfiguration(from({ engineUrl: "sqlite:a", maxRetries: "2" }), {})
    await expect(engines.use(configuration, (engine) => engine.workspaces.get({ id: "ws-1" }))).rejects.toMatchObject({
      code: "busy",
    })
    expect(calls).toBe(3)
  })

  test("are retried in their mounts too", async () => {
    let calls = 0
    const list = async () => {
      calls += 1
      throw new EngineError("busy", "later")
    }
    const engines = open(() => ({ pki: () => ({ roles: { list } }) }) as unknown as Engine)
    const configuration = readConfiguration(from({ engineUrl: "sqlite:a", maxRetries: "1" }), {})
    const refused = engines.use(configuration, (engine) => engine.pki("pki").roles.list())
    await expect(refused).rejects.toMatchObject({ code: "busy" })
    expect(calls).toBe(2)
  })

  test("have no more concurrent requests than configured", async () => {
    let [running, most] = [0, 0]
    const engines = open(() =>
      engineThat(async () => {
        running += 1
        most = Math.max(most, running)
        await sleep(5)
        running -= 1
      }),
    )
    const configuration = readConfiguration(from({ engineUrl: "sqlite:a", maxConcurrency: "3" }), {})
    const ask = () => engines.use(configuration, (engine) => engine.workspaces.get({ id: "ws-1" }))
    await Promise.all(Array.from({ length: 12 }, ask))
    expect(most).toBe(3)
  })
})

test("requests start no faster than configured, also after one has failed", async () => {
  const limiter = createLimiter({ perSecond: 100, atOnce: 2 })
  const begun = performance.now()
  const works = Array.from({ length: 6 }, (_, index) =>
    limiter(async () => {
      if (index === 1) throw new Error("refused")
      return index
    }),
  )
  const settled = await Promise.allSettled(works)
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", ...Array<string>(4).fill("fulfilled")])
  // Six starts have five pauses of 10 ms between them. Timers may fire slightly early.
  expect(performance.now() - begun).toBeGreaterThan(45)
})
