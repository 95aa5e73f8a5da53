// Use cases around the external policy service. It is asked outside of any transaction and once, whatever becomes of its
// answer; the answer is laid over the mount as that stands when the certificate is signed.
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
import { identityOf } from "../access/caller-identity.ts"
import { type MountSnapshot, findIssuer, issuerOf } from "../authority.ts"
import { AuthorityService, type Made, type PkiStores } from "../authority-service.ts"
import type { CertificateRecord } from "../certificates/certificate.ts"
import type { IssuedCertificate } from "../certificates/certificates.ts"
import { certify } from "../issue/certify.ts"
import { namesOf } from "../issue/leaf.ts"
import { readSigningRequest } from "../issue/signing-request.ts"
import { certificationPaths } from "../issuers/certification-paths.ts"
import { filledUrls } from "../issuers/authority-urls.ts"
import type { HeldIssuer } from "../issuers/held-issuer.ts"
import { assertRsaExponent, type PresentedKey, presentedKey } from "../keys/key-check.ts"
import { signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mount.ts"
import type { Identity } from "../names/identity-template.ts"
import { isKeyType, keyBitsProblem } from "../policy/key-strength.ts"
import type {
  ExternalPolicy,
  ExternalPolicyView,
  PolicyIssueRequest,
  PolicyRequest,
  PolicySignRequest,
} from "./external-policy.ts"
import {
  changeExternalPolicy,
  type ExternalPolicyInput,
  type ExternalPolicySettings,
} from "./external-policy-settings.ts"
import { overlay, readPolicyTemplate, signatureChoiceOf } from "./overlay.ts"
import type { IssuanceMode, PolicyAnswer, PolicyIdentity, PolicyQuestion, PolicyService } from "./policy-client.ts"

const clientKeySecret = "external-policy-client-key"

export class ExternalPolicyService extends AuthorityService implements ExternalPolicy {
  async get(): Promise<ExternalPolicyView> {
    this.authorize("read", "config/external-policy")
    return this.#view(await this.current())
  }

  async configure(input: ExternalPolicyInput): Promise<ExternalPolicyView> {
    this.authorize(["create", "update"], "config/external-policy")
    const now = this.context.runtime.clock.now()
    await this.changeMount(async ({ mount, settings }, { mountSettings }) => {
      const changed = changeExternalPolicy(settings.externalPolicy, input, now)
      await mountSettings.save(mount.id, "externalPolicy", changed.settings)
      if (changed.clientKey !== undefined)
        await mountSettings.saveSecret(mount.id, clientKeySecret, changed.clientKey?.der("pkcs8"))
    })
    return this.#view(await this.current())
  }

  async issue(request: PolicyIssueRequest): Promise<IssuedCertificate> {
    this.#authorize("issue", request)
    const algorithm = algorithmOf(request)
    await this.#usable(request)
    const privateKey = await this.context.keyGenerator.generate(algorithm)
    const subject = {
      publicKey: privateKey.publicKey,
      csr: await emptyRequest(this.context.signingKeys.held(privateKey)),
    }
    return { ...(await this.#decided("issue", request, subject)), privateKey }
  }

  async sign(request: PolicySignRequest): Promise<IssuedCertificate> {
    this.#authorize("sign", request)
    return this.#decided("sign", request, subjectOf(request))
  }

  async signIntermediate(request: PolicySignRequest): Promise<IssuedCertificate> {
    this.#authorize("sign-intermediate", request)
    return this.#decided("ica", request, subjectOf(request))
  }

  /**
   * For one whose names have been proved: nothing hangs on the caller, and it is kept whatever the policy service says of that.
   * Static, so that nobody reaches it by way of a mount, where every method asks for a right.
   */
  static signProved(
    service: ExternalPolicyService,
    request: PolicySignRequest,
    proved: ProvedRequest,
  ): Promise<IssuedCertificate> {
    return service.#decided("sign", request, subjectOf(request), proved)
  }

  #authorize(verb: string, { policy, issuerRef }: PolicyRequest): void {
    const path = `external-policy/${verb}${policy === undefined ? "" : `/${policy}`}`
    this.authorize(["create", "update"], issuerRef === undefined ? path : `issuer/${issuerRef}/${path}`)
  }

  async #decided(
    mode: IssuanceMode,
    request: PolicyRequest,
    subject: Subject,
    proved?: ProvedRequest,
  ): Promise<IssuedCertificate> {
    const { snapshot, service, identity, issuer } = await this.#usable(request)
    const answer = await this.context.policyClient(
      service,
      this.#question(mode, request, subject, { snapshot, identity, issuer }),
    )
    const { mount, settings } = snapshot
    const { clock } = this.context.runtime
    this.context.policyServiceActivity.succeeded(mount.id, {
      at: clock.now(),
      settingsOf: settings.externalPolicy.updatedAt,
    })
    if (answer.kind === "refused") throw unprocessable(answer.reason)
    return this.recorded((current) => this.#signed(mode, request, subject, answer, current, proved))
  }

  /** Throws where no service could be asked, or for an issuer that is not there. */
  async #usable({ issuerRef }: PolicyRequest) {
    const { caller } = this
    const usable = await this.read(async (snapshot, { mountSettings }) => {
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
    return { ...usable, identity: await identityOf(caller, this.context.storage) }
  }

  #question(
    mode: IssuanceMode,
    request: PolicyRequest,
    { csr }: Subject,
    { snapshot, identity, issuer }: Known,
  ): PolicyQuestion {
    const { mount, settings } = snapshot
    const { defaultMs, maximumMs } = leaseTtls(mount.config)
    return {
      id: newUuid(this.context.runtime.random),
      mode,
      csr,
      parameters: request.parameters,
      identity: identity && selected(identity, settings.externalPolicy),
      policyName: request.policy ?? "",
      mountPath: this.mountPath,
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

  async #signed(
    mode: IssuanceMode,
    { issuerRef, removeRootsFromChain = false }: PolicyRequest,
    { publicKey, presented }: Subject,
    answer: Allowed,
    snapshot: MountSnapshot,
    proved: ProvedRequest | undefined,
  ): Promise<Made<IssuedCertificate>> {
    const { clock, random } = this.context.runtime
    const template = readPolicyTemplate(answer.template)
    const names = {
      subject: template.certificate.subjectName,
      subjectAltName: template.values.subjectAltName ?? [],
    }
    proved?.refuseOthers(names)
    const issuer = chosenIssuer(snapshot, answer, issuerRef)
    const signer = await signerOf(this.context.signingKeys, snapshot, issuer, "issuing-certificates")
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
      this.recording(signer, serialNumber),
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
    const certificateKept = answer.store || proved !== undefined ? record : undefined
    return {
      issuance: { certificate: certificateKept, metadata: undefined, lease: undefined },
      value,
      presented,
      settle: proved && ((stores) => proved.settle(stores, record)),
    }
  }

  #view({ mount, settings }: MountSnapshot): ExternalPolicyView {
    const { externalPolicy } = settings
    const last = this.context.policyServiceActivity.last(mount.id)
    return {
      settings: externalPolicy,
      validated: last !== undefined && last.settingsOf === externalPolicy.updatedAt,
      lastSuccessfulRequest: last?.at ?? null,
    }
  }
}

/** Names that whoever asks has proved to have, and what becomes of the certificate. */
export interface ProvedRequest {
  /** Throws for a template that has any other name. */
  refuseOthers(names: { readonly subject: DistinguishedName; readonly subjectAltName: readonly GeneralName[] }): void
  settle(stores: PkiStores, record: CertificateRecord): Promise<void>
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
  readonly issuer: HeldIssuer | undefined
}

function algorithmOf({ keyType = "rsa", keyBits = 0 }: PolicyIssueRequest) {
  if (!isKeyType(keyType))
    throw invalid([{ field: ["keyType"], detail: `unknown key type ${JSON.stringify(keyType)}` }])
  const algorithm = keyAlgorithm(keyType, keyBits)
  if (algorithm !== undefined) return algorithm
  throw invalid([{ field: ["keyBits"], detail: keyBitsProblem(keyType, keyBits) ?? "no key of that size is made" }])
}

/** Nothing but the key, and the proof that it is there. */
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

/** What the mount lets out of it. */
const selected = ({ entity, groups }: Identity, settings: ExternalPolicySettings): PolicyIdentity => ({
  entityId: entity.id,
  ...(settings.entityJmespath === "@" ? { entity: { ...entity } } : {}),
  ...(settings.groupJmespath === "@" ? { groups } : {}),
})

/** Returns the issuer that the service chose, else the issuer of the path. */
function chosenIssuer(snapshot: MountSnapshot, { issuerRef }: Allowed, proposed: string | undefined): HeldIssuer {
  if (issuerRef === undefined) return issuerOf(snapshot, proposed ?? "default")
  const issuer = findIssuer(snapshot, issuerRef)
  if (issuer !== undefined) return issuer
  throw unprocessable(`The external policy service chose an issuer that is not there: ${issuerRef}`)
}

const leaseWarnings = ({ lease }: Allowed): readonly string[] =>
  lease ? ["the external policy service asked for a lease, but certificates that it decides on have none"] : []
