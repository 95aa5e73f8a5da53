// Public clients of EST enrol at the device listener of a server process: curl, and the EST classes of Bouncy Castle.
import { execFile } from "node:child_process"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KeyType } from "../../../engine/src/x509/key-algorithm.ts"
import { bouncyCastle } from "../../toolchain/bouncy-castle.ts"
import { warnMissing } from "../../toolchain/missing.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { java, openssl } from "../../toolchain/validators.ts"
import { openBouncyCastle } from "./est-bouncy-castle.ts"
import type { EstClient, EstIdentity, EstResult, EstServerAddress } from "./est-client.ts"
import { openCurl } from "./est-curl.ts"
import { allowedDomain, type EstFixture, type EstFixtureMount, keyTypes, openEstFixture } from "./est-fixture.ts"

const hasCurl = await promisify(execFile)("curl", ["--version"]).then(
  () => true,
  () => warnMissing("curl was not found, so the suite that enrols with it does not run. Put it on the PATH.") ?? false,
)
const [opensslProgram, javaProgram, classPath] = [
  await publicProgram(openssl),
  await publicProgram(java),
  await publicProgram(bouncyCastle),
]

interface ClientRow {
  readonly client: string
  readonly isMissing: boolean
  /** Attributes that ask for a key of a type and for its signature. OpenSSL shows curves too. */
  readonly attributes: Readonly<Record<KeyType, readonly string[]>>
  open(address: EstServerAddress): Promise<EstClient>
}

const clients: readonly ClientRow[] = [
  {
    client: "curl",
    isMissing: !hasCurl || opensslProgram === undefined,
    attributes: {
      rsa: ["rsaEncryption", "sha256WithRSAEncryption"],
      ec: ["id-ecPublicKey", "prime256v1", "ecdsa-with-SHA256"],
      ed25519: ["ED25519"],
    },
    open: (address) => openCurl(opensslProgram ?? "", address),
  },
  {
    client: "Bouncy Castle",
    isMissing: javaProgram === undefined || classPath === undefined,
    attributes: {
      rsa: ["1.2.840.113549.1.1.1", "1.2.840.113549.1.1.11"],
      ec: ["1.2.840.10045.2.1", "1.2.840.10045.4.3.2"],
      ed25519: ["1.3.101.112"],
    },
    open: async (address) => openBouncyCastle({ java: javaProgram ?? "", classPath: classPath ?? "" }, address),
  },
]

const waiting: EstResult = { kind: "waiting", retryAfterSeconds: 60 }

function generatedKeyIn(result: EstResult): Uint8Array {
  if (result.kind !== "issued" || result.privateKey === undefined) throw new Error(`no key: ${JSON.stringify(result)}`)
  return result.privateKey
}

let fixture: EstFixture
const isNeeded = clients.some(({ isMissing }) => !isMissing)
beforeAll(async () => {
  if (isNeeded) fixture = await openEstFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

describe.each(clients)("$client", ({ isMissing, attributes, open }) => {
  let est: EstClient
  beforeAll(async () => {
    if (!isMissing) est = await open(fixture.address)
  })
  afterAll(() => est?.[Symbol.asyncDispose]())

  describe.skipIf(isMissing).each(keyTypes)("with a mount whose keys are of type %s", (keyType) => {
    const printer = `p1.${allowedDomain}`
    const mount = () => fixture.mount(keyType)

    /** Returns the certificate of an answer, after checks of its issuer, its names and its key. */
    function certificateFor(
      privateKey: Uint8Array,
      result: EstResult,
      issuer: EstFixtureMount = mount(),
    ): X509Certificate {
      if (result.kind !== "issued") throw new Error(JSON.stringify(result))
      const [leaf, ...others] = result.certificates.map((der) => new X509Certificate(der))
      if (leaf === undefined || others.length > 0) throw new Error(`${result.certificates.length} certificates`)
      expect([leaf.subject, leaf.subjectAltName]).toEqual([`CN=${printer}`, `DNS:${printer}`])
      expect(leaf.verify(issuer.root.publicKey)).toBe(true)
      const key = createPrivateKey({ key: Buffer.from(privateKey), format: "der", type: "pkcs8" })
      expect([leaf.checkPrivateKey(key), key.asymmetricKeyType]).toEqual([true, issuer.keyType])
      return leaf
    }

    async function enrolled(at: EstFixtureMount = mount()): Promise<EstIdentity> {
      const { label, basic } = at
      const { csr, privateKey } = await est.request(at.keyType, printer)
      const result = await est.send({ operation: "simpleenroll", label, csr, basic })
      return { certificate: certificateFor(privateKey, result, at).raw, privateKey }
    }

    test("gets the chain of the authority", async () => {
      const chain = await est.authorities(mount().label)
      expect(chain.map((der) => new X509Certificate(der).fingerprint256)).toEqual([mount().root.fingerprint256])
    })

    test("gets the attributes that a CSR needs, and none when the role accepts any key", async () => {
      const { label, approvedLabel } = mount()
      expect((await est.attributes(label)).toSorted()).toEqual(attributes[keyType].toSorted())
      expect(await est.attributes(approvedLabel)).toEqual([])
    })

    test.each(["1.2", "1.3"] as const)(
      "enrols with a password, and renews with the certificate over TLS %s",
      async (tlsVersion) => {
        const { label } = mount()
        const identity = await enrolled()
        const { csr, privateKey } = await est.request(keyType, printer)
        const renewed = await est.send({ operation: "simplereenroll", label, csr, identity, tlsVersion })
        expect(certificateFor(privateKey, renewed).serialNumber).not.toBe(
          new X509Certificate(identity.certificate).serialNumber,
        )
      },
    )

    test("gets a key that the server generates", async () => {
      const { label, basic } = mount()
      const { csr } = await est.request(keyType, printer)
      const result = await est.send({ operation: "serverkeygen", label, csr, basic })
      expect(certificateFor(generatedKeyIn(result), result).issuer).toBe(mount().root.subject)
    })

    test("waits, and gets the certificate after the approval", async () => {
      const { approvedLabel, basic, decide } = mount()
      const { csr, privateKey } = await est.request(keyType, printer)
      const enroll = () => est.send({ operation: "simpleenroll", label: approvedLabel, csr, basic })
      expect(await enroll()).toEqual(waiting)
      expect(await enroll()).toEqual(waiting)
      await decide("approve", "")
      expect(certificateFor(privateKey, await enroll()).issuer).toBe(mount().root.subject)
    })

    test("waits, and gets a key that the server generates after the approval", async () => {
      const { approvedLabel, basic, decide } = mount()
      const { csr } = await est.request(keyType, printer)
      const enroll = () => est.send({ operation: "serverkeygen", label: approvedLabel, csr, basic })
      expect(await enroll()).toEqual(waiting)
      await decide("approve", "")
      const result = await enroll()
      expect(certificateFor(generatedKeyIn(result), result).issuer).toBe(mount().root.subject)
    })

    test("waits, and is rejected after the denial", async () => {
      const { approvedLabel, basic, decide } = mount()
      const { csr } = await est.request(keyType, printer)
      const enroll = () => est.send({ operation: "simpleenroll", label: approvedLabel, csr, basic })
      expect(await enroll()).toEqual(waiting)
      await decide("deny", "unknown device")
      expect(await enroll()).toEqual({
        kind: "rejected",
        status: 403,
        text: "the request was denied: unknown device",
      })
    })

    test("is rejected when the password is wrong", async () => {
      const { label, basic } = mount()
      const { csr } = await est.request(keyType, printer)
      const wrong = { ...basic, password: "wrong" }
      expect(await est.send({ operation: "simpleenroll", label, csr, basic: wrong })).toMatchObject({
        kind: "rejected",
        status: 401,
      })
    })

    test("is rejected when it has no credentials", async () => {
      const { label } = mount()
      const { csr } = await est.request(keyType, printer)
      expect(await est.send({ operation: "simpleenroll", label, csr })).toMatchObject({ kind: "rejected", status: 401 })
    })

    test("is rejected when the role does not allow the name", async () => {
      const { label, basic } = mount()
      const { csr } = await est.request(keyType, "p1.example.org")
      expect(await est.send({ operation: "simpleenroll", label, csr, basic })).toEqual({
        kind: "rejected",
        status: 400,
        text: expect.stringContaining("p1.example.org"),
      })
    })

    test("is rejected when it renews a certificate for another name", async () => {
      const { label } = mount()
      const identity = await enrolled()
      const { csr } = await est.request(keyType, `p2.${allowedDomain}`)
      expect(await est.send({ operation: "simplereenroll", label, csr, identity })).toEqual({
        kind: "rejected",
        status: 400,
        text: "the CSR must have the subject of the certificate that it renews",
      })
    })

    test("is rejected when it renews a revoked certificate", async () => {
      const { label, revoke } = mount()
      const identity = await enrolled()
      await revoke(new X509Certificate(identity.certificate))
      const { csr } = await est.request(keyType, printer)
      expect(await est.send({ operation: "simplereenroll", label, csr, identity })).toEqual({
        kind: "rejected",
        status: 403,
        text: "the client certificate is revoked",
      })
    })

    test("is rejected when it renews an expired certificate, with or without a password", async () => {
      const { label, basic, expired } = mount()
      const old = await est.request(keyType, printer)
      const identity = { certificate: (await expired(old.csr)).raw, privateKey: old.privateKey }
      const { csr } = await est.request(keyType, printer)
      const renewal = { operation: "simplereenroll", label, csr, identity } as const
      expect(await est.send(renewal)).toMatchObject({ kind: "rejected", status: 401 })
      expect(await est.send({ ...renewal, basic })).toEqual({
        kind: "rejected",
        status: 403,
        text: "the client certificate is not valid now",
      })
    })

    test("is rejected when it renews a certificate of another mount, with or without a password", async () => {
      const other = fixture.mount(keyType === "ec" ? "ed25519" : "ec")
      const { label, basic } = mount()
      const identity = await enrolled(other)
      const { csr } = await est.request(keyType, printer)
      const renewal = { operation: "simplereenroll", label, csr, identity } as const
      expect(await est.send(renewal)).toMatchObject({ kind: "rejected", status: 401 })
      expect(await est.send({ ...renewal, basic })).toEqual({
        kind: "rejected",
        status: 403,
        text: "the client certificate was not issued by this mount",
      })
    })
  })
})
