// DNS names as certificates hold them: A-labels of letters, digits and hyphens (RFC 5280, sections 4.2.1.6 and 7.2).
//
// U-labels become A-labels, and A-labels are proved, by the URL parser of the platform: UTS #46, nontransitional, with the
// checks of joiners and of bidirectional text. What it lets pass and IDNA 2008 does not is not caught here: symbols such
// as emoji, and characters younger than the platform's Unicode tables.

const nameMaximum = 253
/** Of text that is worth converting: combining characters may make it shorter. */
const textMaximum = 1_024

/** The host name in A-labels, without a dot at its end; ASCII keeps its case. Undefined for what is none. */
export const toAsciiHostName = (text: string): string | undefined => toAsciiName(text, hostName)

/**
 * What a dNSName holds of the text, which may begin with a wildcard label. Where host names are not enforced, labels may
 * hold underscores, as names of services do.
 */
export function toDnsName(text: string, rules: { readonly enforceHostnames: boolean }): string | undefined {
  // Clients take these for addresses, and a name is no way around the rules for them.
  if (/^\d+(\.\d+){3}\.?$/.test(text)) return undefined
  const form = rules.enforceHostnames ? hostName : looseName
  const wildcard = splitWildcard(text)
  if (wildcard === undefined) return toAsciiName(text, form)
  if (!isWildcardLabel(wildcard.label)) return undefined
  if (wildcard.base === "") return wildcard.label
  const base = toAsciiName(wildcard.base, form)
  return base === undefined || wildcard.label.length + 1 + base.length > nameMaximum
    ? undefined
    : `${wildcard.label}.${base}`
}

/** One `*`, in the left-most label (RFC 6125, section 6.4.3); undefined for a text without one, and for every other use of it. */
export function splitWildcard(text: string): { readonly label: string; readonly base: string } | undefined {
  const [, label = "", base] = /^([^.*]*\*[^.*]*)(?:\.([^*]+))?$/su.exec(text) ?? []
  return label === "" ? undefined : { label, base: base ?? "" }
}

/** A wildcard that clients do not match (RFC 9525, section 6.3). */
export function isPartialWildcard(text: string): boolean {
  const wildcard = splitWildcard(text)
  return wildcard !== undefined && wildcard.label !== "*"
}

/** `*`, `foo*`, `*foo` and `f*o`; never inside an A-label (RFC 6125, section 7.2). */
export const isWildcardLabel = (label: string): boolean =>
  label.length <= labelMaximum &&
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?\*(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?$/i.test(label) &&
  !/^xn--/i.test(label)

const labelMaximum = 63
const hostName = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
const looseName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i

function toAsciiName(text: string, form: RegExp): string | undefined {
  const ascii = toAscii(text)
  return ascii !== undefined && ascii.length <= nameMaximum && form.test(ascii) ? ascii : undefined
}

/** Of ASCII nothing but what a name may hold is let through, so that the URL parser sees a host and no more. */
function toAscii(text: string): string | undefined {
  const name = text.endsWith(".") ? text.slice(0, -1) : text
  if (name === "" || name.length > textMaximum || /[^A-Za-z0-9_.\-\u0080-\uffff]/.test(name)) return undefined
  return /[\u0080-\uffff]|(?:^|\.)xn--/i.test(name) ? convert(name) : name
}

/** Behind the name, a label that is not ASCII makes the parser prove the A-labels before it, and the last keeps digits from being an IPv4 address. */
function convert(name: string): string | undefined {
  const hostname = URL.parse(`http://${name}.é.a`)?.hostname
  return hostname?.endsWith(provedBy) === true ? hostname.slice(0, -provedBy.length) : undefined
}

const provedBy = ".xn--9ca.a"

/**
 * Whether a text is one of the patterns, whose `*` stand for any run of characters. A pattern and a text are gone through
 * once: nothing backtracks.
 */
export function anyGlob(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"))
  return (text) => exact.has(text) || globs.some((parts) => matches(parts, text))
}

/** Between each two parts there is a run. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = "", last = ""] = [parts[0], parts.at(-1)]
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let index = 1; index < parts.length - 1; index += 1) {
    const part = parts[index] ?? ""
    // The leftmost place leaves most room for the parts that follow.
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
