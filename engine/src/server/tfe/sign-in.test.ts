import { describe, expect, test } from "vitest"
import { createApp } from "../app.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { newUser } from "../../../testing/users.ts"
import { openTestEngine, origin } from "../../../testing/test-engine.ts"

const page = "/app/settings/tokens?source=terraform-login"

describe("the page that terraform login opens", () => {
  test("explains to every visitor how a token is created, and loads and sends nothing", async () => {
    await using testEngine = await openTestEngine()
    const { status, headers, body } = await testEngine.request("GET", `${origin}${page}`, { token: null })
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(body).toContain("terraform login chancery.test")
    expect(body).toContain("chancery token create --user NAME")
    expect(body).not.toMatch(/<(script|link|style|img|iframe|form|input)|\b(src|href|on\w+|style)=|https?:/i)
  })

  test("is the same with a token, and does not contain it", async () => {
    await using testEngine = await openTestEngine()
    const [without, having] = [
      await testEngine.request("GET", `${origin}${page}`, { token: null }),
      await testEngine.request("GET", `${origin}${page}`),
    ]
    expect(having.body).toBe(without.body)
  })

  test("shows the server's public address", async () => {
    await using testEngine = await openTestEngine()
    const publicUrl = new URL("https://chancery.example:8443/below")
    const app = createApp({ engine: testEngine.engine, runtime: systemRuntime(), publicUrl })
    const text = await (await app.fetch(new Request(`http://10.0.0.7:8080${page}`))).text()
    expect(text).toContain("terraform login chancery.example:8443")
    expect(text).not.toContain("10.0.0.7")
  })

  test("does not use the Host header in its text", async () => {
    await using testEngine = await openTestEngine()
    const { body } = await testEngine.request("GET", `http://a"&lt;b'${page}`, { token: null })
    expect(body).toContain("terraform login a&quot;&amp;lt;b&#39;")
  })
})

test("a token is checked as terraform login does: ping, then the account", async () => {
  await using testEngine = await openTestEngine()
  const { token, username } = await newUser(testEngine, "ada")
  expect((await testEngine.request("GET", "/ping", { token })).status).toBe(204)
  const account = await testEngine.request("GET", "/account/details", { token })
  expect(account.body.data.attributes.username).toBe(username)
  expect((await testEngine.request("GET", "/account/details", { token: `${token}x` })).status).toBe(401)
})
