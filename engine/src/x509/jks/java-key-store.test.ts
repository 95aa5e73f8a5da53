import { expect, test } from "vitest"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import type { PrivateKey } from "../private-key.ts"
import { writeJavaKeyStore, writeJavaTrustStore } from "./java-key-store.ts"

// `test/validators/java-key-stores.test.ts` reads stores with Java.
const password = "changeit"
const createdAt = Date.UTC(2026, 0, 31, 8)
const certificate = Uint8Array.of(0x30, 0x00)

test("a store has the same bytes for the same input, and others for another key or password", async () => {
  const [one, other] = await Promise.all([1, 2].map(() => testKeyGenerator.generate({ type: "ec", bits: 256 })))
  const chain = [certificate]
  const store = (privateKey: PrivateKey, secret: string) =>
    Buffer.from(writeJavaKeyStore({ privateKey, chain, alias: "web" }, createdAt, secret)).toString("hex")
  expect(store(one!, password)).toBe(store(one!, password))
  expect(new Set([store(one!, password), store(other!, password), store(one!, "another")]).size).toBe(3)
})

test.each(["", "pässword", "two\nlines"])("the password %j is rejected", (bad) => {
  expect(() => writeJavaTrustStore([], createdAt, bad)).toThrow(/password must consist of printable ASCII/)
})

test("an alias outside ASCII is rejected", () => {
  expect(() => writeJavaTrustStore([{ certificate, alias: "größe" }], createdAt, password)).toThrow(
    /alias must consist of printable ASCII/,
  )
})
