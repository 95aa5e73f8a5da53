/** Maximum length in characters. User agents do not follow longer URIs. */
const maxLength = 2_048

/** Returns true for a URI of RFC 3986 with its scheme, in the ASCII that an IA5String can contain (RFC 5280, section 4.2.1.6). */
export const isUri = (text: string): boolean =>
  text.length <= maxLength &&
  /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(text) &&
  URL.canParse(text)
