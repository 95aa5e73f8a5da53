// Builds a list. Encoded entries are stored in segments, so that a grown list reuses them, and only new entries are encoded and
// written. Work is split into short steps, so that other requests do not wait. The published list does not change until the new one
// replaces it in one short transaction.
import { busy, unprocessable } from "../../core/errors.ts"
import type { Storage } from "../../core/storage.ts"
import type { Clock } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import { crlNumber, deltaCrlIndicator, frameSigned, frameTbsCertificateList } from "../../x509/certificate-list.ts"
import type { Extension } from "../../x509/extension.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import type { RevocationRepository } from "../revocation/revocation.ts"
import { magnitude } from "./crl-list.ts"
import type { CrlPlan } from "./crl-plan.ts"
import type { CompleteCrl, CrlState, CrlRepository, DeltaCrl, PublishedCrl, Segment } from "./crl-repository.ts"

export interface CrlRepositories {
  readonly crls: CrlRepository
  readonly revocations: RevocationRepository
}

export interface CrlBuild {
  readonly storage: Storage<CrlRepositories>
  readonly clock: Clock
  readonly plan: CrlPlan
  /** Key that records its uses. */
  readonly key: SigningKey
  readonly fence: number
  readonly signal: AbortSignal
}

export interface BuiltCrl<Crl extends PublishedCrl> {
  readonly crl: Crl
  readonly der: Uint8Array
}

/** Number of rows in one read, which takes about 2 ms. */
const rowsPerRead = 2_048
/** Minimum length of a full segment. The last segment of a list is rewritten until it reaches this length. */
const segmentOctets = 512 * 1_024
/** Number of segments in one transaction. SQLite writes them in about 5 ms. */
const segmentsPerWrite = 4
/** Octets around the TBSCertList: identifier and length before it, algorithm and signature after it. */
const outerOctets = { before: 8, after: 4_096 }

/**
 * Builds and publishes the complete list. Throws `unprocessable` if it exceeds `max_crl_entries`, and `busy` if another builder took
 * over.
 */
export async function buildComplete(build: CrlBuild): Promise<BuiltCrl<CompleteCrl>> {
  const { storage, clock, plan, fence, signal } = build
  const { key, settings } = plan
  const { state, latest } = await begin(build)
  const reusable = reusableSegments(state)
  const gathered = settings.disable ? nothingNew(reusable) : await gather(build, reusable, latest)
  const { epoch, inSegments, reusedCount, fresh, pending } = gathered
  const now = clock.now()
  const number = nextNumber(state, plan, now)
  const thisUpdate = wholeSeconds(now)
  const nextUpdate = thisUpdate + settings.expiryMs
  const entriesLength = settings.disable ? 0 : gathered.reusedLength + lengthOf(fresh)
  const extensions = [...plan.extensions.complete, crlNumber(magnitude(number))]
  const list = await assemble(build, { thisUpdate, nextUpdate, extensions, entriesLength }, async (write) => {
    if (settings.disable) return
    for (let position = 0; position < reusedCount; position += 1) {
      signal.throwIfAborted()
      const entries = await storage.read(({ crls }) => crls.segment(key, epoch, position))
      if (entries === undefined) throw busy("The revocation list is being built by another server.")
      write(entries)
      await nextTurn()
    }
    for (const entries of fresh) {
      write(entries)
      await nextTurn()
    }
  })
  const crl: CompleteCrl = {
    number,
    thisUpdate,
    nextUpdate,
    covered: latest,
    content: plan.content,
    entryCount: settings.disable ? 0 : inSegments.entryCount,
    length: list.der.length,
    removals: reusable.removals,
    epoch,
    segmentCount: settings.disable ? 0 : inSegments.segmentCount,
    inSegments,
  }
  const octets = { head: list.head, tail: list.tail, segments: pending }
  if (!(await storage.transact(({ crls }) => crls.publish(key, fence, crl, octets)))) throw takenOver()
  if (state.complete !== undefined && state.complete.epoch !== epoch) await dropOldSegments(build, epoch)
  return { crl, der: list.der }
}

/** Builds and publishes a delta for the published complete list, with the same errors. */
export async function buildDelta(build: CrlBuild): Promise<BuiltCrl<DeltaCrl>> {
  const { storage, clock, plan, fence } = build
  const { key, settings } = plan
  const { state, latest } = await begin(build)
  const base = state.complete
  if (base === undefined) throw new Error("a delta was requested before the complete list was built")
  const fresh: Uint8Array[] = []
  let entryCount = 0
  if (!settings.disable)
    for await (const entries of entriesAfter(build, base.covered, latest)) {
      fresh.push(...entries)
      entryCount += entries.length
      rejectTooMany(plan, entryCount)
    }
  const now = clock.now()
  const number = nextNumber(state, plan, now)
  const thisUpdate = wholeSeconds(now)
  const nextUpdate = thisUpdate + Math.min(2 * settings.deltaRebuildIntervalMs, settings.expiryMs)
  const extensions = [...plan.extensions.delta, crlNumber(magnitude(number)), deltaCrlIndicator(magnitude(base.number))]
  const fields = { thisUpdate, nextUpdate, extensions, entriesLength: lengthOf(fresh) }
  const { der } = await assemble(build, fields, async (write) => {
    for (const entry of fresh) write(entry)
  })
  const crl: DeltaCrl = {
    number,
    baseNumber: base.number,
    thisUpdate,
    nextUpdate,
    covered: latest,
    content: plan.content,
    entryCount,
    length: der.length,
  }
  if (!(await storage.transact(({ crls }) => crls.publishDelta(key, fence, crl, der)))) throw takenOver()
  return { crl, der }
}

async function begin({ storage, plan, fence }: CrlBuild): Promise<{ state: CrlState; latest: number }> {
  const { key } = plan
  const state = await storage.transact(({ crls }) => crls.begin(key, fence))
  if (state === undefined) throw takenOver()
  const latest = await storage.read(({ revocations }) => revocations.latest(key.mountId, key.list))
  return { state, latest }
}

interface ReusableSegments {
  readonly removals: number
  readonly epoch: number
  readonly inSegments: CompleteCrl["inSegments"]
  readonly length: number
}

const noSegments = { segmentCount: 0, entryCount: 0, covered: 0, length: 0 }

/** Returns the segments that can be reused. After a removal there are none: the whole list is written again. */
function reusableSegments({ complete, removals }: CrlState): ReusableSegments {
  if (complete === undefined) return { removals, epoch: 1, inSegments: noSegments, length: 0 }
  return complete.removals === removals
    ? { removals, epoch: complete.epoch, inSegments: complete.inSegments, length: complete.inSegments.length }
    : { removals, epoch: complete.epoch + 1, inSegments: noSegments, length: 0 }
}

interface Gathered {
  readonly epoch: number
  readonly inSegments: CompleteCrl["inSegments"]
  /** Number of leading segments that stay unchanged. */
  readonly reusedCount: number
  readonly reusedLength: number
  /** Segments that follow them. */
  readonly fresh: readonly Uint8Array[]
  /** Segments of `fresh` that are not written yet. */
  readonly pending: readonly Segment[]
}

const nothingNew = ({ epoch, inSegments, length }: ReusableSegments): Gathered => ({
  epoch,
  inSegments,
  reusedCount: inSegments.segmentCount,
  reusedLength: length,
  fresh: [],
  pending: [],
})

async function gather(build: CrlBuild, reusable: ReusableSegments, latest: number): Promise<Gathered> {
  const { plan } = build
  const { epoch, inSegments } = reusable
  const writer = new SegmentWriter(build, epoch, inSegments.segmentCount)
  let { entryCount } = inSegments
  let reusedLength = reusable.length
  for await (const entries of entriesAfter(build, inSegments.covered, latest)) {
    if (entryCount === inSegments.entryCount) reusedLength -= await writer.reopenLast()
    entryCount += entries.length
    rejectTooMany(plan, entryCount)
    await writer.add(entries)
  }
  rejectTooMany(plan, entryCount)
  const { fresh, pending, first, segmentCount } = await writer.finish()
  return {
    epoch,
    inSegments: { segmentCount, entryCount, covered: latest, length: reusedLength + lengthOf(fresh) },
    reusedCount: first,
    reusedLength,
    fresh,
    pending,
  }
}

/** Joins entries to segments. Writes those in advance that are not part of a published list. */
class SegmentWriter {
  readonly #build: CrlBuild
  readonly #epoch: number
  readonly #publishedCount: number
  /** Position of the first segment that changes. */
  #first: number
  readonly #fresh: Uint8Array[] = []
  /** Number of segments of `#fresh` in the database. A first segment that replaces a published one is not among them. */
  #writtenCount = 0
  #open: Uint8Array[] = []
  #openLength = 0

  constructor(build: CrlBuild, epoch: number, publishedCount: number) {
    this.#build = build
    this.#epoch = epoch
    this.#publishedCount = publishedCount
    this.#first = publishedCount
  }

  /** Continues the last published segment if it is short. Returns its length, or 0 if it is not continued. */
  async reopenLast(): Promise<number> {
    if (this.#publishedCount === 0 || this.#first < this.#publishedCount) return 0
    const { storage, plan } = this.#build
    const position = this.#publishedCount - 1
    const last = await storage.read(({ crls }) => crls.segment(plan.key, this.#epoch, position))
    if (last === undefined) throw takenOver()
    if (last.length >= segmentOctets) return 0
    this.#first = position
    this.#open = [last]
    this.#openLength = last.length
    return last.length
  }

  async add(entries: readonly Uint8Array[]): Promise<void> {
    for (const entry of entries) {
      this.#open.push(entry)
      this.#openLength += entry.length
      if (this.#openLength >= segmentOctets) this.#close()
    }
    await this.#writeAhead()
  }

  async finish() {
    if (this.#openLength > 0) this.#close()
    const positionOf = (index: number) => this.#first + index
    const pending = this.#fresh.flatMap((entries, index) =>
      this.#isWritten(index) ? [] : [{ position: positionOf(index), entries }],
    )
    return {
      fresh: this.#fresh,
      pending,
      first: this.#first,
      segmentCount: this.#first + this.#fresh.length,
    }
  }

  #close(): void {
    this.#fresh.push(joined(this.#open, this.#openLength))
    this.#open = []
    this.#openLength = 0
  }

  #isWritten(index: number): boolean {
    return index >= this.#replacedCount && index < this.#replacedCount + this.#writtenCount
  }

  get #replacedCount(): number {
    return this.#publishedCount - this.#first
  }

  async #writeAhead(): Promise<void> {
    const { storage, plan, fence } = this.#build
    for (;;) {
      const start = this.#replacedCount + this.#writtenCount
      if (this.#fresh.length - start < segmentsPerWrite) return
      const segments = this.#fresh
        .slice(start, start + segmentsPerWrite)
        .map((entries, index) => ({ position: this.#first + start + index, entries }))
      const isWritten = await storage.transact(({ crls }) => crls.writeSegments(plan.key, fence, this.#epoch, segments))
      if (!isWritten) throw takenOver()
      this.#writtenCount += segmentsPerWrite
    }
  }
}

async function* entriesAfter(build: CrlBuild, after: number, latest: number): AsyncGenerator<readonly Uint8Array[]> {
  const { storage, plan, signal } = build
  const { mountId, list, shard } = plan.key
  for (let last = after; last < latest;) {
    signal.throwIfAborted()
    const range = { mountId, list, shard, after: last, limit: rowsPerRead }
    const rows = await storage.read(({ revocations }) => revocations.entries(range))
    const known = rows.filter(({ number }) => number <= latest).map(({ entry }) => entry)
    if (known.length > 0) yield known
    if (rows.length < rowsPerRead) return
    last = rows.at(-1)?.number ?? latest
    await nextTurn()
  }
}

interface Fields {
  readonly thisUpdate: number
  readonly nextUpdate: number
  readonly extensions: readonly Extension[]
  readonly entriesLength: number
}

/** Assembles the list in a single array, in which the TBSCertList is signed without copying it. */
async function assemble(
  { plan, key }: CrlBuild,
  fields: Fields,
  writeEntries: (write: (entries: Uint8Array) => void) => Promise<void>,
): Promise<{ readonly der: Uint8Array; readonly head: Uint8Array; readonly tail: Uint8Array }> {
  const { algorithm, signer } = plan
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const template = { signatureAlgorithm, issuer: signer.parsed.subject, ...fields }
  const { before, after } = frameTbsCertificateList(template, fields.entriesLength)
  const tbsLength = before.length + fields.entriesLength + after.length
  const octets = Buffer.allocUnsafeSlow(outerOctets.before + tbsLength + outerOctets.after)
  const start = outerOctets.before
  octets.set(before, start)
  let at = start + before.length
  await writeEntries((entries) => {
    octets.set(entries, at)
    at += entries.length
  })
  if (at !== start + before.length + fields.entriesLength)
    throw new Error("the entries of a revocation list do not have the counted length")
  octets.set(after, at)
  const end = start + tbsLength
  const signature = await key.sign(octets.subarray(start, end), algorithm)
  const outer = frameSigned(tbsLength, signatureAlgorithm, signature)
  octets.set(outer.before, start - outer.before.length)
  octets.set(outer.after, end)
  return {
    der: octets.subarray(start - outer.before.length, end + outer.after.length),
    head: Buffer.concat([outer.before, before]),
    tail: Buffer.concat([after, outer.after]),
  }
}

const droppedPerWrite = 64
/** Maximum number of rounds: 512 MiB of lists. The next build removes the rest. */
const maxDrops = 16

async function dropOldSegments({ storage, plan, fence }: CrlBuild, epoch: number): Promise<void> {
  for (let round = 0; round < maxDrops; round += 1) {
    const count = await storage.transact(({ crls }) => crls.dropSegments(plan.key, fence, epoch, droppedPerWrite))
    if (count < droppedPerWrite) return
    await nextTurn()
  }
}

function rejectTooMany({ settings: { maxCrlEntries } }: CrlPlan, count: number): void {
  if (maxCrlEntries >= 0 && count > maxCrlEntries)
    throw unprocessable(
      `the revocation list would have ${count} entries or more, and max_crl_entries allows ${maxCrlEntries}`,
    )
}

/** Truncates an instant to whole seconds, as times in lists are. */
const wholeSeconds = (instant: number): number => instant - (instant % 1_000)

const takenOver = () => busy("The revocation list is being built by another server.")

const nextNumber = (
  { complete, delta }: CrlState,
  { numberFloor }: Pick<CrlPlan, "numberFloor">,
  now: number,
): number => Math.max(now, numberFloor + 1, (complete?.number ?? 0) + 1, (delta?.number ?? 0) + 1)

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0)

function joined(entries: readonly Uint8Array[], length: number): Uint8Array {
  const octets = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const entry of entries) {
    octets.set(entry, at)
    at += entry.length
  }
  return octets
}
