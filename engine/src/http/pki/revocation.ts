import {
  decodeRevokeInput,
  encodeRevoked,
  revokeParameters,
  revokeWithKeyParameters,
} from "../../wire/pki/revocation.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import type { RevokedCertificate } from "../../pki/revoke/revocations.ts"
import { keysMaximum } from "../../pki/key-page.ts"
import { answer, listedUpTo, type PkiResponse, type PkiRoute } from "../pki-route.ts"

/** Revocation, and lists of revoked certificates. Lists about other clusters are empty: servers share one store. */
export const revocationRoutes: readonly PkiRoute[] = [
  {
    operation: "write",
    path: "/revoke",
    parameters: [revokeParameters],
    handle: async (request) =>
      revoked(await request.pki.revocations.revoke(decodeRevokeInput(request.decode(revokeParameters)))),
  },
  {
    operation: "write",
    path: "/revoke-with-key",
    parameters: [revokeWithKeyParameters],
    handle: async (request) =>
      revoked(await request.pki.revocations.revokeWithKey(decodeRevokeInput(request.decode(revokeWithKeyParameters)))),
  },
  {
    operation: "list",
    path: "/certs/revoked",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await request.pki.revocations.list(request.decode(keyPageParameters))),
  },
  {
    operation: "list",
    path: "/certs/revocation-queue",
    handle: async ({ pki }) => answer({ keys: await pki.revocations.requested(), key_info: {} }),
  },
  {
    operation: "list",
    path: "/certs/unified-revoked",
    handle: async ({ pki }) => answer({ keys: await pki.revocations.elsewhere(), key_info: {} }),
  },
]

const revoked = (outcome: RevokedCertificate): PkiResponse => ({
  kind: "data",
  status: 200,
  data: encodeRevoked(outcome),
  warnings: outcome.warnings,
})
