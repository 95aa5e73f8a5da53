// otherName entries of subjectAltName in the form `<oid>;<type>:<value>`. The only type is UTF8
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#generate-certificate-and-key, `other_sans`).
import { encodeOidContent } from "../../x509/asn1/oid.ts"

export interface OtherName {
  readonly oid: string
  /** Text of the UTF8String. */
  readonly value: string
}

export type ParsedOtherName = { readonly name: OtherName } | { readonly problem: string }

export function parseOtherName(text: string): ParsedOtherName {
  const [, oid, type, value] = /^([^;]*);([^:]*):(.*)$/su.exec(text) ?? []
  if (oid === undefined || type === undefined || value === undefined)
    return { problem: `other SAN "${text}" must have the form <oid>;UTF8:<value>` }
  if (encodeOidContent(oid) === undefined)
    return { problem: `other SAN "${text}" does not begin with an object identifier` }
  if (!/^utf-?8$/i.test(type)) return { problem: `other SAN "${text}" must have the type UTF8, not "${type}"` }
  return { name: { oid, value } }
}

export const formatOtherName = ({ oid, value }: OtherName): string => `${oid};UTF8:${value}`
