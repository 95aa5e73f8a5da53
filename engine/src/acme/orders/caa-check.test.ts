import { describe, expect, test } from "vitest"
import { FetchFailure } from "../../core/fetch.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { type CaaQuery, assertCaaPermits } from "./caa-check.ts"
import { AcmeProblem } from "../problem.ts"
import { type AcmeNetwork, attemptTimeoutMs, type CaaRecord } from "../validation/validation.ts"

const terms = { permittedRanges: [], excludedRanges: [], resolver: "" }
const caa = { identities: ["ca.example"], method: "dns-01", accountUrl: "https://ca.example/account/1" } as const

const questionOf = (value: string, wildcard = false): CaaQuery => ({
  identifier: { type: "dns", value, wildcard },
  caa,
})

const issue = (value: string, tag = "issue"): CaaRecord => ({ critical: false, tag, value })

type Records = Readonly<Record<string, readonly CaaRecord[] | "failure" | "silence">>

function networkOf(answers: Records): AcmeNetwork {
  const unexpected = async () => {
    throw new Error("unexpected lookup")
  }
  return {
    getHttp: unexpected,
    greetTls: unexpected,
    lookUpTxt: unexpected,
    async lookUpCaa(name) {
      const records = answers[name] ?? []
      if (records === "silence") return new Promise(() => {})
      if (records === "failure") throw new FetchFailure("unresolved", `${name} was not found`)
      return records
    },
  }
}

async function problemOf(questions: readonly CaaQuery[], answers: Records) {
  const timers = manualTimers(manualClock())
  const answered = assertCaaPermits(questions, { network: networkOf(answers), terms, timers }).catch((error: unknown) =>
    error instanceof AcmeProblem ? error.problem : Promise.reject(error as Error),
  )
  await timers.advance(attemptTimeoutMs - 1)
  return { answered, timers }
}

const names = ["a.example", "b.example", "c.example"].map((name) => questionOf(name))

describe("the CAA check of an order", () => {
  test.each([
    ["say nothing", {}],
    ["let this authority issue", { "a.example": [issue("ca.example")], "b.example": [issue("ca.example")] }],
    ["let it for all below", { example: [issue("ca.example")] }],
    ["forbid wildcards alone", { "a.example": [issue(";", "issuewild")] }],
  ])("passes when the owner of a name %s", async (_what, answers: Records) => {
    await expect((await problemOf(names, answers)).answered).resolves.toBeUndefined()
  })

  const refusal = (name: string) => ({
    type: "caa",
    detail: `CAA records of ${name} do not allow this CA to issue.`,
    identifier: { type: "dns", value: name },
  })
  const unknown = (name: string) => ({
    type: "dns",
    detail: `CAA records of ${name}: ${name} was not found`,
    identifier: { type: "dns", value: name },
  })

  test("names each identifier whose CAA records forbid to issue", async () => {
    const { answered } = await problemOf(names, { "b.example": [issue("other.example")] })
    const { detail, type } = refusal("b.example")
    expect(await answered).toEqual({ type, detail, subproblems: [refusal("b.example")] })
  })

  test("reads issuewild records for a wildcard", async () => {
    const { answered } = await problemOf([questionOf("a.example", true)], { "a.example": [issue(";", "issuewild")] })
    expect(await answered).toMatchObject({ type: "caa" })
  })

  test("reports a CAA problem before a DNS problem", async () => {
    const { answered } = await problemOf(names, { "a.example": "failure", "c.example": [issue(";")] })
    expect(await answered).toEqual({
      type: "caa",
      detail: '2 of the identifiers are rejected; see "subproblems".',
      subproblems: [unknown("a.example"), refusal("c.example")],
    })
  })

  test("reports the reason when a lookup fails", async () => {
    const { answered } = await problemOf(names, { "a.example": "failure" })
    expect(await answered).toMatchObject({ type: "dns", subproblems: [unknown("a.example")] })
  })

  test("ends at the timeout of a validation", async () => {
    const { answered, timers } = await problemOf(names, { "a.example": "silence" })
    await timers.advance(1)
    expect(await answered).toEqual({
      type: "dns",
      detail: "The CAA records of the order's identifiers could not be read within 45 seconds.",
    })
  })
})
