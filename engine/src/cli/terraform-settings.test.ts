import { expect, test } from "vitest"
import { terraformSettings } from "./terraform-settings.ts"

const http = "http://127.0.0.1:8420"

test("Terraform settings use the host of HTTPS, with services over HTTP", () => {
  expect(terraformSettings({ url: http, httpsUrl: "https://127.0.0.1:8421" }, "secret")).toEqual({
    hostname: "localhost:8421",
    text: `host "localhost:8421" {
  services = {
    "state.v2" = "http://127.0.0.1:8420/api/v2/"
    "tfe.v2" = "http://127.0.0.1:8420/api/v2/"
    "tfe.v2.1" = "http://127.0.0.1:8420/api/v2/"
    "tfe.v2.2" = "http://127.0.0.1:8420/api/v2/"
  }
}

credentials "localhost:8421" {
  token = "secret"
}
`,
  })
})

test("Terraform settings use the host of HTTP without HTTPS, and are absent without a port", () => {
  expect(terraformSettings({ url: http, httpsUrl: undefined }, "secret")?.hostname).toBe("localhost:8420")
  expect(terraformSettings({ url: "unix:/run/chancery.sock", httpsUrl: undefined }, "secret")).toBeUndefined()
})
