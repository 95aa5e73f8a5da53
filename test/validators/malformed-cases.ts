// Valid items that validators must accept, and faults that at least the named validators must find.
import type { Batch, ValidatedAnswer, ValidatedCertificate, ValidatedCrl } from "./batch.ts"
import {
  authorityExtensions,
  crlExtensions,
  type MalformedCertificate,
  type KeyKind,
  leafExtensions,
  type openMalformedCertificates,
  resigned,
  withBrokenSignature,
} from "./malformed-certificates.ts"
import type { Explanation } from "./explanations.ts"
import type { ValidatorName } from "./validators.ts"

export type MalformedGenerator = Awaited<ReturnType<typeof openMalformedCertificates>>

type Plan = Parameters<MalformedGenerator["certificate"]>[0]

export interface Case {
  readonly what: string
  /** Empty if the item is valid. */
  readonly foundBy: readonly ValidatorName[]
  /** Makes a batch in which one item has the case's name. */
  make(generator: MalformedGenerator, issuers: Issuers): Promise<Partial<Batch>>
}

/** CA certificates that many cases share. */
export interface Issuers {
  readonly root: MalformedCertificate
  readonly intermediate: MalformedCertificate
}

export async function createIssuers(generator: MalformedGenerator): Promise<Issuers> {
  const root = await generator.certificate({
    subject: "/CN=Shared root",
    key: "rsa",
    extensions: authorityExtensions,
    days: 3650,
  })
  const intermediate = await generator.certificate({
    subject: "/CN=Shared intermediate",
    issuer: root,
    extensions: intermediateExtensions,
    days: 1825,
  })
  return { root, intermediate }
}

const intermediateExtensions = [...authorityExtensions, "authorityKeyIdentifier=keyid"]

const without = (lines: readonly string[], ...names: readonly string[]) =>
  lines.filter((line) => !names.some((name) => line.startsWith(name)))

const certificate = (
  name: string,
  { der, issuers }: MalformedCertificate,
  more: Partial<ValidatedCertificate> = {},
): ValidatedCertificate => ({ name, der, issuers, purpose: "sslserver", ...more })

const list = (name: string, der: Uint8Array, { der: issuer, issuers }: MalformedCertificate): ValidatedCrl => ({
  name,
  der,
  issuers: [issuer, ...issuers],
})

/** Makes a leaf that is valid except for the plan's changes. */
const leaf =
  (plan: Partial<Plan>, more: Partial<ValidatedCertificate> = {}) =>
  (what: string): Case["make"] =>
  async (generator, { intermediate }) => {
    const generated = await generator.certificate({ issuer: intermediate, extensions: leafExtensions, ...plan })
    return { certificates: [certificate(what, generated, more)] }
  }

/** Makes a leaf in which a sequence of bytes is replaced by another of the same length. */
const changed =
  (from: string, to: string, plan: Partial<Plan> = {}) =>
  (what: string): Case["make"] =>
  async (generator, { intermediate }) => {
    const generated = await generator.certificate({ issuer: intermediate, extensions: leafExtensions, ...plan })
    return { certificates: [certificate(what, await resigned(generated, intermediate, from, to))] }
  }

/** Makes a valid leaf under an intermediate that is valid except for the plan's changes. */
const intermediate =
  (plan: Partial<Plan>, extensions = leafExtensions) =>
  (what: string): Case["make"] =>
  async (generator, { root }) => {
    const subject = `/CN=${what}`
    const issuer = await generator.certificate({ subject, issuer: root, extensions: intermediateExtensions, ...plan })
    const generated = await generator.certificate({ issuer, extensions })
    return { certificates: [certificate(what, generated)] }
  }

/** Makes a root, an intermediate and a leaf with keys of one kind, a CRL of each CA, and OCSP responses about the leaf. */
const whole =
  (key: KeyKind, options: readonly string[] = [], explained: readonly Explanation[] = []) =>
  (what: string): Case["make"] =>
  async (generator) => {
    const root = await generator.certificate({
      subject: `/CN=${what} root`,
      key,
      extensions: authorityExtensions,
      options,
    })
    const issuer = await generator.certificate({
      subject: `/CN=${what} intermediate`,
      key,
      issuer: root,
      extensions: intermediateExtensions,
      options,
    })
    const generated = await generator.certificate({ key, issuer, extensions: leafExtensions, options })
    const revoked = await generator.certificate({ key, issuer, extensions: leafExtensions, options })
    const entries = [{ serialNumber: revoked.serialNumber, reason: "keyCompromise" }]
    const responder = await generator.certificate({ key, issuer, extensions: responderExtensions, options })
    const lists = [
      list(`${what}: CRL of the root`, await generator.crl({ issuer: root, extensions: crlExtensions }), root),
      list(what, await generator.crl({ issuer, revoked: entries, extensions: crlExtensions }), issuer),
    ]
    const answers = await Promise.all([
      answer(`${what}: answer`, generator, { issuer, signer: issuer, certificate: generated, status: "good" }),
      answer(`${what}: delegated answer`, generator, {
        issuer,
        signer: responder,
        certificate: revoked,
        status: "revoked",
      }),
      answer(`${what}: answer unknown`, generator, {
        issuer,
        signer: issuer,
        certificate: generated,
        status: "unknown",
      }),
    ])
    return {
      certificates: [
        certificate(`${what}: root`, root, { purpose: "any", explained }),
        certificate(`${what}: leaf`, generated, { status: "good", explained }),
        certificate(`${what}: revoked leaf`, revoked, { status: "revoked", explained }),
      ],
      crls: lists,
      answers: answers.map((each) => ({ ...each, explained })),
    }
  }

const responderExtensions = [
  "keyUsage=critical,digitalSignature",
  "extendedKeyUsage=OCSPSigning",
  "noCheck=ignored",
  "subjectKeyIdentifier=hash",
  "authorityKeyIdentifier=keyid",
]

async function answer(
  name: string,
  generator: MalformedGenerator,
  plan: Parameters<MalformedGenerator["answer"]>[0],
  changed: Partial<ValidatedAnswer> = {},
): Promise<ValidatedAnswer> {
  const { issuer, certificate, status } = plan
  const made = await generator.answer(plan)
  return {
    name,
    ...made,
    digest: "sha1",
    issuers: [issuer.der, ...issuer.issuers],
    serialNumber: certificate.serialNumber,
    ...(status === "unknown" ? {} : { certificate: certificate.der }),
    status,
    ...changed,
  }
}

/** Makes a CRL of a separate CA that is valid except for the plan's changes, and a leaf that it covers. */
const crl =
  (
    plan: Partial<Parameters<MalformedGenerator["crl"]>[0]>,
    change: (der: Uint8Array) => Uint8Array = (der) => der,
    authority: readonly string[] = authorityExtensions,
  ) =>
  (what: string): Case["make"] =>
  async (generator) => {
    const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions: authority })
    const generated = await generator.certificate({ issuer, extensions: leafExtensions })
    const der = change(await generator.crl({ issuer, extensions: crlExtensions, ...plan }))
    return {
      certificates: [certificate(`${what}: leaf`, generated, { status: "good" })],
      crls: [list(what, der, issuer)],
    }
  }

const good = (what: string, make: (what: string) => Case["make"]): Case => ({ what, foundBy: [], make: make(what) })

const bad = (what: string, foundBy: readonly ValidatorName[], make: (what: string) => Case["make"]): Case => ({
  what,
  foundBy,
  make: make(what),
})

/** Makes a CSR of a CA; `change` can corrupt it. */
const request =
  (key: KeyKind, change: (der: Uint8Array) => Uint8Array = (der) => der) =>
  (what: string): Case["make"] =>
  async (generator) => {
    const extensions = ["basicConstraints=critical,CA:TRUE", "subjectAltName=DNS:asked.example.com"]
    return { requests: [{ name: what, der: change(await generator.request({ key, extensions })) }] }
  }

export const goodCases: readonly Case[] = [
  ...(["rsa", "P-224", "P-256", "P-384", "P-521", "Ed25519"] as const).map((key) =>
    good(`a request with ${key}`, request(key)),
  ),
  good("RSA", whole("rsa")),
  good("RSA PSS", whole("rsa", ["-sha384", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"])),
  good("P-224", whole("P-224", [], ["zlint: e_mp_ecdsa_pub_key_encoding_correct"])),
  good("P-256", whole("P-256")),
  good("P-384", whole("P-384", ["-sha384"])),
  good("Ed25519", whole("Ed25519", [], ["zlint: unknown signature algorithm"])),
  good("P-521", whole("P-521", ["-sha512"])),
]

export const faultyCertificates: readonly Case[] = [
  bad("a broken signature", ["openssl", "gnutls", "java"], (what) => async (generator, { intermediate }) => {
    const generated = await generator.certificate({ issuer: intermediate, extensions: leafExtensions })
    return { certificates: [certificate(what, { ...generated, der: withBrokenSignature(generated.der) })] }
  }),
  bad("another authority's key identifier", ["openssl"], (what) =>
    leaf({
      extensions: [...without(leafExtensions, "authorityKeyIdentifier"), `2.5.29.35=DER:30168014${"ab".repeat(20)}`],
    })(what),
  ),
  bad(
    "no authority key identifier",
    ["openssl", "zlint"],
    leaf({ extensions: [...without(leafExtensions, "authorityKeyIdentifier"), "authorityKeyIdentifier=none"] }),
  ),
  bad(
    "keyCertSign without CA",
    ["openssl", "zlint"],
    leaf({ extensions: [...without(leafExtensions, "keyUsage"), "keyUsage=critical,digitalSignature,keyCertSign"] }),
  ),
  bad(
    "key encipherment with an EC key",
    ["zlint"],
    leaf({
      extensions: [...without(leafExtensions, "keyUsage"), "keyUsage=critical,digitalSignature,keyEncipherment"],
    }),
  ),
  bad(
    "no purpose of a server",
    ["openssl"],
    leaf({ extensions: [...without(leafExtensions, "extendedKeyUsage"), "extendedKeyUsage=clientAuth"] }),
  ),
  bad("validity in the past", ["openssl", "gnutls", "java"], leaf({ days: -1 })),
  bad("SHA-1", ["openssl", "gnutls", "zlint"], leaf({ options: ["-sha1"] })),
  bad("an RSA key of 1024 bits", ["openssl", "gnutls"], leaf({ key: "rsa-1024" })),
  bad("a negative serial number", ["zlint"], leaf({ serialNumber: -5n })),
  bad("a serial number of 22 bytes", ["zlint"], leaf({ serialNumber: 1n << 170n })),
  bad(
    "a second extension of one kind",
    ["java", "zlint"],
    changed("06092b0601040183b20302", "06092b0601040183b20301", {
      extensions: [...leafExtensions, "1.3.6.1.4.1.55555.1=DER:0500", "1.3.6.1.4.1.55555.2=DER:0500"],
    }),
  ),
  bad(
    "extensions in a certificate of version 1",
    ["openssl", "gnutls", "java", "zlint"],
    changed("a003020102", "a003020100"),
  ),
  bad("FALSE that is written out", ["zlint"], changed("0101ff", "010100")),
  bad(
    "an unknown critical extension",
    ["openssl", "gnutls", "java"],
    leaf({ extensions: [...leafExtensions, "1.3.6.1.4.1.55555.1=critical,DER:0500"] }),
  ),
  bad("an empty subject without a critical SAN", ["openssl", "zlint"], leaf({ subject: "/" })),
  bad(
    "TRUE that is not DER's",
    ["zlint"],
    leaf({ extensions: [...leafExtensions, "2.5.29.19=critical,DER:3003010101"] }),
  ),
  bad(
    "a host name with an empty label",
    ["zlint"],
    leaf({ extensions: [...without(leafExtensions, "subjectAltName"), "subjectAltName=DNS:leaf..example.com"] }),
  ),
]

export const faultyAuthorities: readonly Case[] = [
  bad(
    "an intermediate without CA",
    ["openssl", "gnutls", "java"],
    intermediate({
      extensions: [...without(intermediateExtensions, "basicConstraints"), "basicConstraints=critical,CA:FALSE"],
    }),
  ),
  bad(
    "an intermediate whose basic constraints are not critical",
    ["openssl"],
    intermediate({ extensions: [...without(intermediateExtensions, "basicConstraints"), "basicConstraints=CA:TRUE"] }),
  ),
  bad(
    "an intermediate that may not sign certificates",
    ["openssl", "gnutls", "java"],
    intermediate({ extensions: [...without(intermediateExtensions, "keyUsage"), "keyUsage=critical,cRLSign"] }),
  ),
  bad(
    "an intermediate without a subject key identifier",
    ["openssl"],
    intermediate(
      { extensions: [...without(intermediateExtensions, "subjectKeyIdentifier"), "subjectKeyIdentifier=none"] },
      [...without(leafExtensions, "authorityKeyIdentifier"), "authorityKeyIdentifier=issuer"],
    ),
  ),
  bad(
    "a name that its authority may not name",
    ["openssl", "gnutls", "java"],
    intermediate({ extensions: [...intermediateExtensions, "nameConstraints=critical,permitted;DNS:example.net"] }),
  ),
  bad("a path longer than its authority allows", ["openssl", "java"], (what) => async (generator, { root }) => {
    const short = await generator.certificate({
      subject: `/CN=${what} above`,
      issuer: root,
      extensions: [
        ...without(intermediateExtensions, "basicConstraints"),
        "basicConstraints=critical,CA:TRUE,pathlen:0",
      ],
    })
    const below = await generator.certificate({
      subject: `/CN=${what}`,
      issuer: short,
      extensions: intermediateExtensions,
    })
    return {
      certificates: [certificate(what, await generator.certificate({ issuer: below, extensions: leafExtensions }))],
    }
  }),
]

export const faultyCrls: readonly Case[] = [
  bad("a CRL with a broken signature", ["openssl", "gnutls", "java"], crl({}, withBrokenSignature)),
  bad("a CRL that is no longer current", ["gnutls", "java"], crl({ hours: -24 })),
  bad("a CRL without a number", ["zlint"], crl({ extensions: [] })),
  bad(
    "a CRL with an unknown critical extension",
    ["java"],
    crl({ extensions: [...crlExtensions, "1.3.6.1.4.1.55555.1=critical,DER:0500"] }),
  ),
]

export const faultyRequests: readonly Case[] = [
  bad("a request with a broken signature", ["openssl", "gnutls", "zlint"], request("P-256", withBrokenSignature)),
  bad("a request with a broken signature of RSA", ["openssl", "gnutls", "zlint"], request("rsa", withBrokenSignature)),
  bad(
    "a request that ends too early",
    ["openssl", "gnutls", "zlint"],
    request("P-256", (der) => der.subarray(0, -1)),
  ),
]

/** Found by validating the certificates that they are about. */
export const faultyRevocations: readonly Case[] = [
  bad("a revoked certificate that its CRL lacks", ["openssl", "java"], (what) => async (generator) => {
    const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions: authorityExtensions })
    const generated = await generator.certificate({ issuer, extensions: leafExtensions })
    const der = await generator.crl({ issuer, extensions: crlExtensions })
    return {
      certificates: [certificate(what, generated, { status: "revoked" })],
      crls: [list(`${what} CRL`, der, issuer)],
    }
  }),
  bad("a certificate that its CRL has by mistake", ["openssl", "java"], (what) => async (generator) => {
    const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions: authorityExtensions })
    const generated = await generator.certificate({ issuer, extensions: leafExtensions })
    const der = await generator.crl({ issuer, revoked: [generated], extensions: crlExtensions })
    return {
      certificates: [certificate(what, generated, { status: "good" })],
      crls: [list(`${what} CRL`, der, issuer)],
    }
  }),
  bad("a CRL that is not there", ["openssl", "java"], (what) => async (generator) => {
    const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions: authorityExtensions })
    const generated = await generator.certificate({ issuer, extensions: leafExtensions })
    return { certificates: [certificate(what, generated, { status: "good" })] }
  }),
  bad("a CRL of an authority that may sign none", ["openssl"], (what) => async (generator) => {
    const extensions = [...without(authorityExtensions, "keyUsage"), "keyUsage=critical,keyCertSign"]
    const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions })
    const generated = await generator.certificate({ issuer, extensions: leafExtensions })
    const der = await generator.crl({ issuer, extensions: crlExtensions })
    return {
      certificates: [certificate(what, generated, { status: "good" })],
      crls: [list(`${what} CRL`, der, issuer)],
    }
  }),
]

export const faultyAnswers: readonly Case[] = [
  bad("an answer with a broken signature", ["openssl", "gnutls", "java"], (what) => async (generator) => {
    const { issuer, certificate } = await pair(generator, what)
    const made = await answer(what, generator, { issuer, signer: issuer, certificate, status: "good" })
    // OpenSSL's responses end with the signer's certificate; the signature precedes it.
    const at = Buffer.from(made.der).indexOf(issuer.der) - 12
    const der = Uint8Array.from(made.der)
    der[at]! ^= 1
    return { answers: [{ ...made, der }] }
  }),
  bad(
    "an answer signed by a certificate that is no responder's",
    ["openssl", "gnutls", "java"],
    (what) => async (generator) => {
      const { issuer, certificate } = await pair(generator, what)
      const signer = await generator.certificate({ issuer, extensions: leafExtensions })
      return { answers: [await answer(what, generator, { issuer, signer, certificate, status: "good" })] }
    },
  ),
  bad(
    "an answer that says good of a revoked certificate",
    ["openssl", "gnutls", "java"],
    (what) => async (generator) => {
      const { issuer, certificate } = await pair(generator, what)
      const plan = { issuer, signer: issuer, certificate, status: "good" } as const
      return { answers: [await answer(what, generator, plan, { status: "revoked" })] }
    },
  ),
  bad("an answer with the nonce of another request", ["openssl"], (what) => async (generator) => {
    const { issuer, certificate } = await pair(generator, what)
    const plan = { issuer, signer: issuer, certificate, status: "good" } as const
    const [one, other] = await Promise.all([answer(what, generator, plan), answer(what, generator, plan)])
    return { answers: [{ ...one, der: other.der }] }
  }),
  bad("an answer about another certificate", ["openssl", "java"], (what) => async (generator) => {
    const { issuer, certificate } = await pair(generator, what)
    const other = await generator.certificate({ issuer, extensions: leafExtensions })
    const made = await answer(what, generator, { issuer, signer: issuer, certificate, status: "good" })
    return { answers: [{ ...made, serialNumber: other.serialNumber, certificate: other.der }] }
  }),
]

async function pair(
  generator: MalformedGenerator,
  what: string,
): Promise<{ issuer: MalformedCertificate; certificate: MalformedCertificate }> {
  const issuer = await generator.certificate({ subject: `/CN=${what}`, extensions: authorityExtensions })
  return { issuer, certificate: await generator.certificate({ issuer, extensions: leafExtensions }) }
}
