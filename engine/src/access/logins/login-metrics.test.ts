import { expect, test } from "vitest"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { badRequest, busy, EngineError, forbidden, unavailable, unprocessable } from "../../core/errors.ts"
import { countLogin, createLoginMetrics } from "./login-metrics.ts"

const limited = new EngineError("rate-limited", "too many failed logins from this address")

test.each([
  { method: "userpass", error: unprocessable("invalid username or password"), outcome: "wrong_credentials" },
  { method: "userpass", error: forbidden("permission denied"), outcome: "denied" },
  { method: "userpass", error: limited, outcome: "rate_limited" },
  { method: "userpass", error: busy("too many passwords"), outcome: "busy" },
  { method: "userpass", error: unavailable("The engine is closing."), outcome: "failed" },
  { method: "userpass", error: new TypeError("x is not a function"), outcome: "failed" },
  { method: "cert", error: badRequest("no client certificate"), outcome: "wrong_credentials" },
  { method: "cert", error: unavailable("The CRL is out of date."), outcome: "failed" },
  { method: "kubernetes", error: forbidden("permission denied"), outcome: "wrong_credentials" },
  { method: "approle", error: forbidden("permission denied"), outcome: "denied" },
] as const)(
  "a login with $method that throws $error.message counts as $outcome",
  async ({ method, error, outcome }) => {
    const metrics = recordedMetrics()
    const login = countLogin(createLoginMetrics(metrics.meter), method, () => Promise.reject(error))
    await expect(login).rejects.toBe(error)
    const counted = metrics.series("chancery_logins_total").filter(({ value }) => value > 0)
    expect(counted).toEqual([{ labels: { method, outcome }, value: 1 }])
  },
)

test("a login that is verified counts as a success, and other series begin with 0", async () => {
  const metrics = recordedMetrics()
  expect(await countLogin(createLoginMetrics(metrics.meter), "cert", async () => "verified")).toBe("verified")
  expect(metrics.value("chancery_logins_total", { method: "cert", outcome: "success" })).toBe(1)
  expect(metrics.series("chancery_logins_total")).toHaveLength(4 * 6)
})
