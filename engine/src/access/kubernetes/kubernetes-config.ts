// Configuration of how tokens are verified. With a host, each token is sent to the API server's TokenReview. With keys, the signature must
// be by one of them. At least one of the two must be set.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { readPem } from "../../x509/pem.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import {
  isRejection,
  readServiceAccountToken,
  tokenRejection,
  type TokenRejection,
  type ServiceAccountToken,
} from "./service-account-token.ts"

export interface KubernetesConfig {
  /** Original text, such as `https://10.96.0.1:443`, with or without its scheme. Empty if no API server is queried. */
  readonly kubernetesHost: string
  /** PEM, of the CAs that vouch for the host. If empty, the pod's own; outside of a pod, those of the operating system. */
  readonly kubernetesCaCert: string
  /** PEM, of public keys or of certificates with them, each as entered. */
  readonly pemKeys: readonly string[]
  /**
   * Required issuer of tokens. If empty, `kubernetes/serviceaccount`, the issuer of tokens stored in Secrets. Ignored if
   * `disableIssValidation` is true.
   */
  readonly issuer: string
  readonly disableIssValidation: boolean
  /** True if the pod's own CAs and token are not used. */
  readonly disableLocalCaJwt: boolean
  /** True if a token is stored that this server sends to the API server. */
  readonly tokenReviewerJwtSet: boolean
}

/** Complete new configuration. Omitted members get their defaults, including the reviewer's token. */
export interface KubernetesConfigInput {
  readonly kubernetesHost?: string
  readonly kubernetesCaCert?: string
  readonly tokenReviewerJwt?: string
  readonly pemKeys?: readonly string[]
  readonly issuer?: string
  readonly disableIssValidation?: boolean
  readonly disableLocalCaJwt?: boolean
}

export interface NewKubernetesConfig {
  readonly config: KubernetesConfig
  /** Empty if there is none. */
  readonly tokenReviewerJwt: string
}

const maxHost = 2_048
const maxIssuer = 1_024
const maxBundle = 256 * 1_024
const maxKeys = 50
/** Issuer of the tokens of Secrets, which have no other. */
const defaultIssuer = "kubernetes/serviceaccount"

/** Creates a configuration. Throws `invalid` with all faults. */
export async function createKubernetesConfig(input: KubernetesConfigInput): Promise<NewKubernetesConfig> {
  const {
    kubernetesHost = "",
    kubernetesCaCert = "",
    tokenReviewerJwt: reviewer = "",
    pemKeys = [],
    issuer = "",
  } = input
  const tokenReviewerJwt = reviewer.trim()
  const faults: Fault[] = []
  const attempt = (field: keyof KubernetesConfigInput, name: string, work: () => unknown) => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      faults.push({ field: [field], detail: `"${name}": ${error.message}` })
    }
  }
  if (kubernetesHost !== "" && apiServerUrl(kubernetesHost) === undefined)
    faults.push({
      field: ["kubernetesHost"],
      detail: '"kubernetes_host" must be a host, or an https URL without user name, password, query or fragment',
    })
  attempt("kubernetesCaCert", "kubernetes_ca_cert", () => readAuthorities(kubernetesCaCert))
  attempt("pemKeys", "pem_keys", () => readKeys(pemKeys))
  if (issuer.length > maxIssuer)
    faults.push({ field: ["issuer"], detail: `"issuer" must not be longer than ${maxIssuer} characters` })
  if (tokenReviewerJwt !== "" && isRejection(await readServiceAccountToken(tokenReviewerJwt)))
    faults.push({ field: ["tokenReviewerJwt"], detail: '"token_reviewer_jwt" is not a valid service account token' })
  if (faults.length === 0 && kubernetesHost === "" && pemKeys.length === 0)
    faults.push({
      field: ["kubernetesHost"],
      detail: '"kubernetes_host" is required if "pem_keys" is empty',
    })
  rejectFaults(faults)
  return {
    config: {
      kubernetesHost,
      kubernetesCaCert,
      pemKeys,
      issuer,
      disableIssValidation: input.disableIssValidation ?? true,
      disableLocalCaJwt: input.disableLocalCaJwt ?? false,
      tokenReviewerJwtSet: tokenReviewerJwt !== "",
    },
    tokenReviewerJwt,
  }
}

/** Returns warnings for the caller that sets the configuration. */
export const kubernetesConfigWarnings = ({ kubernetesHost }: KubernetesConfig): readonly string[] =>
  kubernetesHost === ""
    ? [
        'Without "kubernetes_host" no API server reviews tokens: tokens of deleted pods and service accounts can log in until they expire.',
      ]
    : []

/**
 * Returns the URL without a slash at its end; undefined for an invalid host. Only https is accepted: the server that answers decides which
 * clients log in.
 */
export function apiServerUrl(host: string): string | undefined {
  if (host.length > maxHost || /\s/.test(host)) return undefined
  const url = URL.parse(host.includes("://") ? host : `https://${host}`)
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "") return undefined
  if (host.includes("?") || host.includes("#")) return undefined
  return url.href.replace(/\/+$/, "")
}

/** Parses the keys of a validated configuration. */
export const verificationKeys = ({ pemKeys }: Pick<KubernetesConfig, "pemKeys">): readonly PublicKey[] =>
  readKeys(pemKeys)

/** Returns the reason that the token, even if genuine, does not belong to the configured cluster. */
export function configRejection(
  { issuer, expiresAt }: ServiceAccountToken,
  config: KubernetesConfig,
): TokenRejection | undefined {
  if (!config.disableIssValidation && issuer !== (config.issuer === "" ? defaultIssuer : config.issuer))
    return tokenRejection("the token has another issuer")
  // Such a token could never be revoked.
  if (config.kubernetesHost === "" && expiresAt === undefined)
    return tokenRejection("the token has no expiry, and no API server reviews it")
  return undefined
}

/** Returns true if `other` contains all certificates of `bundle`. Returns false if either cannot be parsed. */
export function isWithin(bundle: string, other: string): boolean {
  try {
    const known = new Set(authoritiesIn(other))
    return authoritiesIn(bundle).every((one) => known.has(one))
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

function readAuthorities(text: string): void {
  if (text === "") return
  const blocks = readPem(text, maxBundle)
  if (blocks.length === 0) throw new UnacceptableInput("contains no PEM certificate")
  for (const [at, { label, bytes }] of blocks.entries()) {
    if (label !== "CERTIFICATE")
      throw new UnacceptableInput(`PEM block ${at + 1} must be a certificate, not "${label}"`)
    parseCertificate(bytes)
  }
}

const authoritiesIn = (text: string): string[] =>
  readPem(text, maxBundle).map(({ bytes }) => Buffer.from(bytes).toString("base64"))

function readKeys(texts: readonly string[]): PublicKey[] {
  if (texts.length > maxKeys) throw new UnacceptableInput(`must have at most ${maxKeys} entries`)
  return texts.map(readKey)
}

function readKey(text: string, at: number): PublicKey {
  const [block, ...more] = readPem(text, maxBundle)
  if (block === undefined || more.length > 0)
    throw new UnacceptableInput(`entry ${at + 1} must be one public key or certificate in PEM`)
  const key = keyOf(block.label, block.bytes)
  if (key === undefined)
    throw new UnacceptableInput(`entry ${at + 1} must be a public key or certificate, not "${block.label}"`)
  if (key.algorithm.type === "ed25519") throw new UnacceptableInput(`entry ${at + 1} must be an RSA or EC key`)
  return key
}

function keyOf(label: string, bytes: Uint8Array): PublicKey | undefined {
  if (label === "PUBLIC KEY") return readPublicKey(bytes)
  return label === "CERTIFICATE" ? readPublicKey(parseCertificate(bytes).subjectPublicKeyInfo) : undefined
}
