import { EngineError, type Fault } from "@chancery/engine"
import { describe, expect, test } from "vitest"
import { explain, withPropertyNames } from "./explain.ts"

const invalid = (faults: readonly Fault[]) => new EngineError("invalid", "Invalid attribute", { faults })

describe("[F-U6] errors name properties as programs do", () => {
  const members = ["autoApply", "maxTtl", "ttl", "allowedDomains", "kind"]

  test.each([
    { text: "auto-apply must be a boolean", says: "autoApply must be a boolean" },
    { text: "max_ttl must not be shorter than ttl", says: "maxTtl must not be shorter than ttl" },
    { text: '"allowed_domains" has 1,001 entries', says: '"allowedDomains" has 1,001 entries' },
    { text: "usage read-only is always included", says: "usage read-only is always included" },
    { text: "host auto-apply.example.com is unknown", says: "host auto-apply.example.com is unknown" },
    { text: "see /docs/auto-apply", says: "see /docs/auto-apply" },
  ])("$text", ({ text, says }) => {
    expect(withPropertyNames(text, members)).toBe(says)
  })

  test("in the detail of each fault", () => {
    const error = invalid([{ field: ["autoApply"], detail: "auto-apply must be a boolean" }])
    expect(explain(error, "workspace", "update", members)).toBe("autoApply: autoApply must be a boolean (422 invalid)")
  })

  test("and in errors that name no member", () => {
    expect(
      explain(new EngineError("conflict", "max_ttl of the mount is shorter"), "pkiRole", "update", members),
    ).toContain("maxTtl of the mount is shorter (409 conflict)")
  })
})

describe("requests that were not sent", () => {
  test.each([
    {
      id: "[F-U3]",
      notSent: "unreachable" as const,
      detail: "https://chancery.test cannot be reached (ECONNREFUSED).",
      names: ["chancery:engineUrl", "CHANCERY_ENGINE_URL"],
    },
    {
      id: "[F-U4]",
      notSent: "untrusted-certificate" as const,
      detail: "https://chancery.test presents a certificate that is not trusted (SELF_SIGNED_CERT_IN_CHAIN).",
      names: ["chancery:caFile"],
    },
  ])("$id $notSent are reported with the cause, the unchanged state and the setting", ({ notSent, detail, names }) => {
    const text = explain(new EngineError("unavailable", detail, { notSent }), "workspace", "create")
    expect(text).toContain(detail)
    expect(text).toContain("Nothing was changed.")
    expect(text).not.toContain("not known")
    for (const name of names) expect(text).toContain(name)
  })

  test("are distinct from lost responses", () => {
    expect(explain(new EngineError("unavailable", "sent no complete response"), "workspace", "create")).toContain(
      "The result of the request is unknown",
    )
  })
})
