// Parses subject alternative names from the text of requests.
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { isPartialWildcard, toDnsName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import { parseIpAddress } from "../names/ip-address.ts"
import { type Violation, violation } from "./violation.ts"

/** Returns true for an alternative name of the type serialNumber (2.5.4.5), a further serial number of the subject. */
export const isSerialNumberName = (altName: string): boolean => altName.startsWith(`${oids.serialNumber};`)

/**
 * Returns the alternative name that a common name becomes unless `exclude_cn_from_sans` is set. Returns undefined if it is no DNS
 * name, email or IP address.
 */
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

/** Removes the dot of the DNS root from a host name, email address or IP address in the common name, as from alternative names. */
export function withoutRootDot(commonName: string, rules: NameRules): string {
  if (!commonName.endsWith(".")) return commonName
  const name = commonName.slice(0, -1)
  // A name that ends with two dots is invalid.
  return !name.endsWith(".") && nameOfCommonName(name, rules) !== undefined ? name : commonName
}

/** Maximum number of names in one certificate. If there are more, individual names are not checked. */
const maxNames = 1_000

export function tooManyNames(kinds: readonly (readonly unknown[])[]): readonly Violation[] {
  const count = kinds.reduce((sum, names) => sum + names.length, 0)
  const message = `a certificate must not have more than ${maxNames} names; got ${count}`
  return count > maxNames ? [violation("namesAreFew", "altNames", `${count}`, message)] : []
}

/** Removes names that repeat an earlier one, also in another spelling. */
export function distinctNames(names: readonly GeneralName[]): readonly GeneralName[] {
  const named = new Set<string>()
  return names.filter((name) => {
    const spelling = spellingOf(name)
    const isNew = !named.has(spelling)
    named.add(spelling)
    return isNew
  })
}

/** Returns a key for comparison. DNS names ignore case; mailboxes do so in practice. */
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
