import { roleDefaults } from "../../../engine/src/pki/roles/role.ts"
import { expect, test } from "vitest"
import { excessOf, type Requested } from "./requested-excess.ts"

const hourMs = 3_600_000
const plain: Requested = {
  isCa: false,
  durationMs: undefined,
  usages: [],
  hasCommonName: true,
  hasAlternativeNames: true,
}
const role = { ...roleDefaults, serverFlag: true, clientFlag: false, maxTtlMs: hourMs }

test.each<{ when: string; requested: Partial<Requested>; excess: readonly string[] }>([
  { when: "nothing is requested", requested: {}, excess: [] },
  { when: "the duration is the maximum", requested: { durationMs: hourMs }, excess: [] },
  {
    when: "the duration is longer",
    requested: { durationMs: 2 * hourMs },
    excess: ["duration: 7200s is longer than the role's maximum of 3600s"],
  },
  {
    when: "a CA is requested",
    requested: { isCa: true },
    excess: ["isCA: a role issues no certificates of authorities"],
  },
  {
    when: "usages are requested that the role does not give",
    requested: { usages: ["server auth", "client auth", "cert sign"] },
    excess: ["usages: the role does not give client auth, cert sign"],
  },
  // cert-manager requests both by default, also for keys that cannot encipher.
  {
    when: "the default usages of cert-manager are requested",
    requested: { usages: ["digital signature", "key encipherment"] },
    excess: [],
  },
])("excessOf returns $excess.length texts when $when", ({ requested, excess }) => {
  expect(excessOf({ ...plain, ...requested }, role)).toEqual(excess)
})

test("excessOf returns nothing about the duration when the role has no maximum of its own", () => {
  expect(excessOf({ ...plain, durationMs: 9_999 * hourMs }, { ...role, maxTtlMs: 0 })).toEqual([])
})

test.each([
  { named: { hasCommonName: true, hasAlternativeNames: true }, texts: 2 },
  { named: { hasCommonName: true, hasAlternativeNames: false }, texts: 1 },
  { named: { hasCommonName: false, hasAlternativeNames: true }, texts: 1 },
  { named: { hasCommonName: false, hasAlternativeNames: false }, texts: 0 },
])("excessOf returns $texts texts when a role takes no names from a CSR with $named", ({ named, texts }) => {
  const own = { ...role, useCsrCommonName: false, useCsrSans: false }
  expect(excessOf({ ...plain, ...named }, own)).toHaveLength(texts)
})
