import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { firstPage } from "./core/page.ts"
import { openEmbedded } from "./embedded.ts"
import { openEngine } from "./open.ts"
import { startServer } from "./server/server.ts"
import { defaultSharedKind } from "../testing/temporary-database.ts"

let place: Awaited<ReturnType<typeof defaultSharedKind.place>>
beforeEach(async () => {
  place = await defaultSharedKind.place()
})
afterEach(() => place[Symbol.asyncDispose]())

const store = () => place.url
const sealKeys = { text: Buffer.alloc(32).toString("base64") }

describe("an engine opened by the URL of a database", () => {
  test("acts as the site administrator and keeps its data", async () => {
    {
      await using engine = await openEngine(store(), { sealKeys })
      expect(await engine.users.account()).toMatchObject({ username: "root", siteAdmin: true })
      await engine.organizations.create({ name: "acme", email: "admin@acme.example" })
    }
    await using again = await openEngine(store(), { sealKeys })
    expect(await again.organizations.get("acme")).toMatchObject({ name: "acme" })
  })

  test("acts for the owner of a token until it is revoked", async () => {
    const ids = { user: "", token: "" }
    let secret = ""
    {
      await using engine = await openEngine(store(), { sealKeys })
      ids.user = (await engine.users.create({ username: "ada" })).id
      const token = await engine.tokens.createForUser(ids.user, {})
      ids.token = token.id
      secret = token.secret
    }
    await using engine = await openEngine(store(), { sealKeys, token: secret })
    expect(await engine.users.account()).toMatchObject({ id: ids.user, siteAdmin: false })
    await expect(engine.users.list(undefined, firstPage)).rejects.toMatchObject({ code: "not-found" })
    await engine.tokens.delete(ids.token)
    await expect(engine.users.account()).rejects.toMatchObject({ code: "unauthenticated" })
  })
})

describe("an engine opened by the address of a server", () => {
  test("acts for the owner of the token", async () => {
    await using served = await openEmbedded(store(), { sealKeys })
    const server = await startServer({ engine: served })
    try {
      const root = await served.users.account()
      const { secret: token } = await served.tokens.createForUser(root.id, {})
      await using engine = await openEngine(`${server.url}/api/v2`, { token })
      expect(await engine.users.account()).toEqual(root)
    } finally {
      await server.close()
    }
  })

  test("requires a token", async () => {
    await expect(openEngine("https://chancery.example")).rejects.toMatchObject({ code: "unauthenticated" })
  })
})

test("other URLs are rejected with an error that contains no secret", async () => {
  const error = await openEngine("mysql://user:password@db").catch(String)
  expect(error).toContain('Storage "mysql:…" is not supported')
  expect(error).not.toContain("password")
})
