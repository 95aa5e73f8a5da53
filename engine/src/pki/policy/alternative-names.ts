// Subject alternative names as a certificate holds them, out of the texts that they are asked for by.
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { toDnsName } from "../names/dns-name.ts"
import { toMailbox } from "../names/email.ts"
import { type Violation, violation } from "./violation.ts"

/** How more serial numbers of the subject are written among alternative names (specification, section 4.8, `serial_number`). */
export const isSerialNumberName = (altName: string): boolean => altName.startsWith(`${oids.serialNumber};`)

/** The alternative name that a common name is at once (specification, section 4.4, `exclude_cn_from_sans`); most others are none. */
export function nameOfCommonName(
  commonName: string,
  rules: { readonly enforceHostnames: boolean },
): { readonly kind: "dns" | "email"; readonly value: string } | undefined {
  const mailbox = toMailbox(commonName)
  if (mailbox !== undefined) return { kind: "email", value: mailbox }
  const dnsName = toDnsName(commonName, rules)
  return dnsName === undefined ? undefined : { kind: "dns", value: dnsName }
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
