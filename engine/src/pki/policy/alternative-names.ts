// Subject alternative names as a certificate holds them, out of the texts that they are asked for by.
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { isPartialWildcard, toDnsName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import { parseIpAddress } from "../names/ip-address.ts"
import { type Violation, violation } from "./violation.ts"

/** Returns whether an alternative name holds another serial number of the subject. */
export const isSerialNumberName = (altName: string): boolean => altName.startsWith(`${oids.serialNumber};`)

/** Returns the alternative name that a common name becomes, unless `exclude_cn_from_sans` is set; undefined if it is no DNS name or email. */
export function nameOfCommonName(
  commonName: string,
  rules: NameRules,
):
  | { readonly kind: "dns" | "email"; readonly value: string }
  | { readonly kind: "ip"; readonly octets: Uint8Array }
  | undefined {
  const octets = parseIpAddress(commonName)
  if (octets !== undefined) return { kind: "ip", octets }
  const mailbox = toMailbox(commonName)
  if (mailbox !== undefined) return { kind: "email", value: mailbox }
  if (!rules.allowPartialWildcards && isPartialWildcard(commonName)) return undefined
  const dnsName = toDnsName(commonName, rules)
  return dnsName === undefined ? undefined : { kind: "dns", value: dnsName }
}

export interface NameRules {
  readonly enforceHostnames: boolean
  readonly allowPartialWildcards: boolean
}

/** The dot of the root goes from a common name that is a host name, an e-mail address or an IP address, as from the others. */
export function withoutRootDot(commonName: string, rules: NameRules): string {
  if (!commonName.endsWith(".")) return commonName
  const name = commonName.slice(0, -1)
  // Two dots are no name.
  return !name.endsWith(".") && nameOfCommonName(name, rules) !== undefined ? name : commonName
}

/** Of one certificate; past them, the others are not looked at. */
const namesMaximum = 1_000

export function tooManyNames(kinds: readonly (readonly unknown[])[]): readonly Violation[] {
  const count = kinds.reduce((sum, names) => sum + names.length, 0)
  const message = `a certificate must not have more than ${namesMaximum} names; ${count} were given`
  return count > namesMaximum ? [violation("namesAreFew", "altNames", `${count}`, message)] : []
}

/** What is asked for twice, in whatever spelling, is said once. */
export function distinctNames(names: readonly GeneralName[]): readonly GeneralName[] {
  const named = new Set<string>()
  return names.filter((name) => {
    const spelling = spellingOf(name)
    const isNew = !named.has(spelling)
    named.add(spelling)
    return isNew
  })
}

/** DNS names have no case; neither have, in practice, mailboxes. */
function spellingOf(name: GeneralName): string {
  switch (name.kind) {
    case "dns":
    case "email":
      return `${name.kind}:${name.value.toLowerCase()}`
    case "ip":
      return `ip:${name.octets.join(".")}`
    case "directory":
      return `directory:${name.name.join(".")}`
    case "unsupported":
      return `unsupported:${name.der.join(".")}`
    default:
      return JSON.stringify(name)
  }
}
