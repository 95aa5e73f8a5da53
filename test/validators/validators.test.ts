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
  createIssuers,
} from "./malformed-cases.ts"
import { type Finding, verdict } from "./validator.ts"
import { findValidators, validatorNames } from "./validators.ts"
import { each } from "./run.ts"

const validators = await findValidators()
const opensslProgram = await openssl.find()

const faulty = [
  ...faultyCertificates,
  ...faultyAuthorities,
  ...faultyCrls,
  ...faultyRevocations,
  ...faultyAnswers,
  ...faultyRequests,
]

describe.skipIf(opensslProgram === undefined)("the validators", () => {
  let folder: string
  let batch: WrittenBatch
  let findings: readonly Finding[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-validators-"))
    const made = await make([...goodCases, ...faulty], opensslProgram ?? "", join(folder, "malformed"))
    batch = await writeBatch(made, join(folder, "batch"))
    findings = await each([...validators.values()], (validator) => validator.validate(batch))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each(goodCases)("find no fault in $what", ({ what }) => {
    const about = findings.filter(({ subject }) => subject === what || subject.startsWith(`${what}: `))
    expect(verdict(about, batch).faults).toEqual([])
  })

  test.each(faulty)("find $what: $foundBy", ({ what, foundBy }) => {
    const finders = new Set(findings.filter(({ subject }) => subject === what).map(({ validator }) => validator))
    expect([...finders]).toEqual(expect.arrayContaining(foundBy.filter((name) => validators.has(name))))
  })

  test("each find at least one malformed document", () => {
    expect([...validators.keys()]).toEqual(
      validatorNames.filter((name) => findings.some(({ validator }) => validator === name)),
    )
  })
})

async function make(cases: readonly Case[], openssl: string, folder: string): Promise<Batch> {
  const generator = await openMalformedCertificates(openssl, folder)
  const issuers = await createIssuers(generator)
  const made = await each(cases, async ({ make }) => [await make(generator, issuers)])
  return {
    certificates: made.flatMap(({ certificates = [] }) => certificates),
    crls: made.flatMap(({ crls = [] }) => crls),
    answers: made.flatMap(({ answers = [] }) => answers),
    requests: made.flatMap(({ requests = [] }) => requests),
  }
}
