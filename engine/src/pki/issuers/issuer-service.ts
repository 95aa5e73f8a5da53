import { invalid } from "../../core/errors.ts"
import { type IssuerId, type KeyId, newId } from "../../core/ids.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import { subjectKeyIdentifier as subjectKeyIdentifierExtension } from "../../x509/extensions.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { readPublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import { type Authority, keyOf } from "../authority.ts"
import { AuthorityService } from "../authority-service.ts"
import { type Allowances, noAllowances } from "../certificates/certificates.ts"
import type { CertificateRecord } from "../certificates/certificate.ts"
import { certify } from "../issue/certify.ts"
import { namesOf } from "../issue/leaf.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { type KeyFields, type KeyRequest, type ReadKeyRequest, readKeyRequest } from "../keys/key-request.ts"
import { keyProvider, storeKey, type UsedKey } from "../keys/used-key.ts"
import { leaseTtls } from "../mount.ts"
import { referenceNameProblem } from "../names/reference-name.ts"
import { type ApprovedAuthority, approveAuthority, type AuthorityTerms } from "../policy/approve-authority.ts"
import { shown, type Violation, violation } from "../policy/violation.ts"
import { filledUrls, namesNothing } from "./authority-urls.ts"
import { readBundle } from "./bundle.ts"
import { defaultsAfter } from "./default-issuer.ts"
import { planImport } from "./import-plan.ts"
import { defaultIssuerSettings, type Issuer } from "./issuer.ts"
import { issuerExtensions } from "./issuer-signer.ts"
import type {
  GeneratedIntermediate,
  GeneratedRoot,
  ImportedBundle,
  ImportEndpoint,
  IntermediateEndpoint,
  IntermediateInput,
  RootEndpoint,
  RootInput,
  ServedIssuers,
} from "./issuers.ts"

const writing = ["create", "update"] as const

export class IssuerService extends AuthorityService implements ServedIssuers {
  async generateRoot(
    input: RootInput,
    endpoint: RootEndpoint = "root/generate",
    allowances = noAllowances,
  ): Promise<GeneratedRoot> {
    this.authorize(writing, `${endpoint}/${input.keySource ?? "internal"}`)
    const name = input.issuerName || (endpoint === "root/rotate" ? "next" : null)
    const asked = readKeyRequest(input)
    const violations = [...asked.violations, ...nameViolations(name)]
    // No key is made before all is known to be right.
    const content = this.#approved(await this.current(), input, { request: asked.request, violations, allowances })
    const signature = signatureChoice(input)
    const keyFor = keyProvider(this.context, requested(asked.request))
    return this.changed(async (authority) => {
      if (name !== null) refuseTakenIssuerName(authority, name)
      const used = await keyFor(authority)
      const id = newId("iss", this.context.runtime.random)
      const { certificate, serialNumber, isUnlocated } = await this.#rootCertificate(authority, content, used, {
        id,
        signature,
      })
      const issuer: Issuer = {
        id,
        mountId: authority.mount.id,
        name,
        keyId: used.key.id,
        certificate,
        settings: defaultIssuerSettings,
        revokedAt: null,
        createdAt: this.context.runtime.clock.now(),
      }
      const defaults = defaultsAfter(authority.settings, [issuer], newKeyOf(used))
      const warnings = [
        ...asked.warnings,
        ...content.warnings,
        ...(isUnlocated ? [unlocatedWarning] : []),
        ...defaults.warnings,
      ]
      const record: CertificateRecord = {
        mountId: authority.mount.id,
        serialNumber,
        certificate,
        issuerId: id,
        role: null,
        ...namesOf(content),
        ...content.validity,
      }
      return {
        store: async ({ mount }, { caKeys, issuers, certificates, mountSettings }) => {
          await storeKey(used, caKeys)
          await issuers.insert(issuer)
          await certificates.insert(record)
          if (defaults.issuers !== undefined) await mountSettings.save(mount.id, "issuers", defaults.issuers)
          if (defaults.keys !== undefined) await mountSettings.save(mount.id, "keys", defaults.keys)
        },
        value: {
          issuerId: id,
          issuerName: name,
          keyId: used.key.id,
          keyName: used.key.name,
          certificate,
          serialNumber,
          notAfter: content.validity.notAfter,
          privateKey: used.exported,
          warnings,
        },
      }
    })
  }

  async generateIntermediate(
    input: IntermediateInput,
    endpoint: IntermediateEndpoint = "intermediate/generate",
    allowances = noAllowances,
  ): Promise<GeneratedIntermediate> {
    const isCross = endpoint === "intermediate/cross-sign"
    const fields: KeyFields = isCross ? { ...input, keySource: "existing" } : input
    this.authorize(writing, isCross ? endpoint : `${endpoint}/${fields.keySource ?? "internal"}`)
    const asked = readKeyRequest(fields)
    const { request, violations } = asked
    const content = this.#approved(await this.current(), input, {
      request,
      violations,
      mayBeNameless: true,
      allowances,
    })
    const keyFor = keyProvider(this.context, requested(asked.request))
    return this.changed(async (authority) => {
      const used = await keyFor(authority)
      const defaults = defaultsAfter(authority.settings, [], newKeyOf(used))
      return {
        store: async ({ mount }, { caKeys, mountSettings }) => {
          await storeKey(used, caKeys)
          if (defaults.keys !== undefined) await mountSettings.save(mount.id, "keys", defaults.keys)
        },
        value: {
          csr: await this.#signedRequest(content, used, input),
          keyId: used.key.id,
          keyName: used.key.name,
          privateKey: used.exported,
          warnings: [
            ...asked.warnings,
            ...content.warnings,
            ...(content.subject.length === 0 ? ["the subject is empty: whoever signs this must give it one"] : []),
          ],
        },
      }
    })
  }

  async import(pem: string, endpoint: ImportEndpoint = "issuers/import/bundle"): Promise<ImportedBundle> {
    this.authorize(writing, endpoint)
    const bundle = readBundle(pem, { keysAllowed: endpoint === "issuers/import/bundle" || endpoint === "config/ca" })
    const { random, clock } = this.context.runtime
    return this.transact(async (authority, stores) => {
      const plan = planImport(authority, bundle, {
        now: clock.now(),
        newIssuerId: () => newId("iss", random),
        newKeyId: () => newId("key", random),
      })
      for (const { key, privateKey } of plan.newKeys) await stores.caKeys.insert(key, privateKey.der("pkcs8"))
      for (const issuer of plan.newIssuers) await stores.issuers.insert(issuer)
      for (const record of plan.records) {
        // An intermediate that the mount has signed is recorded; and strangers may share a serial number.
        const known = await stores.certificates.find(record.mountId, record.serialNumber)
        if (known === undefined) await stores.certificates.insert(record)
      }
      for (const issuer of plan.completedIssuers) await stores.issuers.save(issuer)
      const { mount } = authority
      if (plan.issuersSettings !== undefined) await stores.mountSettings.save(mount.id, "issuers", plan.issuersSettings)
      if (plan.keysSettings !== undefined) await stores.mountSettings.save(mount.id, "keys", plan.keysSettings)
      return plan.result
    })
  }

  #approved(
    authority: Authority,
    input: RootInput | IntermediateInput,
    { request, allowances, ...more }: Asked,
  ): ApprovedAuthority {
    return approveAuthority(input, undefined, {
      ...more,
      mountTtls: leaseTtls(authority.mount.config),
      overMaximum: allowances.clampTtl ? "clamp" : "refuse",
      issuer: undefined,
      issuerMaxPathLength: undefined,
      enforceLeafNotAfterBehavior: false,
      keyType: request === undefined ? "rsa" : algorithmOf(authority, request).type,
      now: this.context.runtime.clock.now(),
    })
  }

  async #rootCertificate(
    authority: Authority,
    content: ApprovedAuthority,
    { signing, key }: UsedKey,
    { id, signature }: { readonly id: IssuerId; readonly signature: SignatureChoice },
  ) {
    const serialNumber = newSerialNumber(this.context.runtime.random)
    const { urls } = filledUrls({ id, settings: defaultIssuerSettings }, authority.settings)
    const name = content.subjectDer
    const identifier = content.subjectKeyIdentifier ?? subjectKeyIdentifier(signing)
    const use = { mount: this.mountPath, keyId: key.id, issuerId: id, purpose: "certificate", serialNumber } as const
    const certificate = await certify(
      {
        serialNumber,
        ...content.validity,
        subject: name,
        publicKey: key.publicKey,
        extensions: [...content.extensions, subjectKeyIdentifierExtension(identifier)],
      },
      {
        name,
        key: auditedSigningKey(signing, use, this.recordKeyUse),
        extensions: issuerExtensions(identifier, urls),
      },
      signature,
    )
    return { certificate, serialNumber, isUnlocated: namesNothing(urls) }
  }

  async #signedRequest(
    content: ApprovedAuthority,
    { signing, key }: UsedKey,
    input: IntermediateInput,
  ): Promise<Uint8Array> {
    const algorithm = chooseSignatureAlgorithm(signing.algorithm, signatureChoice(input))
    const info = encodeCertificationRequestInfo({
      subject: content.subjectDer,
      subjectPublicKeyInfo: key.publicKey,
      extensions: content.extensions.filter(({ oid }) => isAskedFor(oid, input)),
    })
    const use = { mount: this.mountPath, keyId: key.id, purpose: "certificate-request" } as const
    const signature = await auditedSigningKey(signing, use, this.recordKeyUse).sign(info, algorithm)
    return assembleCertificationRequest(info, signatureAlgorithmIdentifier(algorithm), signature)
  }
}

interface Asked extends Pick<AuthorityTerms, "violations" | "mayBeNameless">, Pick<ReadKeyRequest, "request"> {
  readonly allowances: Allowances
}

const signatureChoice = ({ signatureBits = 0, usePss = false }: Partial<SignatureChoice>): SignatureChoice => ({
  signatureBits,
  usePss,
})

/** Whoever signs a request decides about most of what a CA's certificate says, so little is asked for that was not said. */
function isAskedFor(oid: string, { addBasicConstraints = false, keyUsage }: IntermediateInput): boolean {
  switch (oid) {
    case oids.basicConstraints:
      return addBasicConstraints
    case oids.keyUsage:
      return keyUsage !== undefined
    default:
      return true
  }
}

/** What the key will be, or is. */
const algorithmOf = (authority: Authority, request: KeyRequest): KeyAlgorithm =>
  request.kind === "new" ? request.algorithm : readPublicKey(keyOf(authority, request.reference).publicKey).algorithm

const unlocatedWarning =
  "neither this mount nor the certificate names URLs at which certificates, revocation lists or OCSP responders are found; set them in config/urls before issuing"

const newKeyOf = ({ key, made }: UsedKey): readonly KeyId[] => (made === undefined ? [] : [key.id])

function requested(request: KeyRequest | undefined): KeyRequest {
  if (request === undefined) throw new TypeError("a key request with violations was let through")
  return request
}

function nameViolations(name: string | null): readonly Violation[] {
  const problem = name === null ? undefined : referenceNameProblem(name)
  return problem === undefined
    ? []
    : [violation("nameIsAReference", "issuerName", shown(name ?? ""), `"issuer_name" ${problem}`)]
}

/** Ids count as names, so that a reference never has two meanings. */
export function refuseTakenIssuerName({ issuers }: Authority, name: string, own?: Issuer): void {
  if (issuers.some((issuer) => issuer.id !== own?.id && (issuer.name === name || issuer.id === name)))
    throw invalid([{ field: ["issuerName"], detail: "issuer name already in use" }])
}
