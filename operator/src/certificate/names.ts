// What a certificate is to say by its spec: as an engine is asked for it, and as it is found in a certificate.
import { formatIpAddress, type IssueInput, parseIpAddress } from "@chancery/engine"
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
import type { CertificateSpec } from "../kinds/certificate.ts"

type Names = Pick<
  CertificateSpec,
  | "commonName"
  | "dnsNames"
  | "ipAddresses"
  | "uris"
  | "emailAddresses"
  | "userIDs"
  | "otherNames"
  | "usages"
  | "excludeCNFromSANs"
>

/** Some engines sign nothing without one. */
export const commonNameOf = ({ commonName, dnsNames, emailAddresses, userIDs, ipAddresses, uris }: Names): string =>
  commonName ?? [dnsNames, emailAddresses, userIDs, ipAddresses, uris].flatMap((names) => names ?? [])[0] ?? ""

/** Whether names of the API or those of a request count is the role's to say: they are the same. */
export const inputOf = (names: Names): IssueInput => ({
  commonName: commonNameOf(names),
  altNames: [...(names.dnsNames ?? []), ...(names.emailAddresses ?? [])],
  ipSans: names.ipAddresses ?? [],
  uriSans: names.uris ?? [],
  otherSans: (names.otherNames ?? []).map(({ oid, utf8Value }) => `${oid};UTF8:${utf8Value}`),
  userIds: names.userIDs ?? [],
  excludeCnFromSans: names.excludeCNFromSANs,
})

/** Of the request that is signed with the key. */
export function requestContent(names: Names): {
  readonly subject: DistinguishedName
  readonly extensions: readonly Extension[]
} {
  const alternatives = alternativeNames(names)
  const { basic, extended } = purposesOf(names.usages ?? [])
  return {
    subject: [
      [{ type: oids.commonName, value: commonNameOf(names) }],
      ...(names.userIDs ?? []).map((value) => [{ type: oids.userId, value }]),
    ],
    extensions: [
      ...(alternatives.length === 0 ? [] : [subjectAltName(alternatives, { critical: false })]),
      ...(basic.length === 0 ? [] : [keyUsage(basic)]),
      ...(extended.length === 0 ? [] : [extendedKeyUsage(extended)]),
    ],
  }
}

/** What the engine adds of the common name belongs into the request too: of a request's names it takes all or none. */
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
 * The fields whose names or usages are not those of the certificate. The common name may be one of the alternative names though
 * nobody asked for that, and a certificate for which nobody asked for one has any.
 */
export function differingFields(names: Names, certificate: Certificate, values: ExtensionValues): readonly string[] {
  const subject = certificate.subjectName.flat()
  const valuesOf = (type: string) => subject.filter((each) => each.type === type).map(({ value }) => value)
  const [commonName = ""] = valuesOf(oids.commonName)
  const found = values.subjectAltName ?? []
  const additional = names.excludeCNFromSANs ? [] : [commonName.toLowerCase()]
  const same = (wanted: readonly string[] | undefined, present: readonly string[], allowed: readonly string[] = []) => {
    const expected = new Set(wanted)
    return (
      [...expected].every((name) => present.includes(name)) &&
      present.every((name) => expected.has(name) || allowed.includes(name))
    )
  }
  const lower = (texts: readonly string[] | undefined) => texts?.map((text) => text.toLowerCase())
  const text = (kind: "dns" | "email" | "uri") =>
    found.flatMap((name) => (name.kind === kind && "value" in name ? [name.value] : []))
  const addresses = found.flatMap((name) => (name.kind === "ip" ? [formatIpAddress(name.octets)] : []))
  const others = found.flatMap((name) => (name.kind === "other" ? [`${name.oid};${name.value}`] : []))
  const { basic, extended } = purposesOf(names.usages ?? [])
  const holds: Readonly<Record<keyof Names, boolean>> = {
    commonName: names.commonName === undefined || names.commonName === commonName,
    dnsNames: same(
      lower(names.dnsNames),
      text("dns").map((name) => name.toLowerCase()),
      additional,
    ),
    ipAddresses: same(names.ipAddresses?.map(canonicalAddress), addresses),
    uris: same(names.uris, text("uri")),
    emailAddresses: same(
      lower(names.emailAddresses),
      text("email").map((name) => name.toLowerCase()),
      additional,
    ),
    userIDs: same(names.userIDs, valuesOf(oids.userId)),
    otherNames: same(
      names.otherNames?.map(({ oid, utf8Value }) => `${oid};${utf8Value}`),
      others,
    ),
    usages:
      basic.every((usage) => values.keyUsage?.includes(usage)) &&
      extended.every((oid) => values.extendedKeyUsage?.includes(oid)),
    excludeCNFromSANs: true,
  }
  return Object.entries(holds).flatMap(([field, is]) => (is ? [] : [field]))
}

function canonicalAddress(text: string): string {
  const octets = parseIpAddress(text)
  return octets === undefined ? text : formatIpAddress(octets)
}

/** For people, in an annotation. */
export const alternativeTexts = ({ subjectAltName = [] }: ExtensionValues): readonly string[] =>
  subjectAltName.flatMap((name) => {
    if (name.kind === "ip") return [formatIpAddress(name.octets)]
    return "value" in name ? [name.value] : []
  })
