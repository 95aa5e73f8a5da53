import { EngineError, type EngineErrorCode, isEngineError } from "@chancery/engine"
import { expect, test } from "vitest"
import { type AskEngine, reconcileClusterConnection, tokenSecretsOf } from "./cluster-connections.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import { ObjectStore } from "./object-store.ts"

const base64 = (text: string) => Buffer.from(text).toString("base64")
const secret = (data: Record<string, string>) => ({ metadata: { name: "engine", namespace: "operators" }, data })
const connection = (spec: Record<string, unknown> = {}): KubernetesObject => ({
  metadata: { name: "default" },
  spec: { baseURL: "https://engine.example", tokenSecretRef: { name: "engine" }, ...spec },
})

async function reconcile(
  object: KubernetesObject,
  { data, ask = async () => {} }: { readonly data?: Record<string, string>; readonly ask?: AskEngine } = {},
) {
  const secrets = new ObjectStore()
  if (data !== undefined) secrets.set(secret(data))
  const engineErrorOf = (error: unknown) => (isEngineError(error) ? error : undefined)
  return reconcileClusterConnection({ secrets, namespace: "operators", ask, engineErrorOf })(
    object,
    new AbortController().signal,
  )
}

test("an engine that answers makes a connection ready, and is asked with all that the connection says", async () => {
  const asked: unknown[] = []
  const ask: AskEngine = async (url, { signal: _, ...options }) => void asked.push({ url, ...options })
  const data = { token: base64("abc\n"), other: base64("xyz") }
  expect(await reconcile(connection(), { data, ask })).toMatchObject({ health: { is: "ready" }, againAfterMs: 600_000 })
  const spec = { tokenSecretRef: { name: "engine", key: "other" }, organization: "acme", caBundle: "PEM" }
  await reconcile(connection(spec), { data, ask })
  const url = "https://engine.example"
  expect(asked).toEqual([
    { url, token: "abc" },
    { url, token: "xyz", organization: "acme", certificateAuthority: "PEM" },
  ])
})

test.each<{ code: EngineErrorCode; is: string; reason: string; again: number | undefined }>([
  { code: "unauthenticated", is: "stalled", reason: "TokenRefused", again: 600_000 },
  { code: "not-found", is: "stalled", reason: "OrganizationNotFound", again: 600_000 },
  { code: "forbidden", is: "stalled", reason: "EngineRefused", again: 600_000 },
  { code: "unavailable", is: "reconciling", reason: "EngineUnavailable", again: undefined },
  { code: "rate-limited", is: "reconciling", reason: "EngineUnavailable", again: undefined },
  { code: "busy", is: "reconciling", reason: "EngineUnavailable", again: undefined },
])("$code of the engine is $reason", async ({ code, is, reason, again }) => {
  const ask = async () => {
    throw new EngineError(code, "words that differ each time")
  }
  const outcome = await reconcile(connection(), { data: { token: base64("abc") }, ask })
  expect(outcome).toMatchObject({ health: { is, reason } })
  expect(outcome.againAfterMs).toBe(again)
})

test.each([
  { why: "there is no Secret", data: undefined, reason: "SecretMissing" },
  { why: "the Secret has no such key", data: { other: base64("abc") }, reason: "SecretKeyMissing" },
  { why: "what is under the key is empty", data: { token: base64(" \n") }, reason: "SecretKeyMissing" },
])("nothing is asked where $why", async ({ data, reason }) => {
  const ask = async () => {
    throw new Error("asked")
  }
  const outcome = await reconcile(connection(), { ask, ...(data === undefined ? {} : { data }) })
  expect(outcome).toMatchObject({ health: { is: "stalled", reason } })
})

test("an object from before the schema was stricter is told what is wrong with it", async () => {
  const outcome = await reconcile(connection({ baseURL: 5 }))
  expect(outcome).toMatchObject({ health: { is: "stalled", reason: "InvalidSpec" } })
  expect(outcome.health.message).toMatch(/^spec\.baseURL: /)
})

test("what is no engine's error is the loop's to deal with", async () => {
  const ask = async () => {
    throw new TypeError("a bug")
  }
  await expect(reconcile(connection(), { data: { token: base64("abc") }, ask })).rejects.toThrow("a bug")
})

test("the Secret is found by its name", () => {
  expect(tokenSecretsOf(connection())).toEqual(["engine"])
  expect(tokenSecretsOf({ metadata: { name: "old" } })).toEqual([])
})
