import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { expect, test } from "vitest"
import { isKeyOfJwk, readJwk } from "./jwk.ts"

const pairs: Readonly<Record<string, () => KeyObject>> = {
  "RSA 2048": () => generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey,
  "P-256": () => generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey,
  "P-384": () => generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey,
  "P-521": () => generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey,
  Ed25519: () => generateKeyPairSync("ed25519").publicKey,
}
const keys = Object.entries(pairs).map(([name, generate]) => ({
  name,
  own: readJwk(generate().export({ format: "jwk" })),
  other: readJwk(generate().export({ format: "jwk" })),
}))

test.each(keys)("a JWK of $name is its own key and no other of any type", ({ own }) => {
  const same = keys.flatMap((one) => [one.own, one.other]).filter(({ key }) => isKeyOfJwk(own.jwk, key))
  expect(same).toEqual([own])
})

const changed = keys.flatMap(({ name, own, other }) =>
  Object.keys(own.jwk)
    .filter((member) => own.jwk[member] !== other.jwk[member])
    .map((member) => ({ name, member, own, jwk: { ...own.jwk, [member]: other.jwk[member] ?? "" } })),
)

test.each(changed)("a JWK of $name of which $member differs is another key", ({ own, jwk }) => {
  expect(isKeyOfJwk(jwk, own.key)).toBe(false)
})
