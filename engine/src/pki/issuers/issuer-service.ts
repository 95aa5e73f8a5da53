import { invalid } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import {
  basicConstraints,
  keyUsage,
  subjectKeyIdentifier as subjectKeyIdentifierExtension,
} from "../../x509/extensions.ts"
import { keyAlgorithm } from "../../x509/key-algorithm.ts"
import { encodeName } from "../../x509/name.ts"
import { subjectKeyIdentifier } from "../../x509/public-key.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import { signingKey } from "../../x509/signing-key.ts"
import { AuthorityService } from "../authority-service.ts"
import { certify } from "../issue/certify.ts"
import { decideValidity } from "../issue/validity.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { leaseTtls } from "../mount.ts"
import { subjectOf } from "../names/subject.ts"
import { isKeyType, resolveKeyBits } from "../policy/key-strength.ts"
import { refuseViolations } from "../policy/violation.ts"
import { roleDefaults } from "../roles/role.ts"
import { filledUrls } from "./authority-urls.ts"
import { defaultIssuerSettings, type Issuer } from "./issuer.ts"
import { issuerExtensions } from "./issuer-signer.ts"
import type { GeneratedRoot, Issuers, RootInput } from "./issuers.ts"

export class IssuerService extends AuthorityService implements Issuers {
  async generateRoot(input: RootInput): Promise<GeneratedRoot> {
    this.authorize(["create", "update"], "root/generate/internal")
    const { random, clock } = this.context.runtime
    const { keyType = "rsa", keyBits = 0, commonName = "", signatureBits = 0, usePss = false } = input
    const algorithm = isKeyType(keyType) ? keyAlgorithm(keyType, resolveKeyBits(keyType, keyBits)) : undefined
    if (algorithm === undefined)
      throw invalid([{ field: ["keyType"], detail: `no key of type ${keyType} with ${keyBits} bits is made` }])
    const before = await this.current()
    const now = clock.now()
    const { validity, violations, warnings } = decideValidity(
      { ttlMs: input.ttlMs ?? 0, notBefore: null, notAfter: input.notAfter ?? null },
      {
        rules: roleDefaults,
        mountTtls: leaseTtls(before.mount.config),
        overMaximum: "clamp",
        issuer: undefined,
        beyondIssuer: "as-issuer-says",
        now,
      },
    )
    refuseViolations(violations)
    const privateKey = await this.context.keyGenerator.generate(algorithm)
    const key = signingKey(privateKey)
    const identifier = subjectKeyIdentifier(key)
    const id = newId("iss", random)
    const name = encodeName(
      subjectOf({
        country: [],
        organization: [],
        ou: [],
        locality: [],
        province: [],
        streetAddress: [],
        postalCode: [],
        serialNumber: "",
        userIds: [],
        ...input,
        commonName,
      }),
    )
    const { urls } = filledUrls({ id, settings: defaultIssuerSettings }, before.settings)
    const { maxPathLength = -1 } = input
    const extensions = [
      basicConstraints({ isCa: true, ...(maxPathLength < 0 ? {} : { maxPathLength }) }),
      keyUsage(["digitalSignature", "keyCertSign", "cRLSign"]),
      subjectKeyIdentifierExtension(identifier),
    ]
    const serialNumber = newSerialNumber(random)
    const keyId = newId("key", random)
    const use = { mount: this.mountPath, keyId, issuerId: id, purpose: "certificate", serialNumber } as const
    const certificate = await certify(
      { serialNumber, ...validity, subject: name, publicKey: key.spki, extensions },
      {
        name,
        key: auditedSigningKey(key, use, this.recordKeyUse),
        extensions: issuerExtensions(identifier, urls),
      },
      { signatureBits, usePss },
    )
    const caKey = {
      id: keyId,
      mountId: before.mount.id,
      name: input.keyName ?? null,
      publicKey: key.spki,
      createdAt: now,
    }
    const issuer: Issuer = {
      id,
      mountId: before.mount.id,
      name: input.issuerName ?? null,
      keyId: caKey.id,
      certificate,
      settings: defaultIssuerSettings,
      revokedAt: null,
      createdAt: now,
    }
    await this.transact(async ({ mount, settings }, { caKeys, issuers, certificates, mountSettings }) => {
      await caKeys.insert(caKey, privateKey.der("pkcs8"))
      await issuers.insert(issuer)
      await certificates.insert({
        mountId: mount.id,
        serialNumber,
        certificate,
        issuerId: id,
        role: null,
        commonName,
        names: commonName === "" ? [] : [commonName.toLowerCase()],
        ...validity,
      })
      if (settings.issuers.default === null)
        await mountSettings.save(mount.id, "issuers", { ...settings.issuers, default: id })
      if (settings.keys.default === null) await mountSettings.save(mount.id, "keys", { default: caKey.id })
    })
    return {
      issuerId: id,
      issuerName: issuer.name,
      keyId: caKey.id,
      keyName: caKey.name,
      certificate,
      serialNumber,
      notAfter: validity.notAfter,
      privateKey: undefined,
      warnings,
    }
  }
}
