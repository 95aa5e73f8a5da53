// Host names and email addresses that a role allows. The rules apply in order, and the first broken rule is the reason of rejection.
// Names are compared as A-labels in lower case, so that every spelling of a name gets the same result.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { anyGlob, isWildcardLabel, splitWildcard, toAsciiHostName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import { isIpAddress } from "../names/ip-address.ts"
import { fillTemplate, type Identity, isTemplate } from "../names/identity-template.ts"
import type { Role } from "../roles/role.ts"

export interface NameProblem {
  readonly rule: string
  /** Reason as the end of a sentence after "… not allowed by this role:". */
  readonly reason: string
}

export type NamePolicy = (name: string) => NameProblem | undefined

export function namePolicy(role: Role, identity: Identity | undefined): NamePolicy {
  const allowed = allowedDomains(role, identity)
  return (text) => {
    const name = parseName(text)
    for (const check of nameChecks) {
      const reason = check(name, role, allowed)
      if (reason !== undefined) return { rule: check.name, reason }
    }
    return undefined
  }
}

interface ParsedName {
  readonly text: string
  /** Number of "@" in the text. A name with one is an email address, and its domain is checked. */
  readonly atSigns: number
  readonly wildcard: { readonly label: string; readonly base: string } | undefined
  /** Part after "@" or after the wildcard label; otherwise the whole text. `domain` is as written, `folded` is for comparison. */
  readonly domain: string
  /** Undefined if the domain is no host name. */
  readonly hostName: string | undefined
  readonly folded: string
  /** Whole name in the form for comparison. */
  readonly whole: string
}

type NameCheck = (name: ParsedName, role: Role, allowed: AllowedDomains) => string | undefined

const nameChecks: readonly NameCheck[] = [
  nameIsNotTooLong,
  addressHasOneAtSign,
  wildcardIsAllowed,
  hostNameIsWellFormed,
  domainIsAllowed,
]

/** Maximum length: every name that can be issued is shorter, in any encoding. */
const maxName = 1_024

function nameIsNotTooLong({ text }: ParsedName): string | undefined {
  return text.length > maxName ? `it is longer than ${maxName} characters` : undefined
}

function addressHasOneAtSign({ atSigns }: ParsedName): string | undefined {
  return atSigns > 1 ? 'it contains more than one "@"' : undefined
}

function wildcardIsAllowed({ text, atSigns, wildcard }: ParsedName, role: Role): string | undefined {
  if (!text.includes("*")) return undefined
  if (!role.allowWildcardCertificates) return "wildcard certificates are not allowed"
  if (atSigns > 0) return "an e-mail address must not contain a wildcard"
  if (wildcard === undefined) return 'a wildcard name has one "*", in its left-most label'
  return wildcard.label === "*" || role.allowPartialWildcards
    ? undefined
    : 'its "*" is only a part of a label, and "allow_partial_wildcards" is not set'
}

function hostNameIsWellFormed(
  { text, atSigns, wildcard, domain, hostName }: ParsedName,
  role: Role,
): string | undefined {
  // An IP address in a common name becomes an iPAddress, which has its own rules.
  if (!role.enforceHostnames || isIpAddress(text)) return undefined
  if (atSigns > 0) return toMailbox(text) === undefined ? "it is not a valid e-mail address" : undefined
  if (wildcard !== undefined && !isWildcardLabel(wildcard.label)) return "its wildcard label is not well-formed"
  const isWildcardAlone = wildcard !== undefined && domain === ""
  return isWildcardAlone || hostName !== undefined ? undefined : "it is not a valid host name"
}

function domainIsAllowed(name: ParsedName, role: Role, allowed: AllowedDomains): string | undefined {
  if (role.allowAnyName || (role.allowLocalhost && isLocal(name, role)) || isUnder(name, role, allowed))
    return undefined
  return "it is not under an allowed domain"
}

const localNames: ReadonlySet<string> = new Set(["localhost", "localdomain"])

/** `allow_subdomains` also allows wildcards of local names. */
const isLocal = ({ wildcard, folded }: ParsedName, role: Role): boolean =>
  (wildcard === undefined && localNames.has(folded)) ||
  (role.allowSubdomains && hasSuffix(folded, wildcard !== undefined, localNames))

function isUnder({ atSigns, wildcard, folded, whole }: ParsedName, role: Role, allowed: AllowedDomains): boolean {
  if (role.allowBareDomains && (allowed.domains.has(whole) || (atSigns > 0 && allowed.domains.has(folded)))) return true
  if (role.allowSubdomains && hasSuffix(folded, wildcard !== undefined, allowed.domains)) return true
  return role.allowGlobDomains && allowed.isGlobbed(whole)
}

/**
 * Returns true if the domain ends with "." and one of the suffixes. The base of a wildcard may also equal a suffix, because the
 * wildcard matches its subdomains.
 */
function hasSuffix(domain: string, isBaseOfWildcard: boolean, suffixes: ReadonlySet<string>): boolean {
  if (isBaseOfWildcard && suffixes.has(domain)) return true
  for (let dot = domain.indexOf("."); dot >= 0; dot = domain.indexOf(".", dot + 1))
    if (suffixes.has(domain.slice(dot + 1))) return true
  return false
}

function parseName(text: string): ParsedName {
  // The first check rejects longer names, so the other checks do not need the rest.
  const [localPart = "", ...domains] = text.slice(0, maxName).split("@")
  const last = domains.at(-1) ?? localPart
  const wildcard = splitWildcard(last)
  const domain = wildcard?.base ?? last
  const hostName = toAsciiHostName(domain)
  const folded = fold(domain, hostName)
  const labels = [...(wildcard === undefined ? [] : [foldAscii(wildcard.label)]), ...(domain === "" ? [] : [folded])]
  const whole = domains.length > 0 ? `${foldAscii(localPart)}@${folded}` : labels.join(".")
  return { text, atSigns: domains.length, wildcard, domain, hostName, folded, whole }
}

interface AllowedDomains {
  /** All entries in the form for comparison. */
  readonly domains: ReadonlySet<string>
  /** Returns true if the name matches an entry with a "*". */
  readonly isGlobbed: (whole: string) => boolean
}

/** Returns the domains that the role allows to the identity. Templates that the identity cannot fill in allow nothing. */
function allowedDomains(role: Role, identity: Identity | undefined): AllowedDomains {
  const fixed = fixedDomains(role)
  if (!role.allowedDomainsTemplate || identity === undefined) return fixed
  const globsAllowed = role.allowGlobsInIdentityTemplates
  const filled = compile(
    role.allowedDomains.filter(isTemplate).flatMap((entry) => fillTemplate(entry, identity, { globsAllowed }) ?? []),
  )
  return {
    domains: new Set([...fixed.domains, ...filled.domains]),
    isGlobbed: (whole) => fixed.isGlobbed(whole) || filled.isGlobbed(whole),
  }
}

const fixedDomains = memoizeByIdentity((role: Role): AllowedDomains => {
  const { allowedDomains, allowedDomainsTemplate } = role
  return compile(allowedDomainsTemplate ? allowedDomains.filter((entry) => !isTemplate(entry)) : allowedDomains)
})

function compile(entries: readonly string[]): AllowedDomains {
  const folded = entries.map(foldEntry).filter((entry) => entry !== "")
  return { domains: new Set(folded), isGlobbed: anyGlob(folded.filter((entry) => entry.includes("*"))) }
}

function foldEntry(entry: string): string {
  // Labels around a "*" are compared like those of other names.
  if (entry.includes("*")) return entry.split(".").map(foldDomain).join(".")
  const [localPart = "", domain] = entry.split("@", 2)
  return domain === undefined ? foldDomain(entry) : `${foldAscii(localPart)}@${foldDomain(domain)}`
}

/**
 * Returns the form for comparison. A domain that is no host name is compared as written; only roles without `enforce_hostnames`
 * allow it.
 */
const fold = (domain: string, hostName: string | undefined): string => foldAscii(hostName ?? domain.replace(/\.$/, ""))

const foldDomain = (domain: string): string => fold(domain, toAsciiHostName(domain))

/** Folds only ASCII letters. Full case folding would map letters of other scripts to ASCII letters. */
const foldAscii = (text: string): string =>
  /[A-Z]/.test(text) ? text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text
