// Names and usages of a certificate: from the spec to a request, and compared with an issued certificate.
import { formatIpAddress, type IssueInput, parseIpAddress, toDnsName, toMailbox } from "@chancery/engine"
import {
  type Certificate,
  type DistinguishedName,
  type Extension,
  extendedKeyUsage,
  type ExtensionValues,
  type GeneralName,
  type KeyUsage,
  keyUsage,
  keyUsages,
  oids,
  subjectAltName,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import { authorityDifferences } from "./authority.ts"
import type { Difference } from "./difference.ts"
import { attributesAfterName, attributesBeforeName, subjectDifferences, subjectInput } from "./subject.ts"

type Names = Pick<
  CertificateSpec,
  | "subject"
  | "commonName"
  | "dnsNames"
  | "ipAddresses"
  | "uris"
  | "emailAddresses"
  | "userIDs"
  | "otherNames"
  | "usages"
  | "excludeCNFromSANs"
  | "isCA"
  | "maxPathLength"
  | "nameConstraints"
>

const dnsForm = { enforceHostnames: false }

/**
 * Returns the spec with its names in the form of certificates: A-labels for DNS names and mail domains, without a trailing dot. Invalid
 * ASCII names stay unchanged, and the engine reports them.
 */
export function withCanonicalNames<Spec extends Names>(spec: Spec): Spec {
  const { commonName, dnsNames, emailAddresses } = spec
  return {
    ...spec,
    ...(commonName === undefined ? {} : { commonName: withoutFinalDot(commonName) }),
    ...(dnsNames === undefined ? {} : { dnsNames: distinct(dnsNames.map((name) => toDnsName(name, dnsForm) ?? name)) }),
    ...(emailAddresses === undefined
      ? {}
      : { emailAddresses: distinct(emailAddresses.map((address) => toMailbox(address) ?? address)) }),
  }
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

const withoutFinalDot = (text: string): string =>
  text.endsWith(".") && toDnsName(text, dnsForm) !== undefined ? text.slice(0, -1) : text

/** Returns a message about the first canonical name that no certificate can contain; undefined if there is none. */
export function namesProblem({ dnsNames = [], emailAddresses = [], uris = [] }: Names): string | undefined {
  const fields = { dnsNames, emailAddresses, uris }
  for (const [field, names] of Object.entries(fields)) {
    const found = names.find((name) => !isAscii(name))
    if (found !== undefined) return `spec.${field}: ${JSON.stringify(found)} ${notAscii[field as keyof typeof fields]}`
  }
  return undefined
}

const notAscii = {
  dnsNames: "is not an internationalized domain name",
  emailAddresses: "must be ASCII before the @, with a host name or an internationalized domain name after it",
  uris: "must be ASCII; percent-encode other characters",
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** RFC 5280, upper bound ub-common-name. */
const maxCommonName = 64

/**
 * Returns the common name to request. Without a common name in the spec, it is empty, or the first other name that fits if the role
 * requires one.
 */
export function commonNameOf(
  { commonName, dnsNames, emailAddresses, userIDs, ipAddresses, uris }: Names,
  isRequired: boolean,
): string {
  if (commonName !== undefined || !isRequired) return commonName ?? ""
  const names = [dnsNames, emailAddresses, userIDs, ipAddresses, uris].flatMap((each) => each ?? [])
  return names.find((name) => name.length <= maxCommonName) ?? ""
}

/** Returns the names as API parameters. They equal those of the CSR, because the role decides which of the two count. */
export const inputOf = (names: Names, commonName: string): IssueInput => ({
  commonName,
  altNames: [...(names.dnsNames ?? []), ...(names.emailAddresses ?? [])],
  ipSans: names.ipAddresses ?? [],
  uriSans: names.uris ?? [],
  otherSans: (names.otherNames ?? []).map(({ oid, utf8Value }) => `${oid};UTF8:${utf8Value}`),
  userIds: names.userIDs ?? [],
  ...subjectInput(names.subject),
  excludeCnFromSans: names.excludeCNFromSANs,
})

/** Returns the content of the CSR that the key signs. */
export function requestContent(
  names: Names,
  commonName: string,
): {
  readonly subject: DistinguishedName
  readonly extensions: readonly Extension[]
} {
  const alternatives = alternativeNames(names)
  const { basic, extended } = purposesOf(names.usages ?? [])
  return {
    subject: [
      ...attributesBeforeName(names.subject),
      ...(commonName === "" ? [] : [[{ type: oids.commonName, value: commonName }]]),
      ...attributesAfterName(names.subject),
      ...(names.userIDs ?? []).map((value) => [{ type: oids.userId, value }]),
    ],
    extensions: [
      ...(alternatives.length === 0 ? [] : [subjectAltName(alternatives, { critical: false })]),
      ...(basic.length === 0 ? [] : [keyUsage(basic)]),
      ...(extended.length === 0 ? [] : [extendedKeyUsage(extended)]),
    ],
  }
}

/** The CSR needs every name: if a role uses the names of the CSR, the engine uses no others. */
function alternativeNames({
  dnsNames = [],
  emailAddresses = [],
  ipAddresses = [],
  uris = [],
  otherNames = [],
}: Names): readonly GeneralName[] {
  return [
    ...dnsNames.map((value) => ({ kind: "dns", value }) as const),
    ...emailAddresses.map((value) => ({ kind: "email", value }) as const),
    ...ipAddresses.flatMap((text) => {
      const octets = parseIpAddress(text)
      return octets === undefined ? [] : [{ kind: "ip", octets } as const]
    }),
    ...uris.map((value) => ({ kind: "uri", value }) as const),
    ...otherNames.map(({ oid, utf8Value }) => ({ kind: "other", oid, value: utf8Value }) as const),
  ]
}

const purposes: Readonly<Record<string, string>> = {
  serverAuth: oids.serverAuth,
  clientAuth: oids.clientAuth,
  codeSigning: oids.codeSigning,
  emailProtection: oids.emailProtection,
  timeStamping: oids.timeStamping,
  ocspSigning: oids.ocspSigning,
  ipsecEndSystem: oids.ipsecEndSystem,
  ipsecTunnel: oids.ipsecTunnel,
  ipsecUser: oids.ipsecUser,
}

function purposesOf(usages: readonly string[]): { readonly basic: readonly KeyUsage[]; readonly extended: string[] } {
  return {
    basic: keyUsages.filter((usage) => usages.includes(usage)),
    extended: usages.flatMap((usage) => purposes[usage] ?? []),
  }
}

/**
 * Returns the fields whose names, subject, constraints or usages differ from the certificate's. The common name may appear among the alternative names without
 * being listed in the spec. Any common name satisfies a spec without one. `names` must be canonical.
 */
export function differences(
  names: Names,
  certificate: Pick<Certificate, "subjectName">,
  values: ExtensionValues,
): readonly Difference[] {
  const commonName = commonNameIn(certificate)
  const alternatives = values.subjectAltName ?? []
  const additional = names.excludeCNFromSANs ? [] : lower(formsOf(commonName))
  const text = (kind: "dns" | "email" | "uri") =>
    alternatives.flatMap((name) => (name.kind === kind && "value" in name ? [name.value] : []))
  const addresses = alternatives.flatMap((name) => (name.kind === "ip" ? [formatIpAddress(name.octets)] : []))
  const others = alternatives.flatMap((name) => (name.kind === "other" ? [`${name.oid};${name.value}`] : []))
  const compared: readonly (Difference & { readonly allowed?: readonly string[] })[] = [
    ...(names.commonName === undefined || formsOf(names.commonName).includes(commonName)
      ? []
      : [{ field: "commonName", wanted: [names.commonName], found: commonName === "" ? [] : [commonName] }]),
    { field: "dnsNames", wanted: lower(names.dnsNames), found: lower(text("dns")), allowed: additional },
    { field: "ipAddresses", wanted: (names.ipAddresses ?? []).map(canonicalAddress), found: addresses },
    { field: "uris", wanted: names.uris ?? [], found: text("uri") },
    { field: "emailAddresses", wanted: lower(names.emailAddresses), found: lower(text("email")), allowed: additional },
    {
      field: "userIDs",
      wanted: names.userIDs ?? [],
      found: certificate.subjectName.flat().flatMap(({ type, value }) => (type === oids.userId ? [value] : [])),
    },
    {
      field: "otherNames",
      wanted: (names.otherNames ?? []).map(({ oid, utf8Value }) => `${oid};${utf8Value}`),
      found: others,
    },
  ]
  return [
    ...compared.filter(
      ({ wanted, found, allowed = [] }) =>
        !wanted.every((name) => found.includes(name)) ||
        !found.every((name) => wanted.includes(name) || allowed.includes(name)),
    ),
    ...subjectDifferences(names.subject, certificate.subjectName),
    ...authorityDifferences(names, values),
    ...missingUsages(names, values.keyUsage ?? [], values.extendedKeyUsage ?? []),
  ]
}

export const differingFields = (...args: Parameters<typeof differences>): readonly string[] =>
  differences(...args).map(({ field }) => field)

/** Returns at most one difference: the usages of the spec that a certificate or a role lacks. */
export function missingUsages(
  { usages = [] }: Pick<Names, "usages">,
  keyUsages: readonly string[],
  extendedKeyUsages: readonly string[],
): readonly Difference[] {
  const { basic, extended } = purposesOf(usages)
  const isMissing =
    basic.some((usage) => !keyUsages.includes(usage)) || extended.some((oid) => !extendedKeyUsages.includes(oid))
  const names = new Map(Object.entries(purposes).map(([name, oid]) => [oid, name]))
  const found = [...keyUsages, ...extendedKeyUsages.map((oid) => names.get(oid) ?? oid)]
  return isMissing ? [{ field: "usages", wanted: usages, found }] : []
}

/** Returns the common name of a certificate, or an empty string. */
export const commonNameIn = ({ subjectName }: Pick<Certificate, "subjectName">): string =>
  subjectName.flat().find(({ type }) => type === oids.commonName)?.value ?? ""

/** Returns the forms in which the engine may write a common name. */
const formsOf = (commonName: string): readonly string[] =>
  [commonName, toDnsName(commonName, dnsForm), toMailbox(commonName)].flatMap((form) => form ?? [])

const lower = (texts: readonly string[] = []): readonly string[] => texts.map((text) => text.toLowerCase())

function canonicalAddress(text: string): string {
  const octets = parseIpAddress(text)
  return octets === undefined ? text : formatIpAddress(octets)
}

/** Returns the alternative names as text for an annotation. */
export const alternativeTexts = ({ subjectAltName = [] }: ExtensionValues): readonly string[] =>
  subjectAltName.flatMap((name) => {
    if (name.kind === "ip") return [formatIpAddress(name.octets)]
    return "value" in name ? [name.value] : []
  })
