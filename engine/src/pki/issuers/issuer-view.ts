// Views of issuers for clients.
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { chainOf } from "./chain.ts"
import { type ParsedIssuer, parseIssuer } from "./parsed-issuer.ts"
import type { Issuer } from "./issuer.ts"
import type { IssuerCertificate, IssuerSummary, IssuerView } from "./issuer-api.ts"

type WithIssuers = Pick<MountSnapshot, "issuers">

export const summariesOf = ({ issuers, settings }: MountSnapshot): readonly IssuerSummary[] =>
  issuers.map(({ id, name, keyId, parsed }) => ({
    id,
    name,
    keyId,
    isDefault: id === settings.issuers.default,
    serialNumber: Array.from(parsed.serialNumber, (octet) => octet.toString(16).padStart(2, "0")).join(":"),
  }))

export const certificateOf = ({ issuers }: WithIssuers, issuer: ParsedIssuer): IssuerCertificate => ({
  id: issuer.id,
  name: issuer.name,
  certificate: issuer.certificate,
  caChain: chainOf(issuer, issuers).map(({ certificate }) => certificate),
})

export const viewOf = (authority: WithIssuers, issuer: ParsedIssuer): IssuerView => ({
  ...certificateOf(authority, issuer),
  keyId: issuer.keyId,
  settings: issuer.settings,
  revokedAt: issuer.revokedAt,
})

export function afterChange({ issuers }: WithIssuers, changed: Issuer): IssuerView {
  const parsed = parseIssuer(changed)
  return viewOf({ issuers: issuers.map((other) => (other.id === parsed.id ? parsed : other)) }, parsed)
}
