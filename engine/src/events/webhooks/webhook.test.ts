import { expect, test } from "vitest"
import type { FieldPath } from "../../core/errors.ts"
import { type WebhookPatch, webhookFaults } from "./webhook.ts"

test.each<WebhookPatch>([
  { name: "deploys", url: "https://receiver.example/hooks?team=a" },
  { url: "http://10.0.0.1:8080" },
  { kinds: ["workspace.*", "run.updated", "webhook.disabled"], workspaces: ["ws-1", "network"], tags: ["prod"] },
  { secret: "x".repeat(16) },
  { secret: "x".repeat(256) },
  {},
])("a webhook with %o is valid", (patch) => {
  expect(webhookFaults(patch)).toEqual([])
})

test.each<{ readonly patch: WebhookPatch; readonly fields: readonly FieldPath[] }>([
  { patch: { name: " " }, fields: [["name"]] },
  { patch: { name: "a\nb" }, fields: [["name"]] },
  { patch: { name: "a".repeat(256) }, fields: [["name"]] },
  { patch: { url: "" }, fields: [["url"]] },
  { patch: { url: "receiver.example" }, fields: [["url"]] },
  { patch: { url: "ftp://receiver.example" }, fields: [["url"]] },
  { patch: { url: "https://user@receiver.example" }, fields: [["url"]] },
  { patch: { url: "https://:word@receiver.example" }, fields: [["url"]] },
  { patch: { url: "https://receiver.example/\r\nx" }, fields: [["url"]] },
  { patch: { url: `https://receiver.example/${"a".repeat(2_048)}` }, fields: [["url"]] },
  { patch: { kinds: ["workspace.locked", "workspace.eaten"] }, fields: [["kinds", 1]] },
  { patch: { kinds: ["*"] }, fields: [["kinds", 0]] },
  { patch: { workspaces: [""] }, fields: [["workspaces", 0]] },
  { patch: { tags: ["a".repeat(256)] }, fields: [["tags", 0]] },
  { patch: { tags: Array.from({ length: 101 }, () => "a") }, fields: [["tags"]] },
  { patch: { secret: "x".repeat(15) }, fields: [["secret"]] },
  { patch: { secret: "x".repeat(257) }, fields: [["secret"]] },
  { patch: { secret: `${"x".repeat(16)}\n` }, fields: [["secret"]] },
  { patch: { name: "", url: "x", kinds: ["no"] }, fields: [["name"], ["url"], ["kinds", 0]] },
])("a webhook with $patch is invalid", ({ patch, fields }) => {
  expect(webhookFaults(patch).map(({ field }) => field)).toEqual(fields)
})

test("no fault contains a URL or a secret", () => {
  const faults = webhookFaults({ url: "https://user:password@receiver.example", secret: "short-secret" })
  expect(JSON.stringify(faults)).not.toMatch(/password@|receiver|short-secret/)
})
