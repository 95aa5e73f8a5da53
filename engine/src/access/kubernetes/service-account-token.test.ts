import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { CompactSign } from "jose"
import { describe, expect, test } from "vitest"
import { readPublicKey } from "../../x509/public-key.ts"
import { isSignedByOneOf, readServiceAccountToken } from "./service-account-token.ts"

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const jwt = (claims: unknown, header: unknown = { alg: "RS256" }, signature = "AA") =>
  `${encoded(header)}.${encoded(claims)}.${signature}`

const account = { namespace: "shop", name: "web", uid: "7a2f6c1e-0000-4000-8000-000000000001" }
const projected = {
  iss: "https://kubernetes.default.svc",
  sub: "system:serviceaccount:shop:web",
  aud: ["vault://shop/issuer"],
  exp: 1_700_003_600,
  nbf: 1_700_000_000,
  "kubernetes.io": {
    namespace: "shop",
    serviceaccount: { name: "web", uid: account.uid },
    pod: { name: "p", uid: "u" },
  },
}
const legacy = {
  iss: "kubernetes/serviceaccount",
  sub: "system:serviceaccount:shop:web",
  "kubernetes.io/serviceaccount/namespace": "shop",
  "kubernetes.io/serviceaccount/secret.name": "web-token-x7k2p",
  "kubernetes.io/serviceaccount/service-account.name": "web",
  "kubernetes.io/serviceaccount/service-account.uid": account.uid,
}

test("a projected token is parsed with its audiences and times", async () => {
  expect(await readServiceAccountToken(jwt(projected))).toEqual({
    account,
    secretName: "",
    audiences: ["vault://shop/issuer"],
    issuer: "https://kubernetes.default.svc",
    expiresAt: 1_700_003_600_000,
    notBefore: 1_700_000_000_000,
  })
})

test("a Secret token is parsed, which has neither audiences nor times", async () => {
  expect(await readServiceAccountToken(jwt(legacy))).toEqual({
    account,
    secretName: "web-token-x7k2p",
    audiences: [],
    issuer: "kubernetes/serviceaccount",
    expiresAt: undefined,
    notBefore: undefined,
  })
})

test("the projected account is used when a token has both forms of claims", async () => {
  const both = {
    ...legacy,
    ...projected,
    sub: undefined,
    "kubernetes.io": { namespace: "shop", serviceaccount: { name: "api", uid: "other" } },
  }
  expect(await readServiceAccountToken(jwt(both))).toMatchObject({
    account: { namespace: "shop", name: "api", uid: "other" },
    secretName: "",
  })
})

test("a single audience may be a string", async () => {
  expect(await readServiceAccountToken(jwt({ ...projected, aud: "vault" }))).toMatchObject({ audiences: ["vault"] })
})

const kubernetes = projected["kubernetes.io"]
const withAccount = (serviceaccount: unknown, namespace: unknown = "shop") =>
  jwt({ ...projected, sub: undefined, "kubernetes.io": { namespace, serviceaccount } })

test.each([
  { why: "nothing", token: "" },
  { why: "two parts", token: jwt(projected).split(".").slice(0, 2).join(".") },
  { why: "no signature", token: jwt(projected, { alg: "RS256" }, "") },
  { why: "five parts, as in JWE", token: `${jwt(projected)}.AA.AA` },
  { why: "a header that is not base64url", token: jwt(projected).replace(/^./, "+") },
  { why: "a space in it", token: jwt(projected).replace(".", " .") },
  { why: "a header that is not JSON", token: `AAAA.${encoded(projected)}.AA` },
  { why: "a header that is a list", token: jwt(projected, [{ alg: "RS256" }]) },
  { why: "claims that are not JSON", token: `${encoded({ alg: "RS256" })}.AAAA.AA` },
  { why: "claims that are a list", token: jwt([projected]) },
  { why: "claims that are null", token: jwt(null) },
  { why: "no algorithm", token: jwt(projected, { typ: "JWT" }) },
  { why: "the algorithm none", token: jwt(projected, { alg: "none" }) },
  { why: "the algorithm None", token: jwt(projected, { alg: "None" }) },
  { why: "a MAC", token: jwt(projected, { alg: "HS256" }) },
  { why: "an algorithm that is a list", token: jwt(projected, { alg: ["RS256"] }) },
  { why: "the name of an Object method as algorithm", token: jwt(projected, { alg: "constructor" }) },
  { why: "critical extensions", token: jwt(projected, { alg: "RS256", crit: ["b64"], b64: false }) },
  { why: "too many characters", token: jwt({ ...projected, padding: "x".repeat(20_000) }) },
  { why: "no account", token: jwt({ sub: projected.sub, exp: projected.exp }) },
  { why: "kubernetes.io that is a string", token: jwt({ ...legacy, "kubernetes.io": "shop" }) },
  { why: "an account without a name", token: withAccount({ uid: "u" }) },
  { why: "an account without a uid", token: withAccount({ name: "web" }) },
  {
    why: "an account without a namespace",
    token: jwt({ ...projected, "kubernetes.io": { ...kubernetes, namespace: "" } }),
  },
  { why: "a name with a colon", token: withAccount({ name: "web:admin", uid: "u" }) },
  { why: "a namespace with a colon", token: withAccount({ name: "web", uid: "u" }, "shop:web") },
  { why: "a name that is a list", token: withAccount({ name: ["web"], uid: "u" }) },
  { why: "a name in capitals", token: withAccount({ name: "Web", uid: "u" }) },
  { why: "a uid with a line break", token: withAccount({ name: "web", uid: "u\nv" }) },
  { why: "the subject of another account", token: jwt({ ...projected, sub: "system:serviceaccount:shop:admin" }) },
  { why: "audiences that are numbers", token: jwt({ ...projected, aud: [1] }) },
  { why: "an audience that is an object", token: jwt({ ...projected, aud: { vault: true } }) },
  { why: "an expiry that is a string", token: jwt({ ...projected, exp: "1700003600" }) },
  { why: "an expiry beyond the range of dates", token: jwt({ ...projected, exp: 1e300 }) },
  { why: "a null nbf", token: jwt({ ...projected, nbf: null }) },
  { why: "an issuer that is a number", token: jwt({ ...projected, iss: 1 }) },
])("a token with $why is rejected, and the error does not contain the account", async ({ token }) => {
  const read = await readServiceAccountToken(token)
  expect(read).toEqual({ refused: expect.stringMatching(/^(the|a claim of the) token/) as string })
  expect(JSON.stringify(read)).not.toContain(account.uid)
})

describe("a signature", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const otherRsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" })
  const read = (key: KeyObject) => readPublicKey(key.export({ type: "spki", format: "der" }))
  const all = [otherRsa, p384, rsa, p256].map(({ publicKey }) => read(publicKey))
  const signed = (key: KeyObject, alg: string) =>
    new CompactSign(Buffer.from(JSON.stringify(projected))).setProtectedHeader({ alg }).sign(key)

  test.each([
    { alg: "RS256", key: rsa },
    { alg: "RS512", key: rsa },
    { alg: "PS384", key: rsa },
    { alg: "ES256", key: p256 },
    { alg: "ES384", key: p384 },
  ])("of $alg is verified by its own key among others, and by no other key", async ({ alg, key }) => {
    const token = await signed(key.privateKey, alg)
    expect(await isSignedByOneOf(token, all)).toBe(true)
    const others = all.filter((one) => Buffer.compare(one.spki, read(key.publicKey).spki) !== 0)
    expect(others).toHaveLength(3)
    expect(await isSignedByOneOf(token, others)).toBe(false)
    expect(await isSignedByOneOf(token, [])).toBe(false)
  })

  test("is not verified for other claims, nor when it is missing", async () => {
    const [header = "", , signature = ""] = (await signed(rsa.privateKey, "RS256")).split(".")
    expect(await isSignedByOneOf(`${header}.${encoded({ ...projected, sub: "x" })}.${signature}`, all)).toBe(false)
    expect(await isSignedByOneOf(`${encoded({ alg: "none" })}.${encoded(projected)}.`, all)).toBe(false)
  })

  test("that is a MAC with the public key as secret is not verified", async () => {
    const pem = rsa.publicKey.export({ type: "spki", format: "pem" })
    const token = await new CompactSign(Buffer.from(JSON.stringify(projected)))
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from(pem))
    expect(await isSignedByOneOf(token, all)).toBe(false)
  })

  test("of ECDSA in DER instead of the JWT form is not verified", async () => {
    const input = `${encoded({ alg: "ES256" })}.${encoded(projected)}`
    const der = sign("sha256", Buffer.from(input), p256.privateKey).toString("base64url")
    expect(await isSignedByOneOf(`${input}.${der}`, all)).toBe(false)
  })
})
