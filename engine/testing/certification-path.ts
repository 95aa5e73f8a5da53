import type { Instant } from "../src/core/time.ts"
import type { CertificationPaths } from "../src/pki/issuers/chain.ts"
import type { ParsedIssuer } from "../src/pki/issuers/parsed-issuer.ts"
import { defaultIssuerSettings, type IssuerSettings } from "../src/pki/issuers/issuer.ts"
import type { Extension } from "../src/x509/extension.ts"
import type { ExtensionValues } from "../src/x509/extensions.ts"
import { encodeName } from "../src/x509/name.ts"

/** Properties of an authority that policies read: enough of a `ParsedIssuer`, without a signature. */
export interface PathMember extends Pick<ExtensionValues, "nameConstraints" | "extendedKeyUsage" | "keyUsage"> {
  readonly name: string
  /** Name of the issuer. Default: the name of the next member. */
  readonly issuedBy?: string
  readonly notBefore?: Instant
  readonly maxPathLength?: number
  readonly subjectAltName?: NonNullable<ExtensionValues["subjectAltName"]>
  readonly extensions?: readonly Extension[]
}

/** Returns paths of fictitious authorities, each path starting with the issuer. */
export function certificationPathsOf(
  paths: readonly (readonly PathMember[])[],
  settings: Partial<IssuerSettings> = {},
): CertificationPaths {
  return {
    paths: paths.map((members) => members.map((member, at) => parsedIssuer(member, members[at + 1] ?? member))),
    unnamed: [],
    settings: { ...defaultIssuerSettings, ...settings },
  }
}

/** Returns the path of one authority with or without a path length constraint. */
export const pathUnder = (maxPathLength: number | undefined): CertificationPaths =>
  certificationPathsOf([[{ name: "Issuer", ...(maxPathLength === undefined ? {} : { maxPathLength }) }]])

const nameOf = (commonName: string) => [[{ type: "2.5.4.3", value: commonName }]]

function parsedIssuer(member: PathMember, parent: PathMember): ParsedIssuer {
  const { name, issuedBy = parent.name, notBefore = 0, maxPathLength, extensions = [], ...values } = member
  return {
    parsed: {
      serialNumber: Uint8Array.of(1),
      notBefore,
      subject: encodeName(nameOf(name)),
      subjectName: nameOf(name),
      issuer: encodeName(nameOf(issuedBy)),
      issuerName: nameOf(issuedBy),
      extensions,
    },
    values: {
      ...values,
      basicConstraints: { isCa: true, ...(maxPathLength === undefined ? {} : { maxPathLength }) },
    },
  } as unknown as ParsedIssuer
}
