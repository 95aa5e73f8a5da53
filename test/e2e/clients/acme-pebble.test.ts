// Compares the answers of Pebble and of the engine fact by fact. They may differ only where `differences.ts` gives a reason.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, pebble as pebbleProgram } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { type AcmeFixture, openAcmeFixture } from "./acme-fixture.ts"
import { converse } from "./pebble/conversation.ts"
import { explanations } from "./pebble/differences.ts"
import { pebbleBinding, startPebble } from "./pebble/pebble-server.ts"
import type { AnswerFacts, Transcript } from "./pebble/acme-requests.ts"

const responder = (await publicProgram(challengeResponder)) ?? ""
const program = (await publicProgram(pebbleProgram)) ?? ""

describe.skipIf(responder === "" || program === "")("the same conversation with Pebble and with Chancery", () => {
  let fixture: AcmeFixture
  let theirs: Transcript
  let ours: Transcript

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
    await using pebble = await startPebble(program, fixture)
    // Pebble has terms of service, which a client has to agree to.
    await fixture.configure({ terms_of_service: "https://ca.example/terms" })
    theirs = await converse({ ...pebble, binding: pebbleBinding }, fixture.responder)
    const binding = await fixture.newBinding()
    ours = await converse({ directory: fixture.directory(), root: fixture.root, binding }, fixture.responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test("sends the same requests to both servers", () => {
    expect([...ours.keys()]).toEqual([...theirs.keys()])
    expect(ours.size).toBeGreaterThan(130)
  })

  test("differs only in explained points, and in all of those", () => {
    const lines = [...theirs].flatMap(([name, facts]) =>
      differences(facts, ours.get(name) ?? {}).map((line) => ({ exact: `${name}: ${line}`, any: `*: ${line}` })),
    )
    const explained = new Set(explanations.flatMap(({ lines: known }) => known))
    expect(
      lines.filter(({ exact, any }) => !explained.has(exact) && !explained.has(any)).map(({ exact }) => exact),
    ).toEqual([])
    const found = new Set(lines.flatMap(({ exact, any }) => [exact, any]))
    expect([...explained].filter((line) => !found.has(line))).toEqual([])
  })

  test("gets documents from Chancery that contain their status, and a fresh nonce with every error", () => {
    const refused = [...ours].filter(([, facts]) => facts["content-type"] === "application/problem+json")
    expect(refused.length).toBeGreaterThan(60)
    expect(refused.filter(([, facts]) => facts["/status"] !== facts["STATUS"])).toEqual([])
    // A request with a wrong method does not reach a directory, so its answer has no nonce.
    expect(refused.filter(([, facts]) => facts["STATUS"] !== "405" && facts["replay-nonce"] === undefined)).toEqual([])
  })
})

const absent = "–"

/** Returns lines of the form `fact: theirs | ours`. If only one of the two refuses a request, that is the only difference. */
function differences(theirs: AnswerFacts, ours: AnswerFacts): readonly string[] {
  const [their, our] = [outcome(theirs), outcome(ours)]
  const isRefused = isRefusal(theirs) || isRefusal(ours)
  const headers = ({ location: _where, "retry-after": _when, link: _links, ...facts }: AnswerFacts): AnswerFacts =>
    Object.fromEntries(Object.entries(facts).filter(([fact]) => !/^\/|^STATUS$|^content-type$/.test(fact)))
  const [one, other] = isRefused ? [headers(theirs), headers(ours)] : [theirs, ours]
  const lines = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((fact) => one[fact] !== other[fact])
    .map((fact) => lineOf(fact, one, other))
  return [...(isRefused && their !== our ? [`${their} | ${our}`] : []), ...new Set(lines)]
}

/** Reports a member that only one of them has as a whole. */
function lineOf(fact: string, theirs: AnswerFacts, ours: AnswerFacts): string {
  const lacking = theirs[fact] === undefined ? theirs : ours[fact] === undefined ? ours : undefined
  const steps = fact.split(/(?=[/#])/)
  const outer = steps
    .slice(0, -1)
    .map((_step, depth) => steps.slice(0, depth + 1).join(""))
    .find((path) => lacking !== undefined && !Object.keys(lacking).some((other) => isWithin(other, path)))
  if (outer !== undefined) return `${outer}: ${lacking === theirs ? `${absent} | there` : `there | ${absent}`}`
  return `${fact}: ${theirs[fact] ?? absent} | ${ours[fact] ?? absent}`
}

const isWithin = (fact: string, path: string): boolean =>
  fact === path || fact.startsWith(`${path}/`) || fact.startsWith(`${path}#`)

const isRefusal = (facts: AnswerFacts): boolean => Number(facts["STATUS"]) >= 400
const outcome = (facts: AnswerFacts): string =>
  isRefusal(facts)
    ? `${facts["STATUS"]} ${facts["/type"] ?? facts["content-type"] ?? absent}`
    : (facts["STATUS"] ?? absent)
