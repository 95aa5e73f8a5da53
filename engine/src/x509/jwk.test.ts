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

test("a JWK of which one coordinate differs is another key", () => {
  for (const { own, other } of keys)
    for (const name of Object.keys(own.jwk))
      if (own.jwk[name] !== other.jwk[name])
        expect(isKeyOfJwk({ ...own.jwk, [name]: other.jwk[name] ?? "" }, own.key)).toBe(false)
})
