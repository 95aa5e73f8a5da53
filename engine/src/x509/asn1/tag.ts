// Identifier octets (X.690, clause 8.1.2). Tag numbers above 30 need more octets; RFC 5280 does not use them.

export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  generalString: 0x1b,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

/** Returns the identifier of `[number]` around a value, or in place of the tag of a constructed value. */
export const contextConstructed = (number: number): number => 0xa0 | number

/** Returns the identifier of `[number]` in place of the tag of a primitive value. */
export const contextPrimitive = (number: number): number => 0x80 | number

export const isConstructed = (identifier: number): boolean => (identifier & 0x20) !== 0
