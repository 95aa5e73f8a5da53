// Tests the validators with items made by OpenSSL: they must find each fault, and accept each valid item.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openssl } from "../toolchain/validators.ts"
import { type Batch, type WrittenBatch, writeBatch } from "./batch.ts"
import { openMalformedCertificates } from "./malformed-certificates.ts"
import {
  type Case,
  faultyAnswers,
  faultyAuthorities,
  faultyCertificates,
  faultyCrls,
  faultyRequests,
  faultyRevocations,
  goodCases,
  prepareStage,
} from "./malformed-cases.ts"
import { type Finding, verdict } from "./validator.ts"
import { findValidators, validatorNames } from "./validators.ts"
import { each } from "./run.ts"

const judges = await findValidators()
const forger = await openssl.find()

const faulty = [
  ...faultyCertificates,
  ...faultyAuthorities,
  ...faultyCrls,
  ...faultyRevocations,
  ...faultyAnswers,
  ...faultyRequests,
]

describe.skipIf(forger === undefined)("the validators", () => {
  let folder: string
  let batch: WrittenBatch
  let findings: readonly Finding[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-judges-"))
    const made = await make([...goodCases, ...faulty], forger ?? "", join(folder, "forge"))
    batch = await writeBatch(made, join(folder, "batch"))
    findings = await each([...judges.values()], (judge) => judge.judge(batch))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each(goodCases)("find no fault in $what", ({ what }) => {
    const about = findings.filter(({ subject }) => subject === what || subject.startsWith(`${what}: `))
    expect(verdict(about, batch).faults).toEqual([])
  })

  test.each(faulty)("find $what: $foundBy", ({ what, foundBy }) => {
    const finders = new Set(findings.filter(({ subject }) => subject === what).map(({ judge }) => judge))
    expect([...finders]).toEqual(expect.arrayContaining(foundBy.filter((name) => judges.has(name))))
  })

  test("each find at least one malformed document", () => {
    expect([...judges.keys()]).toEqual(validatorNames.filter((name) => findings.some(({ judge }) => judge === name)))
  })
})

async function make(cases: readonly Case[], openssl: string, folder: string): Promise<Batch> {
  const forge = await openMalformedCertificates(openssl, folder)
  const stage = await prepareStage(forge)
  const made = await each(cases, async ({ make }) => [await make(forge, stage)])
  return {
    certificates: made.flatMap(({ certificates = [] }) => certificates),
    crls: made.flatMap(({ crls = [] }) => crls),
    answers: made.flatMap(({ answers = [] }) => answers),
    requests: made.flatMap(({ requests = [] }) => requests),
  }
}
