import type { KeyUse } from "../../core/audit.ts"
import { type KeyId, newId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { type MountSnapshot, findIssuer, issuerOf } from "../mounts/mount-snapshot.ts"
import { authorizeOnMount, type MountAccess, type PkiRepositories } from "../pki-context.ts"
import { changeMount, currentSnapshot, withMountSnapshot } from "../mounts/with-mount-snapshot.ts"
import { type KeyPage, pageOfKeys } from "../mounts/key-page.ts"
import { createdAfter } from "../mounts/mount.ts"
import { namesOf } from "../issuance/leaf.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { assertKeyAllowed, presentedKey } from "../keys/key-check.ts"
import type { KeyFields } from "../keys/key-request.ts"
import { keyProvider, storeKey, type UsedKey } from "../keys/used-key.ts"
import type { MountSettingsRepository } from "../mounts/mount-settings.ts"
import { listRevokedIssuer } from "../revocation/record-revocation.ts"
import { filledUrls, hasNoUrls } from "./authority-urls.ts"
import { planImport, readBundle, storeImport } from "./import-bundle.ts"
import { defaultsAfter, saveDefaults } from "./default-issuer.ts"
import { type ParsedIssuer, issuerValues } from "./parsed-issuer.ts"
import { asRevoked, changedIssuer, rejectTakenIssuerName, withoutSettings } from "./issuer-settings.ts"
import { defaultIssuerSettings, type Issuer } from "./issuer.ts"
import { afterChange, certificateOf, summariesOf, viewOf } from "./issuer-view.ts"
import type {
  GeneratedIntermediate,
  GeneratedRoot,
  ImportedBundle,
  ImportEndpoint,
  IntermediateEndpoint,
  IntermediateInput,
  IssuerInput,
  IssuerSummary,
  IssuerView,
  RootEndpoint,
  RootInput,
  SavedIssuer,
  ServedIssuerCertificate,
  ServedIssuers,
} from "./issuer-api.ts"
import { authorityCsr, newIntermediate, newRoot, selfSignedCertificate } from "./new-authority.ts"

const writing = ["create", "update"] as const

export class IssuerService implements ServedIssuers {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async generateRoot(input: RootInput, endpoint: RootEndpoint = "root/generate"): Promise<GeneratedRoot> {
    authorizeOnMount(this.#access, writing, `${endpoint}/${input.keySource ?? "internal"}`)
    const root = newRoot(await currentSnapshot(this.#access), input, { endpoint, now: this.#now() })
    const { name, content } = root
    const keyFor = keyProvider(this.#access.context, root.key)
    return withMountSnapshot(this.#access, async (snapshot) => {
      if (name !== null) rejectTakenIssuerName(snapshot, name)
      const mountId = snapshot.mount.id
      const used = await keyFor(snapshot)
      const id = newId("iss", this.#access.context.runtime.random)
      const serialNumber = newSerialNumber(this.#access.context.runtime.random)
      const { urls } = filledUrls({ id, settings: defaultIssuerSettings }, snapshot.settings)
      const key = this.#audited(used, { issuerId: id, purpose: "certificate", serialNumber })
      const certificate = await selfSignedCertificate(root, key, { serialNumber, urls })
      const issuer: Issuer = {
        id,
        mountId,
        name,
        keyId: used.key.id,
        certificate,
        settings: defaultIssuerSettings,
        revokedAt: null,
        createdAt: createdAfter(snapshot.issuers, this.#now()),
      }
      const defaults = defaultsAfter(snapshot.settings, [issuer], newKeyOf(used))
      return {
        presented: used.presented,
        store: async (current, repositories) => {
          await storeKey(current, used, repositories)
          await repositories.issuers.insert(issuer)
          await repositories.certificates.insert({
            mountId,
            serialNumber,
            certificate,
            issuerId: id,
            role: null,
            ...namesOf(content),
            ...content.validity,
          })
          await saveDefaults(mountId, defaults, repositories.mountSettings)
          await this.#touch(snapshot, repositories.mountSettings)
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
          warnings: [...root.warnings, ...(hasNoUrls(urls) ? [unlocatedWarning] : []), ...defaults.warnings],
        },
      }
    })
  }

  async generateIntermediate(
    input: IntermediateInput,
    endpoint: IntermediateEndpoint = "intermediate/generate",
  ): Promise<GeneratedIntermediate> {
    const isCross = endpoint === "intermediate/cross-sign"
    const key: KeyFields = isCross ? { keySource: "existing" } : {}
    authorizeOnMount(this.#access, writing, isCross ? endpoint : `${endpoint}/${input.keySource ?? "internal"}`)
    const intermediate = newIntermediate(await currentSnapshot(this.#access), input, { key, now: this.#now() })
    const keyFor = keyProvider(this.#access.context, intermediate.key)
    return withMountSnapshot(this.#access, async (snapshot) => {
      const used = await keyFor(snapshot)
      const defaults = defaultsAfter(snapshot.settings, [], newKeyOf(used))
      return {
        presented: used.presented,
        store: async (current, repositories) => {
          await storeKey(current, used, repositories)
          await saveDefaults(current.mount.id, defaults, repositories.mountSettings)
        },
        value: {
          csr: await authorityCsr(intermediate, this.#audited(used, { purpose: "certificate-request" }), input),
          keyId: used.key.id,
          keyName: used.key.name,
          privateKey: used.exported,
          warnings: intermediate.warnings,
        },
      }
    })
  }

  async import(pem: string, endpoint: ImportEndpoint = "issuers/import/bundle"): Promise<ImportedBundle> {
    authorizeOnMount(this.#access, writing, endpoint)
    const bundle = readBundle(pem, { keysAllowed: endpoint === "issuers/import/bundle" || endpoint === "config/ca" })
    const { random } = this.#access.context.runtime
    return changeMount(this.#access, async (snapshot, repositories) => {
      for (const { publicKey } of bundle.keys)
        await assertKeyAllowed(this.#access.context, repositories, presentedKey(publicKey, "pemBundle"))
      const plan = planImport(snapshot, bundle, {
        now: this.#now(),
        newIssuerId: () => newId("iss", random),
        newKeyId: () => newId("key", random),
      })
      const warnings = await storeImport(snapshot, plan, repositories)
      await this.#touch(snapshot, repositories.mountSettings)
      return { ...plan.result, warnings: [...plan.result.warnings, ...warnings] }
    })
  }

  async list(page?: KeyPage): Promise<readonly IssuerSummary[]> {
    return pageOfKeys(summariesOf(await currentSnapshot(this.#access)), ({ id }) => id, page)
  }

  async certificate(reference: string): Promise<ServedIssuerCertificate> {
    const snapshot = await currentSnapshot(this.#access)
    const issuer = issuerOf(snapshot, reference)
    const { revokedAt } = issuer
    return { ...certificateOf(snapshot, issuer), revokedAt, changedAt: snapshot.settings.history.issuersChangedAt }
  }

  async get(reference: string): Promise<IssuerView> {
    authorizeOnMount(this.#access, "read", `issuer/${reference}`)
    const snapshot = await currentSnapshot(this.#access)
    return viewOf(snapshot, issuerOf(snapshot, reference))
  }

  async replace(reference: string, input: IssuerInput): Promise<SavedIssuer> {
    authorizeOnMount(this.#access, writing, `issuer/${reference}`)
    return this.#change(reference, (snapshot, issuer) =>
      changedIssuer(snapshot, issuer, withoutSettings(issuer), input),
    )
  }

  async update(reference: string, patch: IssuerInput): Promise<SavedIssuer> {
    authorizeOnMount(this.#access, "patch", `issuer/${reference}`)
    return this.#change(reference, (snapshot, issuer) => changedIssuer(snapshot, issuer, issuer, patch))
  }

  async revoke(reference: string): Promise<SavedIssuer> {
    authorizeOnMount(this.#access, writing, `issuer/${reference}/revoke`)
    const now = this.#now()
    return this.#change(
      reference,
      ({ settings }, issuer) => {
        const isDefault = settings.issuers.default === issuer.id
        return {
          changed: asRevoked(issuer, now),
          warnings: isDefault
            ? [`issuer ${issuer.id} is still the default issuer, but can no longer issue certificates`]
            : [],
        }
      },
      (snapshot, repositories, issuer) => listRevokedIssuer(snapshot, repositories, issuer, issuer.revokedAt ?? now),
    )
  }

  async delete(reference: string): Promise<readonly string[]> {
    authorizeOnMount(this.#access, "delete", `issuer/${reference}`)
    return changeMount(this.#access, async (snapshot, { issuers, mountSettings }) => {
      const { mount, settings } = snapshot
      const issuer = findIssuer(snapshot, reference)
      if (issuer === undefined) return []
      await issuers.remove(issuer)
      await this.#touch(snapshot, mountSettings)
      if (settings.issuers.default !== issuer.id) return []
      await mountSettings.save(mount.id, "issuers", { ...settings.issuers, default: null })
      return [`issuer ${issuer.id} was the default issuer; the mount now has no default issuer`]
    })
  }

  async deleteAll(): Promise<readonly string[]> {
    authorizeOnMount(this.#access, "delete", "root", { sudo: true })
    return changeMount(this.#access, async (snapshot, { issuers, caKeys, mountSettings }) => {
      const { mount, settings, keys } = snapshot
      for (const issuer of snapshot.issuers) await issuers.remove(issuer)
      for (const key of keys.values()) await caKeys.remove(key)
      await mountSettings.save(mount.id, "issuers", { ...settings.issuers, default: null })
      await mountSettings.save(mount.id, "keys", { ...settings.keys, default: null })
      await this.#touch(snapshot, mountSettings)
      return [`deleted all ${snapshot.issuers.length} issuers and ${keys.size} keys of the mount`]
    })
  }

  #change(
    reference: string,
    rule: (
      snapshot: MountSnapshot,
      issuer: ParsedIssuer,
    ) => { readonly changed: Partial<Issuer>; readonly warnings: readonly string[] },
    also: (
      snapshot: MountSnapshot,
      repositories: PkiRepositories,
      issuer: ParsedIssuer,
    ) => Promise<void> = async () => {},
  ): Promise<SavedIssuer> {
    return changeMount(this.#access, async (snapshot, repositories) => {
      const { issuers, mountSettings } = repositories
      const issuer = issuerOf(snapshot, reference)
      const { changed, warnings } = rule(snapshot, issuer)
      const after = { ...issuerValues(issuer), ...changed }
      await issuers.save(after)
      await this.#touch(snapshot, mountSettings)
      await also(snapshot, repositories, issuer)
      return { issuer: afterChange(snapshot, after), warnings }
    })
  }

  /** Records that the public data of issuers changed. */
  #touch({ mount }: MountSnapshot, mountSettings: MountSettingsRepository): Promise<void> {
    return mountSettings.save(mount.id, "history", { issuersChangedAt: this.#now() })
  }

  #audited({ key, signing }: UsedKey, use: Omit<KeyUse, "mount" | "keyId" | "digest">): SigningKey {
    return auditedSigningKey(
      signing,
      { mount: this.#access.mountPath, keyId: key.id, ...use },
      this.#access.recordKeyUse,
    )
  }

  #now(): Instant {
    return this.#access.context.runtime.clock.now()
  }
}

const unlocatedWarning =
  "neither this mount nor the certificate has URLs of certificates, revocation lists or OCSP responders; set them in config/urls before issuing"

const newKeyOf = ({ key, made }: UsedKey): readonly KeyId[] => (made === undefined ? [] : [key.id])
