import { conflict, type Fault, invalid, notFound } from "../../core/errors.ts"
import { newUuid } from "../../core/ids.ts"
import { dayMs } from "../../core/time.ts"
import { findIssuer } from "../../pki/mounts/mount-snapshot.ts"
import { authorizeOnMount, type MountAccess } from "../../pki/pki-context.ts"
import { readMount, transactOnMount } from "../../pki/mounts/with-mount-snapshot.ts"
import type { AcmeRepositories } from "../acme-context.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import {
  type RenewalSignalInput,
  type RenewalSignals,
  type RenewalSignalView,
  maxSignalled,
  maxSignals,
} from "../accounts/management.ts"
import type { CountedRenewalSignal, RenewalSignal } from "../accounts/management-repository.ts"

const signalsPath = "acme/mgmt/renewal"
const maxWithinMs = 366 * dayMs
const maxUrl = 2_048
const unknownShown = 5

export class RenewalSignalService implements RenewalSignals {
  readonly #access: MountAccess<AcmeRepositories>

  constructor(access: MountAccess<AcmeRepositories>) {
    this.#access = access
  }

  async raise(input: RenewalSignalInput): Promise<RenewalSignalView> {
    authorizeOnMount(this.#access, ["create", "update"], signalsPath)
    const faults = faultsOf(input)
    if (faults.length > 0) throw invalid(faults)
    const { issuerRef, withinMs = 0, explanationUrl = "" } = input
    const serialNumbers = [...new Set((input.serialNumbers ?? []).flatMap((text) => parseSerialNumber(text) ?? []))]
    const { random, clock } = this.#access.context.runtime
    const raisedAt = clock.now()
    return transactOnMount(this.#access, async (snapshot, { certificates, renewalSignals }) => {
      const { mount } = snapshot
      const issuer = issuerRef === undefined ? undefined : findIssuer(snapshot, issuerRef)
      if (issuerRef !== undefined && issuer === undefined)
        throw refused("issuerRef", `"issuer_ref" names the issuer ${issuerRef}, which does not exist`)
      const unknown: string[] = []
      for (const serialNumber of serialNumbers)
        if ((await certificates.find(mount.id, serialNumber)) === undefined) unknown.push(serialNumber)
      if (unknown.length > 0) throw refused("serialNumbers", unknownSentence(unknown))
      if ((await renewalSignals.list(mount.id)).length >= maxSignals)
        throw conflict(`The mount already has ${maxSignals} renewal signals; delete those that are no longer needed.`)
      const signal: RenewalSignal = {
        id: newUuid(random),
        mountId: mount.id,
        issuerId: issuer?.id ?? null,
        explanationUrl: explanationUrl === "" ? null : explanationUrl,
        raisedAt,
        renewBy: raisedAt + withinMs,
      }
      await renewalSignals.insert(signal, serialNumbers)
      return viewOf({ ...signal, serialNumberCount: serialNumbers.length })
    })
  }

  async list(): Promise<readonly RenewalSignalView[]> {
    authorizeOnMount(this.#access, "list", signalsPath)
    return readMount(this.#access, async ({ mount }, { renewalSignals }) =>
      (await renewalSignals.list(mount.id)).map(viewOf),
    )
  }

  async get(id: string): Promise<RenewalSignalView & { readonly serialNumbers: readonly string[] }> {
    authorizeOnMount(this.#access, "read", `${signalsPath}/${id}`)
    return readMount(this.#access, async ({ mount }, { renewalSignals }) => {
      const signal = await renewalSignals.find(mount.id, id)
      if (signal === undefined) throw notFound(id)
      const serialNumbers = await renewalSignals.serialNumbers(id)
      return { ...viewOf({ ...signal, serialNumberCount: serialNumbers.length }), serialNumbers }
    })
  }

  async withdraw(id: string): Promise<void> {
    authorizeOnMount(this.#access, "delete", `${signalsPath}/${id}`)
    await transactOnMount(this.#access, async ({ mount }, { renewalSignals }) => {
      if (!(await renewalSignals.remove(mount.id, id))) throw notFound(id)
    })
  }
}

const refused = (field: keyof RenewalSignalInput, detail: string) => invalid([{ field: [field], detail }])

function faultsOf({ issuerRef, serialNumbers, withinMs = 0, explanationUrl = "" }: RenewalSignalInput): Fault[] {
  const faults: Fault[] = []
  const refuse = (field: keyof RenewalSignalInput, detail: string) => faults.push({ field: [field], detail })
  if ((issuerRef === undefined) === (serialNumbers === undefined))
    refuse("serialNumbers", 'exactly one of "issuer_ref" and "serial_numbers" is required')
  if (serialNumbers?.length === 0) refuse("serialNumbers", '"serial_numbers" must not be empty')
  if ((serialNumbers?.length ?? 0) > maxSignalled)
    refuse("serialNumbers", `"serial_numbers" must not have more than ${maxSignalled} entries`)
  const unreadable = serialNumbers?.find((text) => parseSerialNumber(text) === undefined)
  if (unreadable !== undefined)
    refuse("serialNumbers", `"serial_numbers" contains ${JSON.stringify(unreadable)}, which is not a serial number`)
  if (withinMs < 0 || withinMs > maxWithinMs)
    refuse("withinMs", `"within" must be from 0 to ${maxWithinMs / dayMs} days`)
  const url = URL.parse(explanationUrl)
  if (explanationUrl !== "" && (explanationUrl.length > maxUrl || url?.protocol.startsWith("http") !== true))
    refuse("explanationUrl", `"explanation_url" must be an http or https URL of at most ${maxUrl} characters`)
  return faults
}

function unknownSentence(unknown: readonly string[]): string {
  const [named, more] = [unknown.slice(0, unknownShown).join(", "), unknown.length - unknownShown]
  return `"serial_numbers" contains ${named}${more > 0 ? ` and ${more} more` : ""}, which the mount has no certificate for`
}

const viewOf = (signal: CountedRenewalSignal): RenewalSignalView => {
  const { id, issuerId, serialNumberCount, explanationUrl, raisedAt, renewBy } = signal
  return { id, issuerId, serialNumberCount, explanationUrl, raisedAt, renewBy }
}
