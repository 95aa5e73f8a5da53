import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { openTestEngine, origin } from "../../../testing/test-engine.ts"
import { createApp } from "../app.ts"
import { release } from "../release.ts"

const open = { token: null }

describe("the page for browsers", () => {
  test.each(["/", "/app", "/app/acme/workspaces", "/app/acme/workspaces/web", "/app/acme/web/runs/run-x"])(
    "[F-W16] is at %s, shows name and version and links to health and tokens",
    async (path) => {
      await using testEngine = await openTestEngine()
      const { status, headers, body } = await testEngine.request("GET", `${origin}${path}`, open)
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(body).toContain(`<h1>Chancery ${release}</h1>`)
      for (const link of ["/readyz", "/healthz", "/app/settings/tokens", "/.well-known/terraform.json"])
        expect(body).toContain(`href="${link}"`)
      expect(body).not.toMatch(/<(script|link|style|img|iframe|form|input)|\b(src|on\w+|style)=/i)
    },
  )

  test("[F-W16] is at a workspace's links.self-html, and shows nothing about the workspace, with a token or without", async () => {
    await using testEngine = await populatedEngine()
    const id = await testEngine.workspace("secret-name")
    const { body } = await testEngine.request("GET", `/workspaces/${id}`)
    const link: string = body.data.links["self-html"]
    const pages = [
      await testEngine.request("GET", `${origin}${link}`),
      await testEngine.request("GET", `${origin}${link}`, open),
      await testEngine.request("GET", `${origin}/app/acme/workspaces/no-such`, open),
    ]
    for (const page of pages) {
      expect(page.status).toBe(200)
      expect(page.body).toBe(pages[0]?.body)
      expect(page.body).not.toContain("secret-name")
    }
  })

  test("[F-W16] has links below the path of the proxy", async () => {
    await using testEngine = await openTestEngine()
    const publicUrl = new URL("https://chancery.example:8443/below")
    const app = createApp({ engine: testEngine.engine, runtime: systemRuntime(), publicUrl })
    for (const path of ["/", "/app/acme/web/runs/run-1"]) {
      const text = await (await app.fetch(new Request(`http://10.0.0.7:8080${path}`))).text()
      expect(text).toContain('href="/below/readyz"')
      expect(text).toContain("chancery.example:8443")
    }
  })

  test("[F-W16] does not use the Host header in its text", async () => {
    await using testEngine = await openTestEngine()
    const { body } = await testEngine.request("GET", `http://a"&lt;b'/`, open)
    expect(body).toContain("a&quot;&amp;lt;b&#39;")
  })

  test.each(["/nowhere", "/app/acme", "/api/v2/nowhere", "/v1/nowhere"])(
    "[F-W16] %s answers 404 in JSON whatever the client accepts",
    async (path) => {
      await using testEngine = await openTestEngine()
      for (const accept of ["text/html", "*/*", "application/vnd.api+json"]) {
        const answer = await testEngine.request("GET", `${origin}${path}`, { headers: { accept } })
        expect(answer.status).toBe(404)
        expect(answer.headers.get("content-type")).toMatch(/^application\/(vnd\.api\+)?json$/)
        expect(answer.body.errors).toBeInstanceOf(Array)
      }
    },
  )

  test("[F-W16] is not found for other methods", async () => {
    await using testEngine = await openTestEngine()
    expect((await testEngine.request("POST", `${origin}/`, { body: {} })).status).toBe(404)
  })
})
