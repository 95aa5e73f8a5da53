// Use cases of the external policy service. The service is called outside of any transaction and only once, even if signing is
// repeated. Its response is applied to the mount as of the time of signing.
import { invalid, unprocessable } from "../../core/errors.ts"
import { newUuid } from "../../core/ids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { type DistinguishedName, encodeName } from "../../x509/name.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import { keyAlgorithm } from "../../x509/key-algorithm.ts"
import { writePem } from "../../x509/pem.ts"
import { readPrivateKey } from "../../x509/private-key.ts"
import type { PublicKey } from "../../x509/public-key.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { identityOf } from "../../access/service-tokens/caller-identity.ts"
import { type MountSnapshot, findIssuer, issuerOf } from "../mounts/mount-snapshot.ts"
import { authorizeOnMount, type MountAccess, type PkiRepositories } from "../pki-context.ts"
import {
  auditedSigner,
  changeMount,
  currentSnapshot,
  type Issued,
  readMount,
  recordIssued,
} from "../mounts/with-mount-snapshot.ts"
import type { CertificateRecord } from "../issuance/certificate.ts"
import type { IssuedCertificate } from "../issuance/certificate-api.ts"
import { certify } from "../issuance/certify.ts"
import { namesOf } from "../issuance/leaf.ts"
import { readSigningRequest } from "../issuance/issue-request.ts"
import { certificationPaths } from "../issuers/chain.ts"
import { filledUrls } from "../issuers/authority-urls.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { assertRsaExponent, type PresentedKey, presentedKey } from "../keys/key-check.ts"
import { signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mounts/mount.ts"
import type { Identity } from "../names/identity-template.ts"
import { isKeyType, keyBitsProblem } from "../policy/key-strength.ts"
import {
  type ExternalPolicy,
  type ExternalPolicyView,
  type IssuanceMode,
  type PolicyAnswer,
  type PolicyIdentity,
  type PolicyIssueRequest,
  PolicyPending,
  type PolicyQuestion,
  PolicyRefused,
  type PolicyRequest,
  type PolicyService,
  type PolicySignRequest,
} from "./external-policy.ts"
import {
  changeExternalPolicy,
  type ExternalPolicyInput,
  type ExternalPolicySettings,
} from "./external-policy-settings.ts"
import { overlay, readPolicyTemplate, signatureChoiceOf } from "./overlay.ts"

const clientKeySecret = "external-policy-client-key"

export class ExternalPolicyService implements ExternalPolicy {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async get(): Promise<ExternalPolicyView> {
    authorizeOnMount(this.#access, "read", "config/external-policy")
    return this.#view(await currentSnapshot(this.#access))
  }

  async configure(input: ExternalPolicyInput): Promise<ExternalPolicyView> {
    authorizeOnMount(this.#access, ["create", "update"], "config/external-policy")
    const now = this.#access.context.runtime.clock.now()
    await changeMount(this.#access, async ({ mount, settings }, { mountSettings }) => {
      const changed = changeExternalPolicy(settings.externalPolicy, input, now)
      await mountSettings.save(mount.id, "externalPolicy", changed.settings)
      if (changed.clientKey !== undefined)
        await mountSettings.saveSecret(mount.id, clientKeySecret, changed.clientKey?.der("pkcs8"))
    })
    return this.#view(await currentSnapshot(this.#access))
  }

  async issue(request: PolicyIssueRequest): Promise<IssuedCertificate> {
    this.#authorize("issue", request)
    const algorithm = algorithmOf(request)
    await usableService(this.#access, request)
    const privateKey = await this.#access.context.keyGenerator.generate(algorithm)
    const subject = {
      publicKey: privateKey.publicKey,
      csr: await emptyRequest(this.#access.context.signingKeys.fromPrivateKey(privateKey)),
    }
    return { ...(await decide(this.#access, "issue", request, subject)), privateKey }
  }

  async sign(request: PolicySignRequest): Promise<IssuedCertificate> {
    this.#authorize("sign", request)
    return decide(this.#access, "sign", request, subjectOf(request))
  }

  async signIntermediate(request: PolicySignRequest): Promise<IssuedCertificate> {
    this.#authorize("sign-intermediate", request)
    return decide(this.#access, "ica", request, subjectOf(request))
  }

  #authorize(verb: string, { policy, issuerRef }: PolicyRequest): void {
    const path = `external-policy/${verb}${policy === undefined ? "" : `/${policy}`}`
    authorizeOnMount(this.#access, ["create", "update"], issuerRef === undefined ? path : `issuer/${issuerRef}/${path}`)
  }

  #view({ mount, settings }: MountSnapshot): ExternalPolicyView {
    const { externalPolicy } = settings
    const last = this.#access.context.policyServiceActivity.last(mount.id)
    return {
      settings: externalPolicy,
      validated: last !== undefined && last.settingsOf === externalPolicy.updatedAt,
      lastSuccessfulRequest: last?.at ?? null,
    }
  }
}

/**
 * Issues a certificate for a request whose names the client has proved to control. It checks no permission, and stores the
 * certificate even if the policy service decides otherwise. It is a function, so that no method of a mount exposes it.
 */
export function signProved<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  request: PolicySignRequest,
  proved: ProvedRequest<Repositories>,
): Promise<IssuedCertificate> {
  return decide(access, "sign", request, subjectOf(request), proved)
}

async function decide<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  mode: IssuanceMode,
  request: PolicyRequest,
  subject: Subject,
  proved?: ProvedRequest<Repositories>,
): Promise<IssuedCertificate> {
  const { snapshot, service, identity, issuer } = await usableService(access, request)
  const answer = await access.context.policyClient(
    service,
    policyQuestion(access, mode, request, subject, { snapshot, identity, issuer }),
  )
  const { mount, settings } = snapshot
  const { clock } = access.context.runtime
  access.context.policyServiceActivity.succeeded(mount.id, {
    at: clock.now(),
    settingsOf: settings.externalPolicy.updatedAt,
  })
  if (answer.kind === "pending") throw new PolicyPending(answer.retryAfterMs)
  if (answer.kind === "refused") throw new PolicyRefused(answer.reason)
  return recordIssued(access, (current) => sign(access, mode, request, subject, answer, current, proved))
}

/** Returns the configured service and the issuer. Throws if the mount has no policy service, or no such issuer. */
async function usableService<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  { issuerRef }: PolicyRequest,
) {
  const { caller } = access
  const usable = await readMount(access, async (snapshot, { mountSettings }) => {
    const { mount, settings } = snapshot
    const { externalPolicy } = settings
    if (!externalPolicy.enabled) throw unprocessable("external policy is not enabled on this mount")
    const issuer = issuerRef === undefined ? findIssuer(snapshot, "default") : issuerOf(snapshot, issuerRef)
    const key =
      externalPolicy.clientCertificates === "" ? undefined : await mountSettings.secret(mount.id, clientKeySecret)
    return {
      snapshot,
      service: serviceOf(externalPolicy, key),
      issuer,
    }
  })
  return { ...usable, identity: await identityOf(caller, access.context.storage) }
}

function policyQuestion<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  mode: IssuanceMode,
  request: PolicyRequest,
  { csr }: Subject,
  { snapshot, identity, issuer }: Known,
): PolicyQuestion {
  const { mount, settings } = snapshot
  const { defaultMs, maximumMs } = leaseTtls(mount.config)
  return {
    id: newUuid(access.context.runtime.random),
    mode,
    csr,
    parameters: request.parameters,
    identity: identity && selected(identity, settings.externalPolicy),
    policyName: request.policy ?? "",
    mountPath: access.mountPath,
    issuer: issuer && {
      id: issuer.id,
      name: issuer.name ?? "",
      certificate: `${writePem("CERTIFICATE", issuer.certificate)}\n`,
      urls: filledUrls(issuer, settings).urls,
      leafNotAfterBehavior: issuer.settings.leafNotAfterBehavior,
    },
    defaultTtlMs: defaultMs,
    maxTtlMs: maximumMs,
  }
}

async function sign<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  mode: IssuanceMode,
  { issuerRef, removeRootsFromChain = false }: PolicyRequest,
  { publicKey, presented }: Subject,
  answer: Allowed,
  snapshot: MountSnapshot,
  proved: ProvedRequest<Repositories> | undefined,
): Promise<Issued<IssuedCertificate, Repositories>> {
  const { clock, random } = access.context.runtime
  const template = readPolicyTemplate(answer.template)
  const names = {
    subject: template.certificate.subjectName,
    subjectAltName: template.values.subjectAltName ?? [],
  }
  proved?.rejectOthers(names)
  const issuer = chosenIssuer(snapshot, answer, issuerRef)
  const signer = await signerOf(access.context.signingKeys, snapshot, issuer, "issuing-certificates")
  const { content, validity, warnings } = overlay(template, {
    mode,
    publicKey,
    paths: certificationPaths(issuer, snapshot.issuers),
    validity: {
      mountTtls: leaseTtls(snapshot.mount.config),
      issuer: {
        notBefore: issuer.parsed.notBefore,
        notAfter: issuer.parsed.notAfter,
        leafNotAfterBehavior: issuer.settings.leafNotAfterBehavior,
      },
      now: clock.now(),
    },
  })
  const serialNumber = newSerialNumber(random)
  const certificate = await certify(
    content,
    serialNumber,
    auditedSigner(access, signer, serialNumber),
    signatureChoiceOf(template, signer.key.algorithm),
  )
  const record: CertificateRecord = {
    mountId: snapshot.mount.id,
    serialNumber,
    certificate,
    issuerId: issuer.id,
    role: null,
    ...namesOf(names),
    ...validity,
  }
  const value: IssuedCertificate = {
    certificate,
    issuingCa: issuer.certificate,
    caChain: removeRootsFromChain ? signer.chainWithoutRoots : signer.chain,
    serialNumber,
    ...validity,
    privateKey: undefined,
    lease: undefined,
    warnings: [...answer.warnings, ...leaseWarnings(answer), ...warnings, ...signer.warnings],
  }
  const storedCertificate = answer.store || proved !== undefined ? record : undefined
  return {
    issuance: { certificate: storedCertificate, metadata: undefined, lease: undefined },
    value,
    presented,
    settle: proved && ((repositories) => proved.settle(repositories, record)),
  }
}

/** Names that the client has proved to control, and the work that the transaction of the certificate includes. */
export interface ProvedRequest<Repositories extends PkiRepositories = PkiRepositories> {
  /** Throws if the template has any other name. */
  rejectOthers(names: { readonly subject: DistinguishedName; readonly subjectAltName: readonly GeneralName[] }): void
  settle(repositories: Repositories, record: CertificateRecord): Promise<void>
}

type Allowed = PolicyAnswer & { readonly kind: "allowed" }

interface Subject {
  readonly publicKey: PublicKey
  /** PEM. */
  readonly csr: string
  readonly presented?: PresentedKey
}

interface Known {
  readonly snapshot: MountSnapshot
  readonly identity: Identity | undefined
  readonly issuer: ParsedIssuer | undefined
}

function algorithmOf({ keyType = "rsa", keyBits = 0 }: PolicyIssueRequest) {
  if (!isKeyType(keyType))
    throw invalid([{ field: ["keyType"], detail: `unknown key type ${JSON.stringify(keyType)}` }])
  const algorithm = keyAlgorithm(keyType, keyBits)
  if (algorithm !== undefined) return algorithm
  throw invalid([{ field: ["keyBits"], detail: keyBitsProblem(keyType, keyBits) ?? "key_bits is not supported" }])
}

/** Returns a CSR with an empty subject, which contains only the key and the proof of its possession. */
async function emptyRequest(key: SigningKey): Promise<string> {
  const info = encodeCertificationRequestInfo({
    subject: encodeName([]),
    subjectPublicKeyInfo: key.spki,
    extensions: [],
  })
  const algorithm = chooseSignatureAlgorithm(key.algorithm, { signatureBits: 0, usePss: false })
  const signature = await key.sign(info, algorithm)
  return requestPem(assembleCertificationRequest(info, signatureAlgorithmIdentifier(algorithm), signature))
}

function subjectOf({ csr }: PolicySignRequest): Subject {
  const { request, key } = readSigningRequest(csr)
  const presented = presentedKey(key, "csr")
  assertRsaExponent(presented)
  return { publicKey: key, csr: requestPem(request.der), presented }
}

const requestPem = (der: Uint8Array): string => `${writePem("CERTIFICATE REQUEST", der)}\n`

function serviceOf(settings: ExternalPolicySettings, key: Uint8Array | undefined): PolicyService {
  const { trustedCa, trustedLeafCertificateBundle: pinned, clientCertificates: certificates } = settings
  return {
    url: settings.externalServiceUrl,
    timeoutMs: settings.timeoutMs,
    trust: pinned === "" ? { kind: "authorities", certificates: trustedCa } : { kind: "pinned", certificates: pinned },
    ...(key === undefined
      ? {}
      : { identity: { certificates, privateKey: readPrivateKey(key, "PKCS#8").pem("pkcs8") } }),
  }
}

/** Selects the parts of the identity that the mount is configured to send. */
const selected = ({ entity, groups }: Identity, settings: ExternalPolicySettings): PolicyIdentity => ({
  entityId: entity.id,
  ...(settings.entityJmespath === "@" ? { entity: { ...entity } } : {}),
  ...(settings.groupJmespath === "@" ? { groups } : {}),
})

/** Returns the issuer that the service chose, else the issuer of the path. */
function chosenIssuer(snapshot: MountSnapshot, { issuerRef }: Allowed, proposed: string | undefined): ParsedIssuer {
  if (issuerRef === undefined) return issuerOf(snapshot, proposed ?? "default")
  const issuer = findIssuer(snapshot, issuerRef)
  if (issuer !== undefined) return issuer
  throw unprocessable(`The external policy service chose an unknown issuer: ${issuerRef}`)
}

const leaseWarnings = ({ lease }: Allowed): readonly string[] =>
  lease ? ["the external policy service requested a lease, but certificates that it approves have no lease"] : []
