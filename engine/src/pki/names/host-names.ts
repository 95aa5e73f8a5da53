// DNS names in certificates: A-labels of letters, digits and hyphens (RFC 5280, sections 4.2.1.6 and 7.2).
//
// The URL parser of the platform converts U-labels to A-labels and validates A-labels: UTS #46, nontransitional, with the checks of
// joiners and of bidirectional text. It accepts some names that IDNA 2008 rejects, and they are not rejected here: symbols such as
// emoji, and characters that are newer than the Unicode tables of the platform.

const maxName = 253
/** Maximum length of text to convert, which may become shorter: combining characters are composed. */
const maxText = 1_024

/** Returns the host name in A-labels, without a trailing dot. ASCII keeps its case. Returns undefined if the text is no host name. */
export const toAsciiHostName = (text: string): string | undefined => toAsciiName(text, hostName)

/**
 * Returns the dNSName of a text, which may begin with a wildcard label. If host names are not enforced, labels may contain
 * underscores, as names of services do.
 */
export function toDnsName(text: string, rules: { readonly enforceHostnames: boolean }): string | undefined {
  // Clients parse these as IP addresses, which have their own rules in roles.
  if (/^\d+(\.\d+){3}\.?$/.test(text)) return undefined
  const form = rules.enforceHostnames ? hostName : looseName
  const wildcard = splitWildcard(text)
  if (wildcard === undefined) return toAsciiName(text, form)
  if (!isWildcardLabel(wildcard.label)) return undefined
  if (wildcard.base === "") return wildcard.label
  const base = toAsciiName(wildcard.base, form)
  return base === undefined || wildcard.label.length + 1 + base.length > maxName
    ? undefined
    : `${wildcard.label}.${base}`
}

/**
 * Splits a name with one `*` in its left-most label (RFC 6125, section 6.4.3). Returns undefined for a text without `*`, and for any
 * other use of it.
 */
export function splitWildcard(text: string): { readonly label: string; readonly base: string } | undefined {
  const [, label = "", base] = /^([^.*]*\*[^.*]*)(?:\.([^*]+))?$/su.exec(text) ?? []
  return label === "" ? undefined : { label, base: base ?? "" }
}

/** Returns true for a wildcard that clients do not match (RFC 9525, section 6.3). */
export function isPartialWildcard(text: string): boolean {
  const wildcard = splitWildcard(text)
  return wildcard !== undefined && wildcard.label !== "*"
}

/** Returns true for `*`, `foo*`, `*foo` and `f*o`, but not for a `*` inside an A-label (RFC 6125, section 7.2). */
export const isWildcardLabel = (label: string): boolean =>
  label.length <= maxLabel &&
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?\*(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?$/i.test(label) &&
  !/^xn--/i.test(label)

const maxLabel = 63
const hostName = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
const looseName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i

function toAsciiName(text: string, form: RegExp): string | undefined {
  const ascii = toAscii(text)
  return ascii !== undefined && ascii.length <= maxName && form.test(ascii) ? ascii : undefined
}

/** Rejects ASCII characters that names cannot contain, so that the URL parser sees nothing but a host. */
function toAscii(text: string): string | undefined {
  const name = text.endsWith(".") ? text.slice(0, -1) : text
  if (name === "" || name.length > maxText || /[^A-Za-z0-9_.\-\u0080-\uffff]/.test(name)) return undefined
  return /[\u0080-\uffff]|(?:^|\.)xn--/i.test(name) ? convert(name) : name
}

/**
 * Appends two labels for the URL parser. The first, which is not ASCII, makes it validate the A-labels before. The second prevents
 * it from parsing digits as an IPv4 address.
 */
function convert(name: string): string | undefined {
  const hostname = URL.parse(`http://${name}.é.a`)?.hostname
  return hostname?.endsWith(provedBy) === true ? hostname.slice(0, -provedBy.length) : undefined
}

const provedBy = ".xn--9ca.a"

/**
 * Returns a function that returns true if a text matches one of the patterns. A `*` matches any number of characters. Pattern and
 * text are scanned once, without backtracking.
 */
export function anyGlob(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"))
  return (text) => exact.has(text) || globs.some((parts) => matches(parts, text))
}

/** Matches a pattern that was split at each `*`. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = "", last = ""] = [parts[0], parts.at(-1)]
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let index = 1; index < parts.length - 1; index += 1) {
    const part = parts[index] ?? ""
    // The leftmost match leaves the most text for the other parts.
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
