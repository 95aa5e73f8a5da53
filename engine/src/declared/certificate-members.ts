// Declared members of certificates: the parameters of the certificate API under the names that programs use.
import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import { type Member, member, type Members, type Optional, required, type Required, validator } from "./members.ts"
import { declaredFaults, mountMemberFaults } from "./pki-values.ts"
import { sameText } from "./same-value.ts"
import { duration, filledText, flag, instant, integer, type MemberType, orderedTexts, text, texts } from "./types.ts"

const content = { isHidden: true, forcesReplacement: true } as const

/** Returns an optional member of the request for a certificate. A change of its value forces replacement, and it is not an output. */
export const requestMember = <T>(
  type: MemberType<T>,
  description: string,
  facts: Partial<Member<T>> = {},
): Optional<T> => member(type, description, { ...content, ...facts })
export const requiredMember = <T>(
  type: MemberType<T>,
  description: string,
  facts: Partial<Member<T>> = {},
): Required<T> => required(type, description, { ...content, ...facts })

/** Validity period. */
export const validityMembers = {
  ttl: requestMember(
    duration,
    "Lifetime, such as `720h` or `30d`, limited to the maximum of the role or else of the mount. The output `expiration` is the actual expiry.",
    { defaultText: "that of the role, else of the mount" },
  ),
  notBefore: requestMember(instant, "Start of validity (ISO 8601).", {
    defaultText: "the time of issuance, backdated by the role",
  }),
  notAfter: requestMember(instant, "End of validity (ISO 8601). Excludes `ttl`."),
}

/** Subject name and alternative names. */
export const nameMembers = {
  commonName: requestMember(text, "Common name (CN) of the subject.", { same: sameText }),
  altNames: requestMember(texts(), "DNS and e-mail SANs."),
  ipSans: requestMember(texts(), "IP SANs."),
  uriSans: requestMember(texts(), "URI SANs."),
  otherSans: requestMember(texts(), "Other SANs as `<oid>;UTF8:<value>`."),
  excludeCnFromSans: requestMember(flag, "Do not add the common name to the SANs.", { defaultText: "false" }),
  subjectSerialNumber: requestMember(
    text,
    "Serial number in the subject. The serial number of the certificate is the output `serialNumber`.",
  ),
}

/** Further members of a CA certificate. Subject members are in the order of the certificate. */
export const authorityMembers = {
  ...nameMembers,
  ...validityMembers,
  organizationalUnits: requestMember(orderedTexts(), "Organizational units (OU) of the subject."),
  organizations: requestMember(orderedTexts(), "Organizations (O) of the subject."),
  countries: requestMember(orderedTexts(), "Countries (C) of the subject, as codes of two letters."),
  localities: requestMember(orderedTexts(), "Localities (L) of the subject."),
  provinces: requestMember(orderedTexts(), "States or provinces (ST) of the subject."),
  streetAddresses: requestMember(orderedTexts(), "Street addresses of the subject."),
  postalCodes: requestMember(orderedTexts(), "Postal codes of the subject."),
  notBeforeDuration: requestMember(duration, "Time by which the start of validity is backdated.", {
    defaultText: "`30s`",
  }),
  maxPathLength: requestMember(
    integer,
    "Maximum number of intermediate authorities below it. -1: as many as its issuer allows.",
    {
      defaultText: "-1",
    },
  ),
  permittedDnsDomains: requestMember(
    texts(),
    'Name constraints: permitted DNS domains; a leading "." means subdomains only.',
  ),
  excludedDnsDomains: requestMember(texts(), "Name constraints: excluded DNS domains."),
  permittedEmailAddresses: requestMember(texts(), "Name constraints: permitted e-mail addresses or domains."),
  excludedEmailAddresses: requestMember(texts(), "Name constraints: excluded e-mail addresses or domains."),
  permittedIpRanges: requestMember(texts(), "Name constraints: permitted IP ranges (CIDR)."),
  excludedIpRanges: requestMember(texts(), "Name constraints: excluded IP ranges (CIDR)."),
  permittedUriDomains: requestMember(texts(), "Name constraints: permitted URI domains."),
  excludedUriDomains: requestMember(texts(), "Name constraints: excluded URI domains."),
  keyUsages: requestMember(texts(), "Key usages besides `CertSign` and `CRLSign`."),
  signatureBits: requestMember(
    integer,
    "Bits of the signature's hash: 256, 384 or 512. 0: chosen by the issuer's key.",
    {
      defaultText: "0",
    },
  ),
  usePss: requestMember(flag, "Sign with RSASSA-PSS if the issuer's key is RSA.", { defaultText: "false" }),
  skid: requestMember(text, "Subject key identifier (hexadecimal).", { defaultText: "computed from the key" }),
}

/** PEM is compared without its white space. */
export const csrMember = requiredMember(filledText, "Certificate signing request (PKCS #10, PEM).", {
  same: (a, b) => blankless(a) === blankless(b),
})
const blankless = (value: unknown): string => (typeof value === "string" ? value.replaceAll(/\s/g, "") : "")

const fieldsOfMembers: Readonly<Record<string, string>> = {
  ttl: "ttlMs",
  notBeforeDuration: "notBeforeDurationMs",
  subjectSerialNumber: "serialNumber",
  keyUsages: "keyUsage",
  extKeyUsages: "extKeyUsage",
  organizationalUnits: "ou",
  organizations: "organization",
  countries: "country",
  localities: "locality",
  provinces: "province",
  streetAddresses: "streetAddress",
  postalCodes: "postalCode",
}
const membersOfFields = new Map(Object.entries(fieldsOfMembers).map(([member, field]) => [field, member]))

/** Returns the declared members as the engine's input fields, without members that are undefined. */
export const requestOf = <Input extends object>(spec: object, members: Members): Input =>
  Object.fromEntries(
    Object.entries(spec)
      .filter(([name, value]) => value !== undefined && name in members)
      .map(([name, value]) => {
        const { toEngine } = members[name] ?? {}
        return [fieldsOfMembers[name] ?? name, toEngine === undefined ? value : toEngine(value)]
      }),
  ) as Input

/** Returns `validate` of a resource in a mount. */
export const requestValidator = <Spec extends { readonly mount: string }>(
  members: Members,
  rules: (known: Partial<Spec>, unchecked: ReadonlySet<string>) => readonly Fault[],
) =>
  validator<Spec>(members, (known, unchecked) => [
    ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
    ...rules(known, unchecked),
  ])

/** Returns the faults of an engine rule under the names of declared members. */
export function faultsOfRule(members: object, rule: () => void): readonly Fault[] {
  try {
    rule()
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return toDeclaredNames(members, error.faults)
    throw error
  }
}

/** Runs a request. Throws its `invalid` errors with the names of declared members. */
export async function withDeclaredNames<T>(members: object, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    throw invalid(toDeclaredNames(members, error.faults))
  }
}

const toDeclaredNames = (members: object, faults: readonly Fault[]): readonly Fault[] =>
  declaredFaults(faults, (field) => {
    const member = membersOfFields.get(field) ?? field
    return member in members ? member : undefined
  })
