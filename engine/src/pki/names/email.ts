// Email addresses in certificates (RFC 5280, sections 4.2.1.6 and 7.5).
import { toAsciiHostName } from "./host-names.ts"

/** Maximum length of the local part (RFC 5321, section 4.5.3.1). */
const maxLocalPart = 64
const maxAddress = 254
const dotAtom = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

/**
 * Returns the rfc822Name of a text: a mailbox with its domain in A-labels. Returns undefined if the text is no mailbox, or has a
 * quoted local part. Also returns undefined for a local part that is not ASCII, which has its own type of name (RFC 9598).
 */
export function toMailbox(text: string): string | undefined {
  const [localPart = "", domain, ...rest] = text.split("@")
  if (domain === undefined || rest.length > 0 || localPart.length > maxLocalPart || !dotAtom.test(localPart))
    return undefined
  const ascii = toAsciiHostName(domain)
  const mailbox = `${localPart}@${ascii}`
  return ascii === undefined || mailbox.length > maxAddress ? undefined : mailbox
}
