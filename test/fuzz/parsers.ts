// Parsers of untrusted bytes, without a server around them.
import { X509Certificate } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { PathRule } from "../../engine/src/core/access.ts"
import { isEngineError } from "../../engine/src/core/errors.ts"
import {
  clientPaths,
  pathProblem,
  readPathCertificate,
} from "../../engine/src/access/certificates/certification-path.ts"
import {
  certificateFacts,
  constraintProblem,
  initialCertificateRole,
} from "../../engine/src/access/certificates/certificate-role.ts"
import { readRevocationList } from "../../engine/src/access/certificates/revocation-list.ts"
import { parsePolicy } from "../../engine/src/access/policies/policy-text.ts"
import { MalformedDer } from "../../engine/src/x509/asn1/malformed-der.ts"
import { rejectMalformed } from "../../engine/src/x509/asn1/reader.ts"
import { encodeTbsCertificate, parseCertificate } from "../../engine/src/x509/certificate.ts"
import { parseCertificateList } from "../../engine/src/x509/certificate-list.ts"
import { parseCertificationRequest } from "../../engine/src/x509/certification-request.ts"
import { parseExtensionValues } from "../../engine/src/x509/extensions.ts"
import { formatName, nameViolations } from "../../engine/src/x509/name.ts"
import { parseOcspRequest } from "../../engine/src/x509/ocsp.ts"
import { parseOcspResponse } from "../../engine/src/x509/ocsp-response.ts"
import { readPem } from "../../engine/src/x509/pem.ts"
import { readPrivateKeyPem } from "../../engine/src/x509/private-key.ts"
import { readPublicKey } from "../../engine/src/x509/public-key.ts"
import { isSignedBy } from "../../engine/src/x509/signature.ts"
import { UnacceptableInput } from "../../engine/src/x509/unacceptable-input.ts"
import { byteMutations, derMutations, insidePem, jsonMutations, pemMutations } from "./mutations.ts"
import { type SampleLabel, samples, sampleTexts, signedAgain } from "./samples.ts"
import type { FuzzTarget } from "./target.ts"

export const parsers = (): readonly FuzzTarget[] => [
  {
    name: "DER",
    corpus: samples("CERTIFICATE", "CERTIFICATE REQUEST", "X509 CRL", "OCSP REQUEST", "OCSP RESPONSE", "PKCS7"),
    mutations: derMutations,
    attempt: refusing((input) => rejectMalformed(input, "document")),
  },
  {
    name: "PEM",
    corpus: texts("CERTIFICATE", "CERTIFICATE REQUEST", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
    mutations: [...pemMutations, insidePem(byteMutations)],
    attempt: refusing((input) => void readPem(text(input), 1024 * 1024)),
  },
  {
    name: "certificate",
    corpus: samples("CERTIFICATE"),
    mutations: derMutations,
    repair: signedAgain,
    attempt: refusing(readCertificate),
  },
  {
    name: "certification request",
    corpus: samples("CERTIFICATE REQUEST"),
    mutations: derMutations,
    repair: signedAgain,
    attempt: refusing(readRequest),
  },
  {
    name: "CRL",
    corpus: samples("X509 CRL"),
    mutations: derMutations,
    attempt: refusing((input) => {
      for (const { extensions } of parseCertificateList(input).entries) parseExtensionValues(extensions)
    }),
  },
  {
    name: "OCSP request",
    corpus: samples("OCSP REQUEST"),
    mutations: derMutations,
    attempt: refusing((input) => void parseOcspRequest(input)),
  },
  {
    name: "OCSP response",
    corpus: samples("OCSP RESPONSE"),
    mutations: derMutations,
    attempt: refusing((input) => void parseOcspResponse(input)),
  },
  {
    name: "CRL of an auth method",
    corpus: samples("X509 CRL"),
    mutations: derMutations,
    attempt: refusing((input) => void readRevocationList("fuzz", input)),
  },
  {
    name: "certificate of a client",
    corpus: samples("CERTIFICATE"),
    mutations: derMutations,
    attempt: refusing(readClient),
  },
  {
    name: "private key",
    corpus: texts("PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
    mutations: [...derMutations.map((mutation) => insidePem([mutation])), ...pemMutations],
    attempt: refusing((input) => void readPrivateKeyPem(text(input), 64 * 1024)),
  },
  {
    name: "policy",
    corpus: policies.map((each) => Buffer.from(each)),
    mutations: byteMutations,
    attempt: (input) => readPolicy(Buffer.from(input).toString("utf8")),
  },
  {
    name: "policy as JSON",
    corpus: policies.filter((each) => each.startsWith("{")).map((each) => Buffer.from(each)),
    mutations: jsonMutations,
    attempt: (input) => readPolicy(Buffer.from(input).toString("utf8")),
  },
]

/** Checks that a certificate with any content is accepted or refused, and that its role and its path say why. */
function readClient(input: Uint8Array): void {
  const client = readPathCertificate(input)
  certificateFacts(client)
  pathProblem([client], client.certificate.notBefore)
  const role = {
    ...initialCertificateRole,
    allowedNames: ["*"],
    requiredExtensions: ["2.5.29.17:*", "hex:2.5.29.17:*"],
  }
  constraintProblem(role, client)
  clientPaths(client, { anchors: [client], intermediates: [client], now: client.certificate.notBefore })
}

const policies = [
  '# who issues\npath "pki/issue/web" {\n  capabilities = ["create", "update"]\n}\n/* none */ path "+/roles/*" { capabilities = [] }',
  'path "/pki/*" {\n  "capabilities" = ["deny",],\n} // and\npath "a\\u002fb" { allowed_parameters = { "x" = [1, true, "y"] } }',
  '{"path": {"pki/issue/web": {"capabilities": ["update"]}, "pki/+/x*": [{"capabilities": ["read", "list"]}]}}',
]

/** Checks that an accepted policy, written as JSON, is parsed to the same rules, and that a refused one is reported as a fault. */
function readPolicy(written: string): string | undefined {
  let rules: readonly PathRule[]
  try {
    rules = parsePolicy(written)
  } catch (error) {
    if (isEngineError(error, "invalid") && error.faults.every(({ detail }) => detail.startsWith("policy")))
      return undefined
    throw error
  }
  // One object for each path, because the members of an object do not keep the order of the text.
  const path = rules.map(({ path: each, capabilities }) => ({ [each]: { capabilities } }))
  const again = rules.length === 0 ? [] : parsePolicy(JSON.stringify({ path }))
  return isDeepStrictEqual(again, rules) ? undefined : "is read otherwise once it is written again"
}

const texts = (...labels: readonly SampleLabel[]) => sampleTexts(...labels).map((each) => Buffer.from(each))

const text = (input: Uint8Array): string => Buffer.from(input).toString("latin1")

/** Allows the errors for invalid input; any other error is a fault of ours. */
const refusing =
  (read: (input: Uint8Array) => string | undefined | void) =>
  (input: Uint8Array): string | undefined => {
    try {
      return read(input) ?? undefined
    } catch (error) {
      if (error instanceof MalformedDer || error instanceof UnacceptableInput) return undefined
      throw error
    }
  }

function readCertificate(input: Uint8Array): string | undefined {
  const certificate = parseCertificate(input)
  formatName(certificate.issuerName)
  nameViolations(certificate.subjectName)
  parseExtensionValues(certificate.extensions)
  const key = readPublicKey(certificate.subjectPublicKeyInfo)
  const { tbsCertificate: data, signatureAlgorithm: algorithm, signature } = certificate
  isSignedBy(key, { data, algorithm, signature })
  // A strictly parsed certificate is encoded to the same bytes, and another parser accepts it.
  if (certificate.version === 3 && Buffer.compare(encodeTbsCertificate(certificate), data) !== 0)
    return "is written otherwise than it was read"
  return new X509Certificate(input).raw.length === input.length ? undefined : "is not all there is"
}

function readRequest(input: Uint8Array): undefined {
  const request = parseCertificationRequest(input)
  formatName(request.subjectName)
  nameViolations(request.subjectName)
  const key = readPublicKey(request.subjectPublicKeyInfo)
  const { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature } = request
  isSignedBy(key, { data, algorithm, signature })
}
