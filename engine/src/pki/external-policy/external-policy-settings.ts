// Address and trust settings of a mount's external policy service (docs/compatibility.md, "External policy services"). The key of the
// client certificate is stored sealed, in a row of its own.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { type PemBlock, readPem, writePem } from "../../x509/pem.ts"
import { isPrivateKeyLabel, type PrivateKey, readPrivateKeyBlock } from "../../x509/private-key.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"

export interface ExternalPolicySettings {
  readonly enabled: boolean
  /** URL with scheme https; empty if not set. */
  readonly externalServiceUrl: string
  readonly timeoutMs: number
  /** CA certificates in PEM. At most one of `trustedCa` and `trustedLeafCertificateBundle` is set. */
  readonly trustedCa: string
  /** Certificates in PEM that the service itself may present. */
  readonly trustedLeafCertificateBundle: string
  /** PEM, beginning with the certificate of the key. Empty: no client certificate. */
  readonly clientCertificates: string
  /** Parts of the caller's identity to send to the service: only the id, or everything. */
  readonly entityJmespath: JmespathSelection
  readonly groupJmespath: JmespathSelection
  readonly updatedAt: Instant | null
}

/** JMESPath expression. Only two are supported: the empty one selects nothing, `@` selects everything. */
export type JmespathSelection = "" | "@"

export const defaultExternalPolicySettings: ExternalPolicySettings = {
  enabled: false,
  externalServiceUrl: "",
  timeoutMs: 15_000,
  trustedCa: "",
  trustedLeafCertificateBundle: "",
  clientCertificates: "",
  entityJmespath: "",
  groupJmespath: "",
  updatedAt: null,
}

/** Settings to change. Absent members stay unchanged. */
export interface ExternalPolicyInput {
  readonly enabled?: boolean
  readonly externalServiceUrl?: string
  /** Milliseconds. 0: the default. */
  readonly timeoutMs?: number
  readonly trustedCa?: string
  readonly trustedLeafCertificateBundle?: string
  /** PEM: a private key, its certificate and the chain up to a root, in any order. Empty: removes the client certificate. */
  readonly clientCertBundle?: string
  readonly entityJmespath?: string
  readonly groupJmespath?: string
}

export interface ChangedExternalPolicy {
  readonly settings: ExternalPolicySettings
  /** Null removes the key, undefined leaves it unchanged. */
  readonly clientKey: PrivateKey | null | undefined
}

/** Maximum timeout, because the client waits while the service is called. */
const maxTimeoutMs = 120_000
const maxBundleLength = 1024 * 1024
const maxCertificates = 1_000

export function changeExternalPolicy(
  before: ExternalPolicySettings,
  input: ExternalPolicyInput,
  now: Instant,
): ChangedExternalPolicy {
  const faults: Fault[] = []
  const attempt = <T>(field: keyof ExternalPolicyInput, otherwise: T, work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      faults.push({ field: [field], detail: error.message })
      return otherwise
    }
  }
  const identity = attempt("clientCertBundle", noIdentity, () => readIdentity(input.clientCertBundle))
  const settings: ExternalPolicySettings = {
    enabled: input.enabled ?? before.enabled,
    externalServiceUrl: attempt("externalServiceUrl", "", () =>
      readUrl(input.externalServiceUrl ?? before.externalServiceUrl),
    ),
    timeoutMs: attempt("timeoutMs", 0, () => readTimeout(input.timeoutMs ?? before.timeoutMs)),
    ...changedTrust(before, {
      trustedCa: attempt("trustedCa", "", () => readTrusted(input.trustedCa)),
      trustedLeafCertificateBundle: attempt("trustedLeafCertificateBundle", "", () =>
        readTrusted(input.trustedLeafCertificateBundle),
      ),
    }),
    clientCertificates: identity === undefined ? before.clientCertificates : identity.certificates,
    entityJmespath: attempt("entityJmespath", "", () => readSelection(input.entityJmespath ?? before.entityJmespath)),
    groupJmespath: attempt("groupJmespath", "", () => readSelection(input.groupJmespath ?? before.groupJmespath)),
    updatedAt: now,
  }
  rejectFaults([...faults, ...(faults.length === 0 ? togetherFaults(settings) : [])])
  return { settings, clientKey: identity?.key }
}

type Trusted = Pick<ExternalPolicySettings, "trustedCa" | "trustedLeafCertificateBundle">

/** Setting only one of the two clears the other. */
function changedTrust(before: Trusted, changes: { readonly [Name in keyof Trusted]: string | undefined }): Trusted {
  const { trustedCa, trustedLeafCertificateBundle } = changes
  return {
    trustedCa: trustedCa ?? (trustedLeafCertificateBundle ? "" : before.trustedCa),
    trustedLeafCertificateBundle:
      trustedLeafCertificateBundle ?? (trustedCa ? "" : before.trustedLeafCertificateBundle),
  }
}

function togetherFaults({
  enabled,
  externalServiceUrl,
  trustedCa,
  trustedLeafCertificateBundle,
}: ExternalPolicySettings): Fault[] {
  const faults: Fault[] = []
  const mentions = '"trusted_ca" and "trusted_leaf_certificate_bundle"'
  if (trustedCa !== "" && trustedLeafCertificateBundle !== "")
    faults.push({ field: ["trustedCa"], detail: `only one of ${mentions} may be set` })
  if (!enabled) return faults
  if (externalServiceUrl === "")
    faults.push({
      field: ["externalServiceUrl"],
      detail: '"external_service_url" is required to enable the external policy service',
    })
  if (trustedCa === "" && trustedLeafCertificateBundle === "")
    faults.push({
      field: ["trustedCa"],
      detail: `one of ${mentions} is required to enable the external policy service`,
    })
  return faults
}

const maxUrlLength = 2_048

function readUrl(text: string): string {
  if (text === "") return text
  const url = URL.parse(text)
  if (
    text.length > maxUrlLength ||
    url?.protocol !== "https:" ||
    url.username !== "" ||
    url.password !== "" ||
    url.hash !== ""
  )
    throw new UnacceptableInput('"external_service_url" must be an https URL without user name, password or fragment')
  return text
}

function readTimeout(timeoutMs: number): number {
  if (timeoutMs === 0) return defaultExternalPolicySettings.timeoutMs
  if (timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs
  throw new UnacceptableInput(`"timeout" must be longer than 0s and not longer than ${maxTimeoutMs / 1_000}s`)
}

function readSelection(expression: string): JmespathSelection {
  if (expression === "" || expression === "@") return expression
  throw new UnacceptableInput('must be "" (send nothing) or "@" (send everything); other expressions are not supported')
}

/** Parses certificates and returns them as normalized PEM; undefined if the input is undefined. */
function readTrusted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : certificatesOf(readPem(text, maxBundleLength), text.trim() === "").join("")
}

function certificatesOf(blocks: readonly PemBlock[], mayBeNone: boolean): string[] {
  if (blocks.length > maxCertificates)
    throw new UnacceptableInput(`must not contain more than ${maxCertificates} certificates`)
  if (blocks.length === 0 && !mayBeNone) throw new UnacceptableInput("contains no PEM certificate")
  return blocks.map(({ label, bytes }, at) => {
    if (label !== "CERTIFICATE")
      throw new UnacceptableInput(`PEM block ${at + 1} must be a certificate; got "${label}"`)
    parseCertificate(bytes)
    return `${writePem("CERTIFICATE", bytes)}\n`
  })
}

interface Identity {
  readonly certificates: string
  readonly key: PrivateKey | null
}

const noIdentity: Identity = { certificates: "", key: null }

function readIdentity(text: string | undefined): Identity | undefined {
  if (text === undefined) return undefined
  if (text.trim() === "") return noIdentity
  const blocks = readPem(text, maxBundleLength).filter(({ label }) => label !== "EC PARAMETERS")
  const keys = blocks.filter(({ label }) => isPrivateKeyLabel(label))
  const [key] = keys
  if (key === undefined || keys.length > 1)
    throw new UnacceptableInput(`must contain exactly one private key; got ${keys.length}`)
  const privateKey = readPrivateKeyBlock(key)
  const certificates = blocks.filter((block) => block !== key)
  const texts = certificatesOf(certificates, false)
  const ownIndex = certificates.findIndex(
    ({ bytes }) => Buffer.compare(parseCertificate(bytes).subjectPublicKeyInfo, privateKey.publicKey.spki) === 0,
  )
  if (ownIndex < 0) throw new UnacceptableInput("contains no certificate for its private key")
  return { certificates: [...texts.splice(ownIndex, 1), ...texts].join(""), key: privateKey }
}
