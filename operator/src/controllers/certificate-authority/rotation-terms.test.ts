import { expect, test } from "vitest"
import { decideRotation, missingRevision, type RotationFacts } from "./rotation-terms.ts"

const hour = 3_600_000
const facts = (hours: number, more: Partial<RotationFacts> = {}): RotationFacts => ({
  now: hours * hour,
  newest: { notBefore: 0, notAfter: 100 * hour },
  parentNotAfter: undefined,
  isRequested: false,
  ...more,
})

test.each([
  { when: "there is no renewBefore", given: facts(99), renewBefore: undefined, is: "later", at: undefined },
  { when: "the time has not come", given: facts(69), renewBefore: "30h", is: "later", at: 70 * hour },
  { when: "the time has come", given: facts(70), renewBefore: "30h", is: "due" },
  { when: "it has expired", given: facts(101), renewBefore: "30h", is: "due" },
  {
    when: "a rotation was requested",
    given: facts(1, { isRequested: true }),
    renewBefore: undefined,
    is: "requested",
  },
  {
    when: "its lifetime was cut below renewBefore",
    given: facts(1),
    renewBefore: "100h",
    is: "too-short",
    lifetimeMs: 100 * hour,
  },
  {
    when: "the parent ends as early",
    given: facts(80, { parentNotAfter: 100 * hour }),
    renewBefore: "30h",
    is: "awaiting-parent",
  },
  {
    when: "the parent ends later",
    given: facts(80, { parentNotAfter: 101 * hour }),
    renewBefore: "30h",
    is: "due",
  },
])(
  "decideRotation returns $is when $when",
  ({ given, renewBefore, when: _, given: __, renewBefore: ___, ...decision }) => {
    expect(decideRotation({ renewBefore }, given)).toEqual(decision)
  },
)

const revisions = (...all: readonly number[]) => all.map((revision) => ({ id: `${revision}`, revision }) as never)

test.each([
  { when: "nothing exists", issuers: [], keys: [], known: undefined, revision: 1 },
  { when: "the key exists", issuers: [], keys: [1], known: undefined, revision: 1 },
  { when: "all is there", issuers: [1], keys: [1], known: 1, revision: undefined },
  { when: "the key stayed at rotations", issuers: [3, 2], keys: [1], known: 3, revision: undefined },
  { when: "a rotation has generated the key", issuers: [1], keys: [2, 1], known: 1, revision: 2 },
  { when: "the newest issuer was deleted", issuers: [1], keys: [2, 1], known: 2, revision: 2 },
  { when: "all issuers were deleted", issuers: [], keys: [1], known: 3, revision: 3 },
  { when: "the status was not written", issuers: [2, 1], keys: [2, 1], known: 1, revision: undefined },
])("missingRevision returns $revision when $when", ({ issuers, keys, known, revision }) => {
  expect(missingRevision({ issuers: revisions(...issuers), keys: revisions(...keys) }, known)).toBe(revision)
})
