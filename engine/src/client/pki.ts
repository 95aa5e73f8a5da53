import { roles } from "../contracts/vault/role.ts"
import { tidy } from "../contracts/vault/tidy.ts"
import type { Pki } from "../pki/pki.ts"
import { remoteCertificates } from "./certificates.ts"
import { remoteExternalPolicy } from "./external-policy.ts"
import { remoteIssuers } from "./issuers.ts"
import { remoteKeys } from "./keys.ts"
import { remoteMountSettings } from "./mount-settings.ts"
import { remoteOcsp } from "./ocsp.ts"
import { pkiCallsOver } from "./pki-calls.ts"
import { remoteCrls, remoteRevocations } from "./revocation.ts"
import { remote } from "./remote-vault-contract.ts"
import type { Transport } from "./transport.ts"

export function remotePki(transport: Transport, mountPath: string): Pki {
  const calls = pkiCallsOver(transport, mountPath)
  return {
    issuers: remoteIssuers(calls),
    keys: remoteKeys(calls),
    settings: remoteMountSettings(calls),
    roles: remote(roles, calls),
    certificates: remoteCertificates(calls),
    revocations: remoteRevocations(calls),
    crls: remoteCrls(calls),
    ocsp: remoteOcsp(calls),
    externalPolicy: remoteExternalPolicy(calls),
    tidy: remote(tidy, calls),
  }
}
