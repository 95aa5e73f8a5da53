import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import type { KeyUse } from "../../core/audit.ts"
import { outOfService } from "../../core/errors.ts"
import type { KeyId } from "../../core/ids.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { auditedSigningKey } from "./audited-signing-key.ts"

const use = { mount: "pki", keyId: "key-1" as KeyId, purpose: "certificate", serialNumber: "0a:0b" } as const

test("the digest of the data is recorded before a key signs it", async () => {
  const events: unknown[] = []
  const key = {
    sign: async (data: Uint8Array, algorithm: string) => {
      events.push(["signs", Buffer.from(data).toString(), algorithm])
      return Uint8Array.of(7)
    },
  } as unknown as SigningKey
  const audited = auditedSigningKey(key, use, async (recorded: KeyUse) => void events.push(recorded))
  expect(await audited.sign(Buffer.from("tbs"), "ECDSAWithSHA256")).toEqual(Uint8Array.of(7))
  const digest = createHash("sha256").update("tbs").digest("hex")
  expect(events).toEqual([{ ...use, digest }, ["signs", "tbs", "ECDSAWithSHA256"]])
})

test("a key does not sign when the record cannot be written", async () => {
  let signed = false
  const key = {
    sign: async () => {
      signed = true
      return new Uint8Array()
    },
  } as unknown as SigningKey
  const audited = auditedSigningKey(key, use, async () => {
    throw outOfService("The audit log cannot be written.")
  })
  await expect(audited.sign(Buffer.from("tbs"), "ECDSAWithSHA256")).rejects.toMatchObject({ code: "out-of-service" })
  expect(signed).toBe(false)
})
