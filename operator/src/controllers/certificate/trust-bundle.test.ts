import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { issuingEngine, type IssuingEngine } from "../../../testing/issuing-engine.ts"
import { fingerprint } from "./stored-certificate.ts"
import { nextEnd, takeoverAt, trustConfigMap, trusted, trustedIn, type TrustedAuthority } from "./trust-bundle.ts"

const hour = 3_600_000
const now = Date.UTC(2026, 0, 1)
const engines: IssuingEngine[] = []
let a: Uint8Array
let b: Uint8Array
let c: Uint8Array
beforeAll(async () => {
  for (let count = 0; count < 3; count += 1) engines.push(await issuingEngine())
  ;[a, b, c] = engines.map(({ root }) => root) as [Uint8Array, Uint8Array, Uint8Array]
})
afterAll(async () => {
  for (const engine of engines) await engine[Symbol.asyncDispose]()
})

const names = () => new Map([a, b, c].map((der, index) => [fingerprint(der), "abc"[index] ?? ""]))
const shown = (authorities: readonly TrustedAuthority[]) =>
  authorities.map(({ certificate, until }) => {
    const left = until === undefined ? "" : ` ${(until - now) / hour}h`
    return `${names().get(fingerprint(certificate)) ?? ""}${left}`
  })
const terms = { overlapMs: 24 * hour, now }
const certificate: KubernetesObject = { metadata: { name: "web", namespace: "team", uid: "u-1" } }

describe("the trust bundle", () => {
  test("contains one CA while it does not change", () => {
    const first = trusted([], { ...terms, current: a, inUse: [] })
    expect(shown(first)).toEqual(["a"])
    expect(shown(trusted(first, { ...terms, current: a, inUse: [a] }))).toEqual(["a"])
  })

  test("also contains the old CA for the overlap, and while one of its certificates is in use", () => {
    const before = trusted([], { ...terms, current: a, inUse: [a] })
    const during = trusted(before, { ...terms, current: b, inUse: [a] })
    expect(shown(during)).toEqual(["b", "a 24h"])
    // An hour later the end of the old certificate's trust is still the same.
    expect(shown(trusted(during, { ...terms, now: now + hour, current: b, inUse: [b] }))).toEqual(["b", "a 24h"])
    const after = { ...terms, now: now + 24 * hour, current: b }
    expect(shown(trusted(during, { ...after, inUse: [a] }))).toEqual(["b", "a 24h"])
    expect(shown(trusted(during, { ...after, inUse: [b] }))).toEqual(["b"])
  })

  test("contains three CAs while two changes overlap, and an old CA again after its return", () => {
    const first = trusted([], { ...terms, current: a, inUse: [a] })
    const second = trusted(first, { ...terms, current: b, inUse: [a] })
    const third = trusted(second, { ...terms, now: now + hour, current: c, inUse: [a] })
    expect(shown(third)).toEqual(["c", "b 25h", "a 24h"])
    expect(shown(trusted(second, { ...terms, now: now + hour, current: a, inUse: [a] }))).toEqual(["a", "b 25h"])
  })

  test("contains the CA of the certificate in use if nothing was published yet", () => {
    expect(shown(trusted([], { ...terms, current: b, inUse: [a] }))).toEqual(["b", "a 24h"])
  })

  test("is due for a takeover after half of the overlap, and for a check after its end", () => {
    const during = trusted(trusted([], { ...terms, current: a, inUse: [a] }), { ...terms, current: b, inUse: [a] })
    expect(takeoverAt(during, terms.overlapMs)).toBe(now + 12 * hour)
    expect(nextEnd(during, now)).toBe(now + 24 * hour)
    expect(nextEnd(during, now + 24 * hour)).toBeUndefined()
    expect(takeoverAt(trusted([], { ...terms, current: a, inUse: [] }), terms.overlapMs)).toBeUndefined()
  })

  test("is read back from its ConfigMap", () => {
    const during = trusted(trusted([], { ...terms, current: a, inUse: [a] }), { ...terms, current: b, inUse: [a] })
    const configMap = trustConfigMap("trust", certificate, during, undefined)
    expect(trustedIn(configMap)).toEqual(
      during.map((each) => ({ ...each, certificate: Buffer.from(each.certificate) })),
    )
    expect(configMap.metadata).toMatchObject({ name: "trust", namespace: "team" })
    expect(trustedIn(undefined)).toEqual([])
    expect(trustedIn({ metadata: { name: "trust" }, data: { "ca.crt": "spoilt -----BEGIN" } })).toEqual([])
  })
})
