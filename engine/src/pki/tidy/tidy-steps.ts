// Steps of a tidy run. A step reads a page in one transaction. A second, short transaction removes rows and records the step. Other
// requests wait at most for the latter.
import type { Instant } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiContext, PkiRepositories } from "../pki-context.ts"
import type { CertificateCursor } from "../issuance/certificate.ts"
import type { FilingRange } from "../issuance/certificate-partitions.ts"
import { crlListOf } from "../crl/crl-list.ts"
import { planOf } from "../crl/crl-plan.ts"
import { type Shard, wholeList } from "../crl/shard.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import { issuerOfCertificate } from "../revocation/revocable-certificate.ts"
import type { RevocationCursor } from "../revocation/revocation.ts"
import {
  earliestEnd,
  expiredIssuers,
  isCertificateDue,
  nextPhase,
  type PublishedList,
  revocationDue,
  type TidyCounts,
  type TidyPhase,
  type TidyProgress,
  type TidyRun,
} from "./tidy-run.ts"

/** Maximum number of rows in one write, even if the page size is larger. */
const maxRowsPerWrite = 500
/** Number of certificates parsed in one turn of the event loop: about 2 ms. */
const parsedPerTurn = 50

export interface StepOutcome {
  readonly counts: Partial<TidyCounts>
  readonly progress: TidyProgress
  readonly issuers?: readonly ParsedIssuer[]
}

/** Runs in the transaction that records the step. */
export type StepWrite<Repositories extends PkiRepositories = PkiRepositories> = (
  repositories: Repositories,
) => Promise<StepOutcome>

export interface TidyStep {
  readonly run: TidyRun
  readonly phase: TidyPhase
  readonly now: Instant
  readonly limit: number
}

/** Phases that remove rows of `acme/`, which implements them. */
type AcmePhase = "ACME orders" | "ACME accounts"
export type AcmeTidySteps<Repositories extends PkiRepositories> = Readonly<
  Record<AcmePhase, (step: TidyStep) => Promise<StepWrite<Repositories>>>
>

interface StepContext<Repositories extends PkiRepositories> extends Pick<
  PkiContext<Repositories>,
  "storage" | "mountSnapshots"
> {
  /** Returns the ranges that will be dropped as a whole. Automatic runs skip them. */
  readonly leftToGo: (mountId: MountId) => Promise<readonly FilingRange[]>
}

interface PkiStep extends TidyStep {
  readonly context: StepContext<PkiRepositories>
  readonly snapshot: MountSnapshot
}

/** Returns the next step of a run; undefined if all phases are done. */
export async function nextStep<Repositories extends PkiRepositories>(
  context: StepContext<Repositories> & { readonly acmeTidySteps: AcmeTidySteps<Repositories> },
  snapshot: MountSnapshot,
  run: TidyRun,
  now: Instant,
): Promise<StepWrite<Repositories> | undefined> {
  const { phase } = run.progress
  if (phase === undefined) return undefined
  const limit = Math.min(run.options.pageSize, maxRowsPerWrite)
  const steps: Readonly<Record<TidyPhase, (step: PkiStep) => Promise<StepWrite<Repositories>>>> = {
    ...pkiSteps,
    ...context.acmeTidySteps,
  }
  return steps[phase]({ context, snapshot, run, phase, now, limit })
}

const pkiSteps: Readonly<Record<Exclude<TidyPhase, AcmePhase>, (step: PkiStep) => Promise<StepWrite>>> = {
  associations: associate,
  certificates: removeCertificates,
  "invalid certificates": removeInvalidCertificates,
  revocations: removeRevocations,
  metadata: removeMetadata,
  issuers: removeIssuers,
}

/** Returns the progress after a page. A page that is not full is the last. */
export const progressAfter = (
  { run, phase, limit }: TidyStep,
  pageLength: number,
  after: string | undefined,
): TidyProgress => (pageLength < limit || after === undefined ? nextPhase(run.options, phase) : { phase, after })

async function removeCertificates(step: PkiStep): Promise<StepWrite> {
  const { context, run, now, limit } = step
  const { mountId, options, progress } = run
  const before = earliestEnd(options, now)
  const after = parseCursor(progress.after)
  const except = run.automatic ? await context.leftToGo(mountId) : []
  const page = await context.storage.read(({ certificates }) =>
    certificates.ended(mountId, { before, limit, except, ...(after === undefined ? {} : { after }) }),
  )
  const due = page.filter((one) => isCertificateDue(one, options, now))
  return async ({ certificates }) => ({
    counts: await certificates.remove(
      mountId,
      due.map(({ number }) => number),
    ),
    progress: progressAfter(step, page.length, formatCursor(page.at(-1))),
  })
}

async function removeInvalidCertificates(step: PkiStep): Promise<StepWrite> {
  const { context, run, limit } = step
  const { mountId, progress } = run
  const page = await context.storage.read(({ certificates }) =>
    certificates.page(mountId, { after: Buffer.from(progress.after, "hex"), limit }),
  )
  const invalid: number[] = []
  for (const [index, { number, certificate }] of page.entries()) {
    if (index % parsedPerTurn === parsedPerTurn - 1) await nextTurn()
    if (!isReadable(certificate)) invalid.push(number)
  }
  const last = page.at(-1)
  return async ({ certificates }) => ({
    counts: await certificates.remove(mountId, invalid),
    progress: progressAfter(step, page.length, last && Buffer.from(last.serialNumber).toString("hex")),
  })
}

function isReadable(der: Uint8Array): boolean {
  try {
    parseCertificate(der)
    return true
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

async function removeRevocations(step: PkiStep): Promise<StepWrite> {
  const { context, snapshot, run, now, limit } = step
  const { mountId, options, progress } = run
  const before = now - options.revokedSafetyBufferMs
  const after = parseCursor(progress.after)
  const { page, lists } = await context.storage.read(async ({ revocations, crls }) => ({
    page: await revocations.ended(mountId, { before, limit, ...(after === undefined ? {} : { after }) }),
    lists: (await crls.states(mountId)).flatMap(({ key, state: { complete } }) =>
      complete === undefined ? [] : [{ key, complete }],
    ),
  }))
  const currentLists = lists.filter(isStillBuilt(snapshot))
  const verdicts = page.map((one) => ({ ...one, verdict: revocationDue(one, currentLists, options, now) }))
  const due = verdicts.filter(({ verdict }) => verdict === "due").map(({ serialNumber }) => serialNumber)
  const waiting = verdicts.filter(({ verdict }) => verdict === "listed-first").length
  return async ({ revocations, certificates }) => {
    const removed = await revocations.remove(mountId, due)
    await certificates.removeBySerialNumber(mountId, due)
    return {
      counts: { revocations: removed, waiting },
      progress: progressAfter(step, page.length, formatCursor(page.at(-1))),
    }
  }
}

/**
 * Returns a filter for lists that are still published. A list that no issuer signs any more, or a shard without URL, does not delay
 * removal.
 */
function isStillBuilt(snapshot: MountSnapshot): (list: PublishedList) => boolean {
  const known = new Map<string, boolean>()
  const isMade = ({ list }: PublishedList["key"], shard: Shard) => {
    const issuer = snapshot.issuers.find((one) => crlListOf(one) === list)
    return issuer !== undefined && planOf(snapshot, issuer, shard) !== undefined
  }
  return ({ key }) => {
    const isPart = key.shard.count > 1
    const name = `${isPart}/${key.list}`
    const made = known.get(name) ?? isMade(key, isPart ? { count: 2, index: 0 } : wholeList)
    known.set(name, made)
    return made
  }
}

async function associate(step: PkiStep): Promise<StepWrite> {
  const { context, snapshot, run, limit } = step
  const { mountId, progress } = run
  const known = new Set(snapshot.issuers.map(({ id }) => id))
  const { page, missing } = await context.storage.read(async ({ revocations, certificates }) => {
    const rows = await revocations.page(mountId, { after: Buffer.from(progress.after, "hex"), limit })
    const orphans = rows.filter(({ issuerId }) => issuerId === null || !known.has(issuerId))
    const found = []
    for (const { serialNumber } of orphans)
      found.push({ serialNumber, certificate: (await certificates.find(mountId, serialNumber))?.certificate })
    return { page: rows, missing: found }
  })
  const matched: { readonly serialNumber: (typeof missing)[number]["serialNumber"]; readonly issuer: ParsedIssuer }[] =
    []
  for (const [index, { serialNumber, certificate }] of missing.entries()) {
    if (index % parsedPerTurn === parsedPerTurn - 1) await nextTurn()
    const issuer = certificate && signerAmong(snapshot, certificate)
    if (issuer !== undefined) matched.push({ serialNumber, issuer })
  }
  return async ({ revocations }) => {
    for (const { serialNumber, issuer } of matched)
      await revocations.associate(mountId, serialNumber, { issuerId: issuer.id, list: crlListOf(issuer) })
    const after = page.at(-1)?.serialNumber.replaceAll(":", "")
    return {
      counts: { missingIssuers: missing.length, associated: matched.length },
      progress: progressAfter(step, page.length, after),
    }
  }
}

function signerAmong({ issuers }: MountSnapshot, der: Uint8Array): ParsedIssuer | undefined {
  try {
    return issuerOfCertificate(parseCertificate(der), issuers)
  } catch {
    // No issuer of the mount signed it, or it is not a certificate.
    return undefined
  }
}

async function removeMetadata(step: PkiStep): Promise<StepWrite> {
  const { run, now, limit } = step
  return async ({ certificates }) => {
    const metadata = await certificates.removeMetadata(run.mountId, now - run.options.safetyBufferMs, limit)
    return { counts: { metadata }, progress: progressAfter(step, metadata, "") }
  }
}

/** Removes expired issuers. Their keys stay. */
async function removeIssuers(step: PkiStep): Promise<StepWrite> {
  const { context, snapshot, run, now, limit } = step
  return async (repositories) => {
    const { issuers, settings } = await context.mountSnapshots.within(repositories, snapshot.mount)
    const expired = expiredIssuers(issuers, settings.issuers.default, run.options, now).slice(0, limit)
    for (const issuer of expired) await repositories.issuers.remove(issuer)
    if (expired.length > 0) await repositories.mountSettings.save(run.mountId, "history", { issuersChangedAt: now })
    return { counts: { issuers: expired.length }, progress: progressAfter(step, expired.length, ""), issuers: expired }
  }
}

type Cursor = CertificateCursor & RevocationCursor

const formatCursor = (at: Cursor | undefined): string | undefined => at && `${at.notAfter}/${at.number}`

function parseCursor(text: string): Cursor | undefined {
  if (text === "") return undefined
  const [notAfter, number] = text.split("/").map(Number)
  return notAfter === undefined || number === undefined ? undefined : { notAfter, number }
}
