import { expect, test } from "vitest"
import { type Identity, ownIssuers, revisionName } from "./own-issuers.ts"

const uid = "0e9c2f6e-3f0a-4c52-9d5e-0d9b6f3c2a11"
const issuer = (id: string, name: string | null, keyId: string | null) =>
  ({ id, name, keyId, isDefault: false, serialNumber: id }) as never
const key = (id: string, name: string | null) => ({ id, name, isDefault: false }) as never
const first = key("k1", revisionName(uid, 1))
const second = key("k2", revisionName(uid, 2))
const foreign = key("k9", "root")
const steady: Identity = { uid, name: "root", type: "Root", known: { issuerID: "a", revision: 1 }, isPending: false }

const cases: readonly {
  readonly when: string
  readonly issuers: readonly never[]
  readonly keys: readonly never[]
  readonly identity?: Partial<Identity>
  readonly found: readonly string[]
  readonly crossSigned?: readonly string[]
  readonly stranger?: string
}[] = [
  { when: "the mount is empty", issuers: [], keys: [], found: [] },
  { when: "the newest has its name", issuers: [issuer("a", "root", "k1")], keys: [first], found: ["a 1"] },
  {
    when: "nothing was recorded of the first issuer",
    issuers: [issuer("a", "root", "k1")],
    keys: [first],
    identity: { known: {} },
    found: ["a 1"],
  },
  {
    when: "another owner has an issuer of the name",
    issuers: [issuer("x", "root", "k9")],
    keys: [foreign],
    found: [],
    stranger: "x",
  },
  {
    when: "an issuer of the name has no key",
    issuers: [issuer("x", "root", null)],
    keys: [first],
    found: [],
    stranger: "x",
  },
  {
    when: "another object has issuers in the mount",
    issuers: [issuer("a", "root", "k1"), issuer("b", "other", "k2")],
    keys: [first, key("k2", revisionName("another-uid", 1))],
    found: ["a 1"],
  },
  {
    when: "a rotation generated the next root",
    issuers: [issuer("a", "root", "k1"), issuer("b", revisionName(uid, 2), "k2")],
    keys: [first, second],
    found: ["b 2", "a 1"],
  },
  {
    when: "a rotation has renamed the old root only",
    issuers: [issuer("a", revisionName(uid, 1), "k1"), issuer("b", revisionName(uid, 2), "k2")],
    keys: [first, second],
    found: ["b 2", "a 1"],
  },
  {
    when: "a rotation has renamed both, and its status was lost",
    issuers: [issuer("a", revisionName(uid, 1), "k1"), issuer("b", "root", "k2")],
    keys: [first, second],
    found: ["b 2", "a 1"],
  },
  {
    when: "a rotation kept the key",
    issuers: [issuer("a", revisionName(uid, 1), "k1"), issuer("b", "root", "k1")],
    keys: [first],
    found: ["b 2", "a 1"],
  },
  {
    when: "a cross-signed certificate was imported and not named",
    issuers: [issuer("a", "root", "k1"), issuer("b", revisionName(uid, 2), "k2"), issuer("c", null, "k2")],
    keys: [first, second],
    identity: { isPending: true },
    found: ["b 2", "a 1"],
    crossSigned: ["c 2"],
  },
  {
    when: "the certificate of an intermediate was imported and not named",
    issuers: [issuer("a", "root", "k1"), issuer("b", null, "k2")],
    keys: [first, second],
    identity: { type: "Intermediate" },
    found: ["b 2", "a 1"],
  },
  {
    when: "a certificate for the same key was imported and not named",
    issuers: [issuer("a", "root", "k1"), issuer("b", null, "k1")],
    keys: [first],
    identity: { type: "Intermediate", isPending: true },
    found: ["b 2", "a 1"],
  },
  {
    when: "another client imported a certificate for the same key",
    issuers: [issuer("a", "root", "k1"), issuer("b", null, "k1"), issuer("c", "theirs", "k1")],
    keys: [first],
    identity: { type: "Intermediate" },
    found: ["a 1"],
  },
]

test.each(cases)("finds $found when $when", ({ issuers, keys, identity, found, crossSigned = [], stranger }) => {
  const own = ownIssuers({ issuers, keys }, { ...steady, ...identity })
  const shown = (all: readonly { readonly id: string; readonly revision: number }[]) =>
    all.map(({ id, revision }) => `${id} ${revision}`)
  expect(shown(own.issuers)).toEqual(found)
  expect(shown(own.crossSigned)).toEqual(crossSigned)
  expect(own.stranger?.id).toBe(stranger)
})
