import { describe, expect, test } from "vitest"
import { createOpenPgpSigner, type OpenPgpSignerOptions } from "../../../testing/openpgp-signer.ts"
import { parseSigningKeys, verifySignature } from "./openpgp.ts"
import { publisherKeys } from "./publisher-keys.ts"
import { ToolError } from "./tool-error.ts"

/** terraform-provider-null_3.1.0_SHA256SUMS as HashiCorp published it. */
const publishedSums =
  Buffer.from(`fea4227271ebf7d9e2b61b89ce2328c7262acd9fd190e1fd6d15a591abfa848e  terraform-provider-null_3.1.0_darwin_amd64.zip
9ebf4d9704faba06b3ec7242c773c0fbfe12d62db7d00356d4f55385fc69bfb2  terraform-provider-null_3.1.0_darwin_arm64.zip
a6576c81adc70326e4e1c999c04ad9ca37113a6e925aefab4765e5a5198efa7e  terraform-provider-null_3.1.0_freebsd_386.zip
5f9200bf708913621d0f6514179d89700e9aa3097c77dac730e8ba6e5901d521  terraform-provider-null_3.1.0_freebsd_amd64.zip
fc39cc1fe71234a0b0369d5c5c7f876c71b956d23d7d6f518289737a001ba69b  terraform-provider-null_3.1.0_freebsd_arm.zip
c797744d08a5307d50210e0454f91ca4d1c7621c68740441cf4579390452321d  terraform-provider-null_3.1.0_linux_386.zip
53e30545ff8926a8e30ad30648991ca8b93b6fa496272cd23b26763c8ee84515  terraform-provider-null_3.1.0_linux_amd64.zip
cecb6a304046df34c11229f20a80b24b1603960b794d68361a67c5efe58e62b8  terraform-provider-null_3.1.0_linux_arm64.zip
e1371aa1e502000d9974cfaff5be4cfa02f47b17400005a16f14d2ef30dc2a70  terraform-provider-null_3.1.0_linux_arm.zip
a8a42d13346347aff6c63a37cda9b2c6aa5cc384a55b2fe6d6adfa390e609c53  terraform-provider-null_3.1.0_windows_386.zip
02a1675fd8de126a00460942aaae242e65ca3380b5bb192e8773ef3da9073fd2  terraform-provider-null_3.1.0_windows_amd64.zip
`)
/** Its published signature, by a subkey that expired in 2022. Both are also in OpenTofu's tests of package authentication. */
const publishedSignature = Buffer.from(
  [
    "wsFcBAABCAAQBQJgga+GCRCwtEEJdoW2dgAAo0YQAAW911BGDr2WHLo5NwcZenwHyxL5DX9g+4BknKbc/WxRC1hD8Afi3eygZk1y",
    "R6eT4Gp2HyNOwCjGL1PTONBumMfj9udIeuX8onrJMMvjFHh+bORGxBi4FKr4V3b2ZV1IYOjWMEyyTGRDvwSCdxBkp3apH3s2xZLm",
    "RoAj84JZ4KaxGF7hlT0j4IkNyQKd2T5cCByN9DV80+x+HtzaOieFwJL97iyGj6aznXfKfslK6S4oIrVTwyLTrQbxSxA0LsdUjRPH",
    "nJamL3sFOG77qUEUoXG3r61yi5vWV4P5gCH/+C+VkfGHqaB1s0jHYLxoTEXtwthe66MydDBPe2Hd0J12u9ppOIeK3leeb4uiixWI",
    "irNdpWyjr/LU1KKWPxsDqMGYJ9TexyWkXjEpYmIEiY1Rxar8jrLh+FqVAhxRJajjgSRu5pZj50CNeKmmbyolLhPCmICjYYU/xKPG",
    "XSyDFqonVVyMWCSpO+8F38OmwDQHIk5AWyc8hPOAZ+g5N95cfUAzEqlvmNvVHQIU40Y6/Ip2HZzzFCLKQkMP1aDakYHq5w4ZO/uc",
    "jhKuoh1HDQMuMnZSu4eo2nMTBzYZnUxwtROrJZF1t103avbmP2QE/GaPvLIQn7o5WMV3ZcPCJ+szzzby7H2e33WIynrY/95ensBx",
    "h7mGFbcQ1C59b5o7viwIaaY2",
  ].join(""),
  "base64",
)

/** Ed25519 key and signature of GnuPG 2.2. */
const gnupgKey = Buffer.from(`-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawlEABYJKwYBBAHaRw8BAQdAF0tRIat0DpUjOVIDsijfmfofUkewWH9pMlni
QwazoNa0G01pcnJvciA8bWlycm9yQGV4YW1wbGUuY29tPoiQBBMWCAA4FiEEG18m
9730E7mBKJ6DtxOXO9FIKOsFAmsJRAACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgEC
F4AACgkQtxOXO9FIKOtdpwD+OYu0Z7F8HsAqWmaIAvFQz0t/6GmJ3IYwYcgw8ufP
bl8BALqJqeREKeQ8qvZE1O0JjUOd0DsSj4hmTOxg9WqnnH4M
=jwEm
-----END PGP PUBLIC KEY BLOCK-----
`)
const gnupgSignature = Buffer.from(`-----BEGIN PGP SIGNATURE-----

iHUEABYIAB0WIQQbXyb3vfQTuYEonoO3E5c70Ugo6wUCawlEAQAKCRC3E5c70Ugo
68SZAP48jZSim+m1uKdy7jXQBCKjP/4eaApOBzUxFRjkdHOrNQD/Vh8xMHc7NPss
70qj3LZ1Y0rJ33FGzJ8SIdJkH7T1/w8=
=Pjmn
-----END PGP SIGNATURE-----
`)
const gnupgData = Buffer.from("checksums of the mirror\n")

const hashicorpKeys = parseSigningKeys(Buffer.from(publisherKeys.terraform.armored))
const data = Buffer.from("sums of a release")

describe("the published key of", () => {
  test.each(["terraform", "opentofu"] as const)("%s has the documented fingerprint", (kind) => {
    const { armored, fingerprint } = publisherKeys[kind]
    const keys = parseSigningKeys(Buffer.from(armored))
    expect(new Set(keys.map(({ primaryFingerprint }) => primaryFingerprint))).toEqual(new Set([fingerprint]))
  })

  test("HashiCorp signs with its subkeys for signing, not with the one for encryption", () => {
    expect(hashicorpKeys.map(({ fingerprint }) => fingerprint)).toEqual([
      "C874011F0AB405110D02105534365D9472D7468F",
      "B36CBA91A2C0730C435FC280B0B441097685B676",
      "374EC75B485913604A831CC7C820C6D5CD27AB87",
    ])
  })
})

describe("a signature", () => {
  test("of a release that HashiCorp published is valid", () => {
    const { fingerprint } = verifySignature(publishedSignature, publishedSums, hashicorpKeys)
    expect(fingerprint).toBe("B36CBA91A2C0730C435FC280B0B441097685B676")
  })

  test("of GnuPG with Ed25519 is valid", () => {
    const { fingerprint } = verifySignature(gnupgSignature, gnupgData, parseSigningKeys(gnupgKey))
    expect(fingerprint).toBe("1B5F26F7BDF413B981289E83B713973BD14828EB")
  })

  test.each<{ readonly options: OpenPgpSignerOptions; readonly isArmored: boolean }>([
    { options: {}, isArmored: false },
    { options: {}, isArmored: true },
    { options: { subkey: "bound" }, isArmored: false },
    { options: { validFor: 61 }, isArmored: false },
  ])("is valid when the key has $options (armored: $isArmored)", ({ options, isArmored }) => {
    const signer = createOpenPgpSigner(options)
    const keys = [...hashicorpKeys, ...parseSigningKeys(Buffer.from(signer.armoredKey))]
    expect(verifySignature(signer.sign(data, { isArmored }), data, keys).fingerprint).toBe(signer.fingerprint)
  })

  test("is rejected when a byte of the file changed", () => {
    const changed = Buffer.from(publishedSums)
    changed[0] = 0x30
    expect(() => verifySignature(publishedSignature, changed, hashicorpKeys)).toThrow("it does not match the file")
  })

  test("is rejected when the key is not trusted", () => {
    const signature = createOpenPgpSigner().sign(data)
    expect(() => verifySignature(signature, data, hashicorpKeys)).toThrow(
      /^it was made with the key [0-9A-F]{16}, which/,
    )
  })

  test("is rejected when it was made after the key expired", () => {
    const signer = createOpenPgpSigner({ validFor: 60 })
    const keys = parseSigningKeys(Buffer.from(signer.armoredKey))
    expect(() => verifySignature(signer.sign(data), data, keys)).toThrow("was not valid when it was made")
  })

  test("is rejected when it was made before the key", () => {
    const signer = createOpenPgpSigner({ createdAt: 1_800_000_000 })
    const keys = parseSigningKeys(Buffer.from(signer.armoredKey))
    expect(() => verifySignature(signer.sign(data, { at: 1_700_000_000 }), data, keys)).toThrow("was not valid")
  })

  test("is rejected when its hash is SHA-1", () => {
    const signer = createOpenPgpSigner()
    const keys = parseSigningKeys(Buffer.from(signer.armoredKey))
    expect(() => verifySignature(signer.sign(data, { hash: 2 }), data, keys)).toThrow(ToolError)
  })

  test.each(["unbound", "one-way"] as const)("is rejected when its subkey is %s", (subkey) => {
    const signer = createOpenPgpSigner({ subkey })
    const trusted = createOpenPgpSigner()
    const keys = parseSigningKeys(Buffer.from(`${signer.armoredKey}${trusted.armoredKey}`))
    expect(() => verifySignature(signer.sign(data), data, keys)).toThrow("which is not trusted")
  })

  test("is rejected with an error of this module when it is truncated at any byte", () => {
    const ends = [...publishedSignature.keys()]
    for (const end of ends)
      expect(() => verifySignature(publishedSignature.subarray(0, end), publishedSums, hashicorpKeys)).toThrow(
        ToolError,
      )
  })

  test("is rejected when the file is a web page", () => {
    expect(() => verifySignature(Buffer.from("<html></html>"), data, hashicorpKeys)).toThrow(
      "OpenPGP data is malformed: a packet has no tag",
    )
  })
})

describe("a key file is rejected when", () => {
  test.each([
    { name: "it is empty", file: "", problem: "contains no valid OpenPGP key" },
    { name: "it is a PEM file", file: "-----BEGIN PUBLIC KEY-----", problem: "a packet has no tag" },
    {
      name: "its armor has no end",
      file: publisherKeys.opentofu.armored.slice(0, 900),
      problem: "armor is incomplete",
    },
    {
      name: "its key is revoked",
      file: createOpenPgpSigner({ isRevoked: true }).armoredKey,
      problem: "no valid OpenPGP",
    },
    {
      name: "it has a private key",
      file: `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nxQA=\n-----END PGP PRIVATE KEY BLOCK-----`,
      problem: "contains a private key; export the public key",
    },
  ])("$name", ({ file, problem }) => {
    expect(() => parseSigningKeys(Buffer.from(file))).toThrow(problem)
  })

  test("it is truncated at any byte", () => {
    const binary = Buffer.from(publisherKeys.opentofu.armored.split("\n").slice(2, -3).join(""), "base64")
    const lengths = [...binary.keys()].slice(0, 600)
    for (const length of lengths) expect(() => parseSigningKeys(binary.subarray(0, length))).toThrow(ToolError)
  })
})
