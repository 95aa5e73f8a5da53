import { describe, expect, test } from "vitest"
import { FetchFailure } from "../../core/fetch.ts"
import { sha256 } from "../../x509/digest.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import {
  type AcmeNetwork,
  attempt,
  attemptInTime,
  attemptTimeoutMs,
  caaProblem,
  caaRecordProblem,
  type CaaRecord,
} from "./validation.ts"

const terms = { permittedRanges: [], excludedRanges: [], resolver: "" }
const proof = {
  identifier: { type: "dns", value: "example.com", wildcard: false },
  token: "token",
  thumbprint: "thumbprint",
} as const
const keyAuthorization = "token.thumbprint"

const nowhere = (): never => {
  throw new FetchFailure("unreachable", "nobody is there")
}
const network = (answers: Partial<AcmeNetwork>): AcmeNetwork => ({
  getHttp: async () => nowhere(),
  greetTls: async () => nowhere(),
  lookUpTxt: async () => nowhere(),
  lookUpCaa: async () => nowhere(),
  ...answers,
})

describe("http-01", () => {
  const answering = (status: number, body: string) =>
    attempt(
      { ...proof, type: "http-01" },
      network({ getHttp: async () => ({ status, body: Buffer.from(body) }) }),
      terms,
    )
  test("accepts the key authorization with or without trailing white space", async () => {
    expect(await answering(200, keyAuthorization)).toBeUndefined()
    expect(await answering(200, `${keyAuthorization}\r\n`)).toBeUndefined()
  })
  test.each([
    [200, "token.other"],
    [200, ` ${keyAuthorization}`],
    [404, keyAuthorization],
    [301, keyAuthorization],
  ])("rejects %i %j and does not repeat the body", async (status, body) => {
    const problem = await answering(status, body)
    expect(problem).toMatchObject({ type: "incorrectResponse" })
    expect(problem?.detail).not.toContain(body)
  })
})

describe("dns-01", () => {
  const digest = Buffer.from(sha256(Buffer.from(keyAuthorization)), "hex").toString("base64url")
  const answering = (records: readonly string[]) =>
    attempt({ ...proof, type: "dns-01" }, network({ lookUpTxt: async () => records }), terms)
  test("accepts any of several records", async () => {
    expect(await answering(["other", digest])).toBeUndefined()
  })
  test.each([
    [[], "dns"],
    [["other"], "incorrectResponse"],
    [[keyAuthorization], "incorrectResponse"],
  ] as const)("is not proved by %j", async (records, type) => {
    expect(await answering(records)).toMatchObject({ type })
  })
})

test.each([
  ["unresolved", "dns"],
  ["refused-address", "connection"],
  ["unreachable", "connection"],
  ["untrusted", "tls"],
  ["timeout", "connection"],
  ["broken", "connection"],
  ["too-large", "incorrectResponse"],
  ["redirects", "connection"],
] as const)("a failure of the kind %s is a problem of the type %s", async (kind, type) => {
  const failing = async () => {
    throw new FetchFailure(kind, "why")
  }
  for (const challenge of ["http-01", "dns-01", "tls-alpn-01"] as const)
    expect(
      await attempt(
        { ...proof, type: challenge },
        network({ getHttp: failing, lookUpTxt: failing, greetTls: failing }),
        terms,
      ),
    ).toEqual({
      type,
      detail:
        kind === "refused-address" ? "example.com leads to an address that this server may not connect to." : "why",
    })
})

const record = (tag: string, value: string, critical = false): CaaRecord => ({ critical, tag, value })

describe("CAA records (RFC 8659, RFC 8657)", () => {
  const asked = { identities: ["ca.example"], method: "http-01", accountUrl: "https://ca.example/account/1" } as const
  test.each<readonly [readonly CaaRecord[], boolean, boolean]>([
    [[], false, true],
    [[record("iodef", "mailto:a@example.com")], false, true],
    [[record("issue", "ca.example")], false, true],
    [[record("issue", "CA.Example")], false, true],
    [[record("issue", "other.example")], false, false],
    [[record("issue", ";")], false, false],
    [[record("issue", "other.example"), record("issue", "ca.example")], false, true],
    [[record("issue", "ca.example")], true, true],
    [[record("issue", "ca.example"), record("issuewild", ";")], true, false],
    [[record("issue", "ca.example"), record("issuewild", ";")], false, true],
    [[record("issue", ";"), record("issuewild", "ca.example")], true, true],
    [[record("issue", ";"), record("issuewild", "ca.example")], false, false],
    [[record("issue", "ca.example; validationmethods=http-01")], false, true],
    [[record("issue", "ca.example; validationmethods=dns-01,tls-alpn-01")], false, false],
    [[record("issue", "ca.example; accounturi=https://ca.example/account/1")], false, true],
    [[record("issue", "ca.example; accounturi=https://ca.example/account/2")], false, false],
    [[record("issue", "ca.example; accounturi=https://ca.example/account/1=2")], false, false],
    [[record("issue", "ca.example;")], false, true],
    [[record("issue", "ca.example; policy=1;validationmethods = http-01")], false, true],
    [[record("issue", "ca.example; policy=")], false, true],
    [[record("issue", "ca.example; policy")], false, false],
    [[record("issue", "ca.example; a policy=1")], false, false],
    [[record("issue", "ca.example; policy=1;")], false, false],
    [[record("unheard-of", "x", true)], false, false],
    [[record("unheard-of", "x")], false, true],
  ])("%j, for a wildcard %s, allow to issue: %s", (records, wildcard, isLet) => {
    expect(caaRecordProblem(records, wildcard, asked) === undefined).toBe(isLet)
  })

  test("are those of the nearest parent domain that has any", async () => {
    const asked_: string[] = []
    const lookUpCaa = async (name: string) => {
      asked_.push(name)
      return name === "example.com" ? [record("issue", ";")] : []
    }
    const identifier = { type: "dns", value: "a.b.example.com", wildcard: false } as const
    const problem = await caaProblem(identifier, asked, network({ lookUpCaa }), terms)
    expect(problem).toEqual({ type: "caa", detail: "CAA records of example.com do not allow this CA to issue." })
    expect(asked_).toEqual(["a.b.example.com", "b.example.com", "example.com"])
  })

  test("forbid to issue when the lookup fails", async () => {
    expect(await caaProblem(proof.identifier, asked, network({}), terms)).toMatchObject({ type: "dns" })
  })
})

describe("attemptInTime", () => {
  const caa = { identities: ["ca.example"], accountUrl: "https://ca.example/account/1" }
  const proving: Partial<AcmeNetwork> = { getHttp: async () => ({ status: 200, body: Buffer.from(keyAuthorization) }) }
  const silent = () => new Promise<never>(() => {})

  test.each<{ answers: Partial<AcmeNetwork>; asks: typeof caa | undefined; problems: readonly object[] }>([
    { answers: proving, asks: undefined, problems: [] },
    { answers: { ...proving, lookUpCaa: async () => [] }, asks: caa, problems: [] },
    { answers: proving, asks: caa, problems: [{ type: "dns" }] },
    { answers: { lookUpCaa: silent }, asks: caa, problems: [{ type: "connection", detail: "nobody is there" }] },
  ])("returns $problems for answers $answers and CAA terms $asks", async ({ answers, asks, problems }) => {
    const timers = manualTimers(manualClock())
    const around = { network: network(answers), terms, timers }
    const found = await attemptInTime({ ...proof, type: "http-01" }, asks, around)
    expect(found === undefined ? [] : [found]).toMatchObject(problems)
    expect(timers.pendingCount).toBe(0)
  })

  test.each<{ answers: Partial<AcmeNetwork>; why: string }>([
    { answers: { getHttp: silent }, why: "the name's server" },
    { answers: { ...proving, lookUpCaa: silent }, why: "who knows its CAA records" },
  ])("ends before its lease when $why does not answer", async ({ answers }) => {
    const timers = manualTimers(manualClock())
    const around = { network: network(answers), terms, timers }
    const attempted = attemptInTime({ ...proof, type: "http-01" }, caa, around)
    await timers.advance(attemptTimeoutMs)
    expect(await attempted).toEqual({
      type: "connection",
      detail: "The validation of example.com did not finish within 45 seconds.",
    })
  })
})
