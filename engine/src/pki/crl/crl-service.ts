import { notFound, rejectFaults } from "../../core/errors.ts"
import { type MountSnapshot, findIssuer, issuerOf, rejectUnusable } from "../mounts/mount-snapshot.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import { changeMount, currentSnapshot, transactOnMount } from "../mounts/with-mount-snapshot.ts"
import { nextTurn } from "../../core/timers.ts"
import { crlListOf } from "./crl-list.ts"
import { readImportedList, recordImported, revokeListedIssuers } from "./imported-crl.ts"
import { refreshCrlsJob } from "./refresh-crls.ts"
import { type Shard, wholeList } from "./shard.ts"
import { type CrlPlan, planOf } from "./crl-plan.ts"
import type { CrlKind, CrlRequester } from "./crl-publisher.ts"
import { changeCrlSettings, type CrlSettings, type CrlSettingsPatch } from "./crl-settings.ts"
import type {
  Crl,
  CrlChoice,
  Crls,
  CrlSettingsView,
  ImportedCrl,
  ListNumbers,
  ResignInput,
  RevocationListInput,
  SignedList,
} from "./crl-api.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { revocationSignatureAlgorithm } from "../issuers/issuer-signer.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { buildList, combined, numberFaults, signList, type UnsignedList } from "./signed-crl.ts"

export class CrlService implements Crls {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async get({ issuerRef = "default", delta = false, shard = wholeList }: CrlChoice = {}): Promise<Crl | undefined> {
    const snapshot = await currentSnapshot(this.#access)
    if (issuerRef === "default" && findIssuer(snapshot, issuerRef) === undefined) return undefined
    const plan = planOf(snapshot, issuerOf(snapshot, issuerRef), knownShard(snapshot, shard))
    if (plan === undefined || (delta && !plan.settings.enableDelta)) return undefined
    return this.#access.context.crlPublisher.serve(plan, delta ? "delta" : "complete", this.#requester)
  }

  async rotate(): Promise<void> {
    authorizeOnMount(this.#access, "read", "crl/rotate")
    await this.#rotate("complete")
  }

  async rotateDelta(): Promise<void> {
    authorizeOnMount(this.#access, "read", "crl/rotate-delta")
    await this.#rotate("delta")
  }

  async settings(): Promise<CrlSettingsView> {
    authorizeOnMount(this.#access, "read", "config/crl")
    return viewOf((await currentSnapshot(this.#access)).settings.crl)
  }

  async configure(patch: CrlSettingsPatch): Promise<CrlSettingsView> {
    authorizeOnMount(this.#access, ["create", "update"], "config/crl")
    return changeMount(this.#access, async ({ mount, settings: { crl, ocspHistory } }, { mountSettings }) => {
      const { settings, faults } = changeCrlSettings(crl, patch)
      rejectFaults(faults)
      await mountSettings.save(mount.id, "crl", settings)
      if (patch.ocspUnknownSerials !== undefined && !ocspHistory.isUnknownSerialsSet)
        await mountSettings.save(mount.id, "ocspHistory", { ...ocspHistory, isUnknownSerialsSet: true })
      return viewOf(settings)
    })
  }

  async resign(issuerRef: string, input: ResignInput): Promise<SignedList> {
    authorizeOnMount(this.#access, ["create", "update"], `issuer/${issuerRef}/resign-crls`)
    return this.#signed(issuerRef, input, (issuer) => combined(input, issuer))
  }

  async signRevocationList(issuerRef: string, input: RevocationListInput): Promise<SignedList> {
    authorizeOnMount(this.#access, ["create", "update"], `issuer/${issuerRef}/sign-revocation-list`)
    return this.#signed(issuerRef, input, () => buildList(input))
  }

  async import(issuerRef: string, crl: string): Promise<ImportedCrl> {
    authorizeOnMount(this.#access, ["create", "update"], `issuer/${issuerRef}/crl/import`)
    const issuer = issuerOf(await currentSnapshot(this.#access), issuerRef)
    const now = this.#access.context.runtime.clock.now()
    const list = readImportedList(crl, issuer, now)
    const { number } = list
    // The number is stored first, so that no list with a lower number is published in between.
    if (number !== undefined)
      await transactOnMount(this.#access, async ({ mount, settings: { crlHistory } }, { mountSettings }) => {
        const { numberFloors } = crlHistory
        const name = crlListOf(issuer)
        if (number <= (numberFloors[name] ?? 0)) return
        const after = { ...crlHistory, numberFloors: { ...numberFloors, [name]: number } }
        await mountSettings.save(mount.id, "crlHistory", after)
      })
    let [importedCount, existingCount, strangerCount] = [0, 0, 0]
    // Existing revocations are skipped, so that an interrupted import can be repeated.
    for (let at = 0; at < list.entries.length; at += entriesPerWrite) {
      const counts = await transactOnMount(this.#access, (snapshot, repositories) =>
        recordImported(snapshot, repositories, issuer, list.entries.slice(at, at + entriesPerWrite), now),
      )
      importedCount += counts.imported
      existingCount += counts.existing
      strangerCount += counts.strangers
      await nextTurn()
    }
    await transactOnMount(this.#access, (snapshot, repositories) =>
      revokeListedIssuers(snapshot, repositories, issuer, list.entries),
    )
    const { crlPublisher, wakeJob } = this.#access.context
    if (crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
    const ofStrangers = `${strangerCount} entries were skipped: another issuer of this mount issued a certificate with their serial number`
    return {
      importedCount,
      existingCount,
      crlNumber: number ?? null,
      warnings: [...list.warnings, ...(strangerCount === 0 ? [] : [ofStrangers])],
    }
  }

  async #signed(
    issuerRef: string,
    numbers: ListNumbers,
    content: (issuer: ParsedIssuer) => UnsignedList,
  ): Promise<SignedList> {
    rejectFaults(numberFaults(numbers))
    const issuer = issuerOf(await currentSnapshot(this.#access), issuerRef)
    rejectUnusable(issuer, "crl-signing")
    const { id: issuerId, keyId } = issuer
    if (keyId === null) throw new TypeError("an issuer without a key was selected for signing")
    const list = content(issuer)
    const use = { mount: this.#access.mountPath, keyId, issuerId, purpose: "crl" } as const
    const key = auditedSigningKey(await this.#access.context.signingKeys.open(keyId), use, this.#access.recordKeyUse)
    const now = this.#access.context.runtime.clock.now()
    const der = await signList(list, { issuer, key, algorithm: revocationSignatureAlgorithm(issuer), numbers, now })
    return { der, warnings: list.warnings }
  }

  get #requester(): CrlRequester {
    return { mountPath: this.#access.mountPath, recordKeyUse: this.#access.recordKeyUse }
  }

  async #rotate(kind: CrlKind): Promise<void> {
    const snapshot = await currentSnapshot(this.#access)
    if (kind === "delta" && !snapshot.settings.crl.enableDelta) return
    for (const plan of plansOf(snapshot)) await this.#access.context.crlPublisher.rotate(plan, kind, this.#requester)
  }
}

/** Number of entries in one transaction. SQLite writes them in about 50 ms. */
const entriesPerWrite = 500

const viewOf = ({ shardCounts: _, ...view }: CrlSettings): CrlSettingsView => view

/** Returns the plans of all lists that an issuer can sign, without shards. */
function plansOf(snapshot: MountSnapshot): readonly CrlPlan[] {
  const byList = new Map(snapshot.issuers.map((issuer) => [crlListOf(issuer), issuer]))
  return [...byList.values()].flatMap((issuer) => planOf(snapshot, issuer, wholeList) ?? [])
}

/** Throws `not-found` for a shard count that the mount never had; certificates do not refer to it. */
function knownShard({ settings }: MountSnapshot, shard: Shard): Shard {
  if (!settings.crl.shardCounts.includes(shard.count)) throw notFound()
  return shard
}
