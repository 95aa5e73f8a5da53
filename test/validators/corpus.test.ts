// Validates everything that the engine signs with independent programs. CHANCERY_SEED repeats a run that failed.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolicyServer } from "../../engine/testing/policy-server.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { type WrittenBatch, writeBatch } from "./batch.ts"
import { makeCorpus } from "./corpus.ts"
import { explainedFindings } from "./explanations.ts"
import { type Finding, verdict } from "./validator.ts"
import { findValidators, validatorNames } from "./validators.ts"
import { each } from "./run.ts"

const validators = await findValidators()

/** Fixed, so that the items only change with the code; any other seed should pass as well. */
const seed = Number(process.env["CHANCERY_SEED"] ?? 1)

describe(`documents signed by the engine (seed ${seed})`, () => {
  let folder: string
  let batch: WrittenBatch
  let findings: readonly Finding[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-corpus-"))
    await using policyServer = await startPolicyServer()
    await using testEngine = await openTestEngine({
      keyGenerator: testKeyGenerator,
      outgoing: { kinds: ["loopback"], ranges: [] },
    })
    batch = await writeBatch(await makeCorpus(testEngine.engine, policyServer, seed), folder)
    findings = await each([...validators.values()], (validator) => validator.validate(batch))
  }, 600_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test("include at least 2,000 certificates, requests, CRLs of every style and OCSP answers of every status", () => {
    expect(batch.certificates.length).toBeGreaterThanOrEqual(2_000)
    expect(new Set(batch.certificates.map(({ status }) => status))).toEqual(
      new Set([undefined, "good", "revoked", "revoked by a delta"]),
    )
    expect(batch.certificates.filter(({ name }) => name.startsWith("decided elsewhere")).length).toBeGreaterThan(100)
    expect(batch.requests.length).toBeGreaterThanOrEqual(150)
    expect(batch.crls.length).toBeGreaterThanOrEqual(60)
    expect(new Set(batch.answers.map(({ status }) => status))).toEqual(new Set(["good", "revoked", "unknown"]))
  })

  for (const name of validatorNames) {
    test.skipIf(!validators.has(name))(`pass ${name} without fault`, () => {
      const about = findings.filter(({ validator }) => validator === name)
      // Compared as text, because a report would truncate a list.
      expect(verdict(about, batch).faults.slice(0, 50).join("\n")).toBe("")
    })
  }

  test.skipIf(validators.size < validatorNames.length)("need every listed explanation", () => {
    expect([...verdict(findings, batch).used].toSorted()).toEqual(explainedFindings.toSorted())
  })
})
