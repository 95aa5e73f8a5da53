// Revocation of an issuer: its certificate also goes on the list of the issuer that signed it, if that one is in the mount.
import type { Instant } from "../../core/time.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import type { MountSnapshot } from "../authority.ts"
import { crlListOf } from "../crl/crl-list.ts"
import { parentsOf } from "../issuers/chain.ts"
import type { ParsedIssuer } from "../issuers/held-issuer.ts"
import type { RevocationRepository } from "./revocation.ts"

/** Inside the transaction that revokes it. A list of another mount, or a root's own, cannot have it. */
export async function listRevokedIssuer(
  { mount, issuers }: Pick<MountSnapshot, "mount" | "issuers">,
  { revocations }: { readonly revocations: RevocationRepository },
  issuer: ParsedIssuer,
  revokedAt: Instant,
): Promise<void> {
  const [parent] = parentsOf(issuer, issuers)
  const serialNumber = serialNumberOf(issuer.parsed.serialNumber)
  if (parent === undefined || serialNumber === undefined || crlListOf(parent) === crlListOf(issuer)) return
  if ((await revocations.find(mount.id, serialNumber)) !== undefined) return
  await revocations.insert({
    mountId: mount.id,
    serialNumber,
    issuerId: parent.id,
    revokedAt,
    reason: "unspecified",
    notAfter: issuer.parsed.notAfter,
    list: crlListOf(parent),
  })
}
