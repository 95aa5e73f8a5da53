// Which servers the provider accepts.
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import { ReloadableIdentity } from "../../../engine/src/server/http/secure-context.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { readConfiguration } from "../../../provider/src/configuration.ts"
import { createEngines } from "../../../provider/src/dynamic/engines.ts"
import { tokenOf } from "./stack.ts"

const file = (name: string) => fileURLToPath(new URL(`../../cli/tls/${name}.pem`, import.meta.url))

const opened = new AsyncDisposableStack()
let defaults: Record<string, string>
beforeAll(async () => {
  const engine = opened.use(await openEmbedded("sqlite::memory:", { jobs: false }))
  const identity = {
    certificate: await readFile(file("certificate"), "utf8"),
    privateKey: await readFile(file("key"), "utf8"),
  }
  const { url, close } = await startServer({ engine, tls: { source: new ReloadableIdentity(identity) } })
  opened.defer(async () => void (await close()))
  defaults = { engineUrl: url, token: await tokenOf(engine), maxRetries: "1" }
})
afterAll(() => opened.disposeAsync())

async function accountWith(settings: Record<string, string>) {
  const warnings: string[] = []
  const engines = createEngines(new AbortController().signal, undefined, (text) => warnings.push(text))
  const configuration = readConfiguration((key) => ({ ...defaults, ...settings })[key], {})
  try {
    const { username } = await engines.use(configuration, (engine) => engine.users.account())
    return { username, warnings }
  } finally {
    await engines.close()
  }
}

test("[F-U4] rejects an untrusted certificate before anything is sent", async () => {
  await expect(accountWith({})).rejects.toMatchObject({
    code: "unavailable",
    notSent: "untrusted-certificate",
    message: expect.stringContaining("certificate"),
  })
})

test("accepts a certificate of chancery:caFile without a warning", async () => {
  expect(await accountWith({ caFile: file("certificate") })).toEqual({ username: "root", warnings: [] })
})

test("names a CA file that cannot be read", async () => {
  await expect(accountWith({ caFile: "/none.pem" })).rejects.toThrow("chancery:caFile: /none.pem cannot be read")
})

test("accepts any certificate with chancery:skipTlsVerify, with a warning", async () => {
  expect(await accountWith({ skipTlsVerify: "true" })).toEqual({
    username: "root",
    warnings: [expect.stringMatching(/^WARNING: chancery:skipTlsVerify is set\..*chancery:caFile/)],
  })
})
