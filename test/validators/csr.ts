// CSRs as clients send them. Each key is generated once and reused.
import type { IssueInput } from "../../engine/src/pki/issuance/certificate-api.ts"
import { parseIpAddress } from "../../engine/src/pki/names/ip-address.ts"
import { parseOtherName } from "../../engine/src/pki/names/other-name.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
} from "../../engine/src/x509/certification-request.ts"
import type { Extension } from "../../engine/src/x509/extension.ts"
import { subjectAltName } from "../../engine/src/x509/extensions.ts"
import type { GeneralName } from "../../engine/src/x509/general-name.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { type DistinguishedName, encodeName } from "../../engine/src/x509/name.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../engine/src/x509/signature-algorithm.ts"
import { type SigningKey, signingKey } from "../../engine/src/x509/signing-key.ts"

export interface RequestContent {
  readonly subject: DistinguishedName
  readonly extensions: readonly Extension[]
}

const automatic: SignatureChoice = { signatureBits: 0, usePss: false }

/** Returns the CSR as PEM. */
export async function csrFor(key: KeyAlgorithm, content: RequestContent, choice = automatic): Promise<string> {
  const signer = await clientKey(key)
  const info = encodeCertificationRequestInfo({
    subject: encodeName(content.subject),
    subjectPublicKeyInfo: signer.spki,
    extensions: content.extensions,
  })
  const algorithm = chooseSignatureAlgorithm(signer.algorithm, choice)
  const signature = await signer.sign(info, algorithm)
  const der = assembleCertificationRequest(info, signatureAlgorithmIdentifier(algorithm), signature)
  return writePem("CERTIFICATE REQUEST", der)
}

/** Returns one key of every kind: the requests of clients differ, their keys need not. */
function clientKey(key: KeyAlgorithm): Promise<SigningKey> {
  const name = describeKeyAlgorithm(key)
  const made = clientKeys.get(name) ?? testKeyGenerator.generate(key).then(signingKey)
  clientKeys.set(name, made)
  return made
}

const clientKeys = new Map<string, Promise<SigningKey>>()

export const common = (name: string): DistinguishedName =>
  name === "" ? [] : [[{ type: oids.commonName, value: name }]]

/** Returns the content of a CSR that requests the same as these fields. */
export function contentOf(request: IssueInput): RequestContent {
  const { commonName = "", serialNumber = "", userIds = [] } = request
  const subject = [
    ...common(commonName),
    ...(serialNumber === "" ? [] : [[{ type: oids.serialNumber, value: serialNumber }]]),
    ...userIds.map((value) => [{ type: oids.userId, value }]),
  ]
  const names = generalNames(request)
  // Adds a subject if the only name is one that the engine would have to encode.
  if (subject.length + names.length === 0) return { subject: common("Nameless"), extensions: [] }
  return { subject, extensions: names.length === 0 ? [] : [subjectAltName(names, { critical: subject.length === 0 })] }
}

function generalNames({ altNames = [], ipSans = [], uriSans = [], otherSans = [] }: IssueInput): GeneralName[] {
  return [
    // Names with characters outside ASCII are left out, because the engine encodes them.
    ...altNames
      .filter((name) => !/[^ -~]/.test(name))
      .map((value): GeneralName => ({ kind: value.includes("@") ? "email" : "dns", value })),
    ...ipSans.map((text): GeneralName => ({ kind: "ip", octets: parseIpAddress(text)! })),
    ...uriSans.map((value): GeneralName => ({ kind: "uri", value })),
    ...otherSans.map((text): GeneralName => {
      const parsed = parseOtherName(text)
      if ("problem" in parsed) throw new Error(parsed.problem)
      return { kind: "other", ...parsed.name }
    }),
  ]
}
