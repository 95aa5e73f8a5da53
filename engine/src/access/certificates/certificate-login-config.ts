import { type Fault, rejectFaults } from "../../core/errors.ts"

export interface CertificateLoginConfig {
  /** Allows renewals of tokens without the certificate of the login. */
  readonly disableBinding: boolean
  /** Stored and returned only: there are no identity aliases. */
  readonly enableIdentityAliasMetadata: boolean
  /** Names the presented certificate in the error of a failed login. */
  readonly enableMetadataOnFailures: boolean
  /** `ocspCacheSize` and `roleCacheSize` are stored and returned only: all methods of a server share its caches. */
  readonly ocspCacheSize: number
  readonly roleCacheSize: number
}

export const initialCertificateLoginConfig: CertificateLoginConfig = {
  disableBinding: false,
  enableIdentityAliasMetadata: false,
  enableMetadataOnFailures: false,
  ocspCacheSize: 100,
  roleCacheSize: 200,
}

const maxOcspCacheSize = 100_000
const maxRoleCacheSize = 10_000

/** Changes the configuration. Throws `invalid` with all faults. */
export function changeCertificateLoginConfig(
  before: CertificateLoginConfig,
  input: Partial<CertificateLoginConfig>,
): CertificateLoginConfig {
  const config = { ...before, ...input }
  const faults: Fault[] = []
  if (config.ocspCacheSize < 2 || config.ocspCacheSize > maxOcspCacheSize)
    faults.push({ field: ["ocspCacheSize"], detail: `"ocsp_cache_size" must be from 2 to ${maxOcspCacheSize}` })
  if (config.roleCacheSize < -1 || config.roleCacheSize > maxRoleCacheSize)
    faults.push({ field: ["roleCacheSize"], detail: `"role_cache_size" must be from -1 to ${maxRoleCacheSize}` })
  rejectFaults(faults)
  return config
}
