// Endpoints that issue and sign certificates.
import { secondMs } from "../../core/time.ts"
import type { IssuedCertificate, ServedCertificate, SignedSelfIssued } from "../../pki/issuance/certificate-api.ts"
import type { Dialect } from "./format/dialect.ts"
import type { DecodedEnvelope, Lease } from "./format/envelope.ts"
import { encodeAuthority, encodeBundle, encodeCertificate, encodePrivateKey, encodingOf } from "./format/format.ts"
import { decodeAnswer, decodeSomeAnswer, encodeMembers, unreadable } from "./format/parameters.ts"
import { readable, readableCertificate } from "./format/readable.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { readCertificatePem } from "../../x509/certificate-pem.ts"
import { readPrivateKeyPem } from "../../x509/private-key.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import {
  authority,
  certificateText,
  certificateTexts,
  epochSeconds,
  exportedKey,
  keyUsage,
  names,
  newKey,
  presentation,
  removeRootsFromChain,
  serialNumber,
  signatureBits,
  usePss,
  validity,
} from "./certificate-parameters.ts"
import { contract, type DataAnswer, dataOf } from "./endpoint.ts"
import type { Presented } from "./issuer.ts"
import { bodyOf, fields, parameter } from "./record.ts"
import { flag, text, texts } from "./types.ts"

const userIds = parameter(texts, "User ids (UID) of the subject.", { example: ["ada"] })
const certMetadata = parameter(text, "Base64 kept with the certificate and never in it.", { example: "b3duZXI6YWRh" })
const csr = parameter(text, "Certificate signing request (PKCS #10) in PEM. Required.")
const enforceLeafNotAfterBehavior = parameter(
  flag,
  "Follow leaf_not_after_behavior of the issuer. Otherwise a longer validity is cut.",
  { default: false, example: true },
)
const leaf = { ...names, userIds, serialNumber, certMetadata, ...validity, ...presentation, removeRootsFromChain }

export const issueParameters = fields({
  ...leaf,
  keyType: parameter(text, "Type of the key, if the role has any.", { example: "ec" }),
  keyBits: parameter(newKey.keyBits.type, "Size of the key, if the role has key_type any.", {
    default: 0,
    example: 256,
  }),
})
export const signParameters = fields({ ...leaf, csr })
export const signVerbatimParameters = fields({
  ...validity,
  ...presentation,
  removeRootsFromChain,
  csr,
  keyUsage: { ...keyUsage, rule: "Key usages, if the CSR has none." },
  extKeyUsage: parameter(texts, "Extended key usages, if the CSR has none.", { example: ["ServerAuth"] }),
  extKeyUsageOids: parameter(texts, "Extended key usages as object identifiers.", { example: ["1.3.6.1.5.5.7.3.17"] }),
  signatureBits,
  usePss,
  userIds,
  certMetadata,
  enforceLeafNotAfterBehavior,
  basicConstraintsValidForNonCa: parameter(flag, "Add basicConstraints CA:FALSE.", { default: false, example: true }),
})
export const signIntermediateParameters = fields({
  ...authority,
  ...presentation,
  removeRootsFromChain,
  csr,
  useCsrValues: parameter(flag, "Take subject, alternative names and extensions of the CSR.", {
    default: false,
    example: true,
  }),
  enforceLeafNotAfterBehavior,
})
export const signSelfIssuedParameters = fields({
  certificate: parameter(text, "One self-issued certificate of an authority, in PEM. Required."),
  requireMatchingCertificateAlgorithms: parameter(
    flag,
    "Refuse a certificate whose key has another type than that of the issuer.",
    { default: false, example: true },
  ),
})

const caMembers = {
  certificate: parameter(certificateText, "Certificate, in the requested format."),
  issuingCa: parameter(certificateText, "Certificate of the issuer."),
}
const issuedTable = fields({
  ...caMembers,
  caChain: parameter(certificateTexts, "Chain, from the issuer up."),
  serialNumber: parameter(text, "Serial number in hexadecimal."),
  notBefore: parameter(epochSeconds, "Beginning of the validity in seconds since 1970."),
  notAfter: parameter(epochSeconds, "End of the validity in seconds since 1970.", { wireName: "expiration" }),
  ...exportedKey,
})

/** Returns the lease of an answer. Vault clients renew and revoke leases, so they get only leases that exist. */
const leaseOf = ({ lease }: Partial<ServedCertificate>, dialect: Dialect): Lease | undefined =>
  lease === undefined || (dialect === "vault" && !lease.isKept)
    ? undefined
    : { id: lease.id, durationSeconds: Math.floor(lease.durationMs / secondMs) }

type Sent = Presented<Omit<ServedCertificate, "lease"> & Pick<Partial<ServedCertificate>, "lease">>

const issuedWith = (shows: { readonly validity: boolean }): DataAnswer<Sent, IssuedCertificate> =>
  dataOf(
    issuedTable,
    ({ format, privateKeyFormat, certificate, caChain, privateKey, ...issued }, dialect) => {
      const encoding = encodingOf({ format, privateKeyFormat })
      const members = {
        ...((shows.validity || dialect === "vault") && { notBefore: issued.notBefore, notAfter: issued.notAfter }),
        certificate:
          encoding.format === "pem_bundle"
            ? encodeBundle(certificate, caChain, privateKey)
            : encodeCertificate(certificate, encoding.format),
        issuingCa: encodeAuthority(issued.issuingCa, encoding.format),
        caChain: caChain.map((der) => encodeAuthority(der, encoding.format)),
        serialNumber: issued.serialNumber,
        ...(privateKey && {
          privateKey: encodePrivateKey(privateKey, encoding, dialect),
          privateKeyType: privateKey.algorithm.type,
        }),
      }
      const data = encodeMembers(issuedTable, members, dialect)
      return { data, warnings: issued.warnings, lease: leaseOf(issued, dialect) }
    },
    issuedIn,
  )

/** Reads PEM, which the remote client requests. */
function issuedIn({ data, warnings, lease }: DecodedEnvelope): IssuedCertificate {
  const { certificate, issuingCa, caChain = [], privateKey, ...answer } = decodeSomeAnswer(issuedTable, data)
  const serial = parseSerialNumber(answer.serialNumber ?? "")
  if (certificate === undefined || issuingCa === undefined || serial === undefined)
    throw unreadable("it contains no certificate")
  return readable(() => {
    const der = readCertificatePem(certificate)
    const { notBefore, notAfter } = parseCertificate(der)
    return {
      certificate: der,
      issuingCa: readCertificatePem(issuingCa),
      caChain: caChain.map(readCertificatePem),
      serialNumber: serial,
      notBefore,
      notAfter,
      privateKey: privateKey === undefined ? undefined : readPrivateKeyPem(privateKey, privateKey.length),
      lease: lease && { id: lease.id, durationMs: lease.durationSeconds * secondMs },
      warnings,
    }
  })
}

export const issued = issuedWith({ validity: true })
const issuedVerbatim = issuedWith({ validity: false })

const selfIssuedTable = fields(caMembers)
const selfIssued = dataOf(
  selfIssuedTable,
  ({ certificate, issuingCa }: SignedSelfIssued) => {
    const members = { certificate: encodeCertificate(certificate, "pem"), issuingCa: encodeAuthority(issuingCa, "pem") }
    return { data: encodeMembers(selfIssuedTable, members, "native") }
  },
  ({ data }): SignedSelfIssued => {
    const { certificate, issuingCa } = decodeAnswer(selfIssuedTable, data)
    return { certificate: readableCertificate(certificate), issuingCa: readableCertificate(issuingCa) }
  },
)

const signing = { operation: "write", signs: true, rights: "create or update" } as const
const issue = {
  ...signing,
  summary: "Generates a key and issues a certificate by a role.",
  body: bodyOf(issueParameters),
  answers: issued,
} as const
const sign = {
  ...signing,
  summary: "Signs a CSR by a role. A common name is required.",
  body: bodyOf(signParameters),
  answers: issued,
} as const
const signVerbatim = {
  ...signing,
  summary: "Signs a CSR as it is. A role lends its validity, key usages and storage.",
  body: bodyOf(signVerbatimParameters),
  answers: issuedVerbatim,
} as const
const signIntermediate = {
  ...signing,
  summary: "Signs the CSR of an intermediate authority.",
  body: bodyOf(signIntermediateParameters),
  answers: issued,
} as const
const signSelfIssued = {
  ...signing,
  summary: "Signs a self-issued certificate again, with the names and extensions that it has.",
  body: bodyOf(signSelfIssuedParameters),
  answers: selfIssued,
} as const

/** Each endpoint exists twice: with the issuer of the role or the mount, and with the issuer in the path. */
export const certificates = contract({
  issue: { ...issue, path: "/issue/:name" },
  issueBy: { ...issue, path: "/issuer/:issuer_ref/issue/:name" },
  sign: { ...sign, path: "/sign/:name" },
  signBy: { ...sign, path: "/issuer/:issuer_ref/sign/:name" },
  signVerbatim: { ...signVerbatim, path: "/sign-verbatim" },
  signVerbatimBy: { ...signVerbatim, path: "/issuer/:issuer_ref/sign-verbatim" },
  signVerbatimAs: { ...signVerbatim, path: "/sign-verbatim/:name" },
  signVerbatimAsBy: { ...signVerbatim, path: "/issuer/:issuer_ref/sign-verbatim/:name" },
  signIntermediate: { ...signIntermediate, path: "/root/sign-intermediate" },
  signIntermediateBy: { ...signIntermediate, path: "/issuer/:issuer_ref/sign-intermediate" },
  signSelfIssued: { ...signSelfIssued, path: "/root/sign-self-issued" },
  signSelfIssuedBy: { ...signSelfIssued, path: "/issuer/:issuer_ref/sign-self-issued" },
})
