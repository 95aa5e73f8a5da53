import type { Caller } from "../../core/caller.ts"
import { isEngineError, notFound, pending as notYet, rejectFaults } from "../../core/errors.ts"
import type { Edition } from "../../core/edition.ts"
import { newId, type StateVersionId } from "../../core/ids.ts"
import { mapPage, type Page, type PageRequest, pageOf, offsetOf } from "../../core/page.ts"
import { oneAtATime } from "../../core/chunks.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Signer } from "../../core/signing.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { Instant } from "../../core/time.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import type { AgentPoolRepository } from "../runs/agent-pool-repository.ts"
import { actorOf, authorizeWorkspace } from "../access/workspace-authorization.ts"
import { nameHolder } from "../lock/lock.ts"
import type { RunRepository } from "../runs/run-repository.ts"
import type { StateDocumentRepository } from "./state-document-repository.ts"
import type { StateOutput } from "./state-file.ts"
import { grant, requireGrant, type StateTransfer } from "./state-grants.ts"
import { openStateDocument, removeBackingData } from "./state-document.ts"
import { stateHeaderReader } from "./state-parser.ts"
import {
  admit,
  type BackingDataAction,
  changeBackingData,
  currentFacts,
  type EarlierVersions,
  finalize,
  foreignRun,
  hasLostBackingData,
  requireNotDiscarded,
  requirePending,
  rollbackInput,
  stateVersionFaults,
  withSerial,
} from "./state-version-rules.ts"
import {
  inPieces,
  type Reading,
  readingJson,
  readingState,
  receive,
  type Received,
  type ReceivedState,
  type ReceivingTools,
  tooLarge,
} from "./state-upload.ts"
import { authorizeStateReading, type StatePermission } from "./state-access.ts"
import {
  type StateDocument,
  type StateVersion,
  type StateVersionInput,
  type StateVersionOutput,
  type StateVersionView,
  stateVersionStatuses,
} from "./state-version.ts"
import type { StateVersionQuery, StateVersionRepository } from "./state-version-repository.ts"
import type { AddressedDocument, DocumentContent, StateTransfers, StateVersions } from "./state-version-api.ts"
import { listResources } from "./workspace-resource-service.ts"
import type { WorkspaceResource, WorkspaceResourceRepository } from "./workspace-resource.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { Actor, SituatedWorkspace, Workspace, WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly agentPools: AgentPoolRepository
  readonly events: EventRepository
  readonly stateVersions: StateVersionRepository
  readonly stateDocuments: StateDocumentRepository
  readonly workspaceResources: WorkspaceResourceRepository
  readonly runs: RunRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

/** Dependencies of both services, in addition to the storage. */
export interface StateTools extends ReceivingTools {
  readonly edition: Edition
  readonly signer: Signer
  /** Starts the job that reads states whose contents were not read before the response. */
  readonly wakeReading: () => void
}

export class StateVersionService implements StateVersions {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #tools: StateTools
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, tools: StateTools, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#tools = tools
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: StateVersionInput): Promise<StateVersionView> {
    return createStateVersion(this.#storage, this.#runtime, this.#tools, input, async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canCreateStateVersions")
      return { workspace, by: actorOf(this.#caller) }
    })
  }

  get(id: string): Promise<StateVersionView> {
    return this.#storage.read(async (repositories) => {
      const { version, mayUpload } = await this.#readable(repositories, id, "canReadStateVersions")
      return this.#view(repositories, version, mayUpload)
    })
  }

  current(ref: WorkspaceRef): Promise<StateVersionView> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeStateReading(repositories, this.#caller, ref, "canReadStateVersions")
      return this.#view(repositories, await currentVersion(repositories, workspace), false)
    })
  }

  list(ref: WorkspaceRef, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersionView>> {
    return this.#storage.readReplica(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(
        repositories,
        this.#caller,
        ref,
        "canReadStateVersions",
      )
      const versions = await repositories.stateVersions.list(workspace.id, query, page)
      const related = await repositories.stateVersions.related(versions.items.map(({ id }) => id))
      const mayUpload = permissions.canCreateStateVersions
      return mapPage(versions, (version) => this.#viewOf(version, mayUpload, related.get(version.id)))
    })
  }

  async upload(id: string, document: StateDocument, content: AsyncIterable<Uint8Array>): Promise<void> {
    const version = await this.#storage.read(async (repositories) => {
      const version = await found(repositories, id)
      await authorizeWorkspace(repositories, this.#caller, { id: version.workspaceId }, "canCreateStateVersions")
      return version
    })
    await uploadDocument(this.#storage, this.#runtime, this.#tools, { id: version.id, document }, content)
  }

  async download(id: string, document: StateDocument): Promise<DocumentContent> {
    const { version } = await this.#storage.read((repositories) =>
      this.#readable(repositories, id, "canReadStateVersions"),
    )
    return openStateDocument(this.#storage, this.#tools.archive, version.id, document)
  }

  async rollback(ref: WorkspaceRef, stateVersionId: string): Promise<StateVersionView> {
    const { random, clock } = this.#runtime
    const id = newId("sv", random)
    const now = clock.now()
    const pending = await this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canCreateStateVersions")
      const target = await repositories.stateVersions.find(stateVersionId)
      if (target?.workspaceId !== workspace.id) throw notFound(stateVersionId)
      const earlier = await earlierVersions(repositories, workspace)
      const input = rollbackInput(target, earlier)
      const by = actorOf(this.#caller)
      const admitted = admit(await nameHolder(repositories, workspace, by), input, earlier, { id, by, now })
      await repositories.stateVersions.discardPending(workspace.id)
      await repositories.stateVersions.insert(admitted)
      await repositories.workspaces.save(workspace, { ...workspace, latestChangeAt: admitted.createdAt })
      await repositories.events.append(stateEvent("state.created", workspace, admitted))
      return { ...admitted, targetId: target.id }
    })
    try {
      await this.#rollBackTo(pending)
    } catch (error) {
      await this.#storage.transact(({ stateVersions }) => stateVersions.discard(id)).catch(() => {})
      throw error
    }
    return this.get(id)
  }

  async #rollBackTo({ targetId, ...pending }: StateVersion & { readonly targetId: StateVersionId }): Promise<void> {
    const [storage, runtime, tools] = [this.#storage, this.#runtime, this.#tools]
    const versionId = pending.id
    const open = (document: StateDocument) => openStateDocument(storage, tools.archive, targetId, document)
    const reader = stateHeaderReader()
    for await (const piece of oneAtATime(await open("state"))) reader.write(piece)
    const rewritten = withSerial(oneAtATime(await open("state")), reader.end().serialPlaces, pending.serial)
    const place = { versionId, document: "state", reading: readingState, storage } as const
    const state = await receive(tools, runtime, place, rewritten)
    const json = await open("json-state").catch((error: unknown) => {
      if (isEngineError(error, "not-found")) return undefined
      throw error
    })
    const jsonPlace = { versionId, document: "json-state", reading: readingJson, storage } as const
    const jsonState = json && (await receive(tools, runtime, jsonPlace, oneAtATime(json)))
    await finish(storage, state, async (repositories) => {
      await jsonState?.keep(repositories)
      return finishState(repositories, runtime, versionId, state, state.md5)
    })
    if (state.found.contents === undefined) tools.wakeReading()
  }

  softDeleteBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "soft-delete")
  }

  restoreBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "restore")
  }

  permanentlyDeleteBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "permanently-delete")
  }

  #changeBackingData(id: string, action: BackingDataAction): Promise<void> {
    if (this.#tools.edition === "hosted") throw notFound(id)
    return this.#storage.transact(async (repositories) => {
      const version = await found(repositories, id)
      const { workspace } = await authorizeWorkspace(
        repositories,
        this.#caller,
        { id: version.workspaceId },
        "canUpdate",
      )
      const changed = changeBackingData(version, action, workspace)
      await repositories.stateVersions.save(changed)
      if (changed.status === "backing_data_permanently_deleted") await removeBackingData(repositories, changed.id)
      await repositories.events.append({ ...stateEvent("state.updated", workspace, changed), changed: ["status"] })
    })
  }

  resources(ref: WorkspaceRef, page: PageRequest): Promise<Page<WorkspaceResource>> {
    return listResources(this.#storage, this.#tools, this.#runtime, page, async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadStateVersions")
      return workspace
    })
  }

  outputs(id: string, page: PageRequest): Promise<Page<StateVersionOutput>> {
    return this.#storage.read(async (repositories) => {
      const { version } = await this.#readable(repositories, id, "canReadStateOutputs")
      requireOutputs(version)
      const outputs = await repositories.stateVersions.outputs(version.id)
      return pageOf(outputs.slice(offsetOf(page), offsetOf(page) + page.size), page, outputs.length)
    })
  }

  currentOutputs(ref: WorkspaceRef): Promise<readonly StateVersionOutput[]> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeStateReading(repositories, this.#caller, ref, "canReadStateOutputs")
      const version = await currentVersion(repositories, workspace)
      requireOutputs(version)
      return (await repositories.stateVersions.outputs(version.id)).map(withoutSecret)
    })
  }

  output(id: string): Promise<StateVersionOutput> {
    return this.#storage.read(async (repositories) => {
      const found = await repositories.stateVersions.findOutput(id)
      if (found === undefined) throw notFound(id)
      const { version } = await this.#readable(repositories, found.stateVersionId, "canReadStateOutputs")
      requireOutputs(version)
      return found.output
    })
  }

  async #readable(
    repositories: UsedRepositories,
    id: string,
    permission: StatePermission,
  ): Promise<{ readonly version: StateVersion; readonly mayUpload: boolean }> {
    const version = await repositories.stateVersions.find(id)
    if (version === undefined) throw notFound(id)
    const ref = { id: version.workspaceId }
    const { workspace, permissions, currentStateOnly } = await authorizeStateReading(
      repositories,
      this.#caller,
      ref,
      permission,
    )
    if (currentStateOnly && workspace.currentStateVersionId !== version.id) throw notFound(id)
    return { version, mayUpload: permissions.canCreateStateVersions }
  }

  async #view(repositories: UsedRepositories, version: StateVersion, mayUpload: boolean): Promise<StateVersionView> {
    return this.#viewOf(version, mayUpload, (await repositories.stateVersions.related([version.id])).get(version.id))
  }

  #viewOf(version: StateVersion, mayUpload: boolean, related: Related | undefined): StateVersionView {
    return viewOf(version, this.#tools, { now: this.#runtime.clock.now(), mayUpload }, related)
  }
}

/** Function that returns the workspace and the creator of a new state version. It throws if the caller may not create one. */
type AuthorizeState = (
  repositories: Pick<UsedRepositories, "workspaces" | "access" | "agentPools" | "runs">,
) => Promise<{ readonly workspace: SituatedWorkspace; readonly by: Actor }>

/** Creates a pending version, or a finalized one if the input contains a state. */
export async function createStateVersion(
  storage: Storage<UsedRepositories>,
  runtime: Runtime,
  tools: StateTools,
  input: StateVersionInput,
  authorize: AuthorizeState,
): Promise<StateVersionView> {
  // Check rights first, so that a client cannot make the server parse a state for a workspace that it may not write.
  await storage.read(authorize)
  rejectFaults(stateVersionFaults(input))
  const { random, clock } = runtime
  const id = newId("sv", random)
  // The limit of request bodies bounds what the request itself contains.
  const received = <Found>(document: StateDocument, reading: Reading<Found>, bytes: Uint8Array) =>
    receive(tools, runtime, { versionId: id, document, reading }, inPieces(bytes))
  const state = input.state && (await received("state", readingState, input.state))
  const jsonState = input.jsonState && (await received("json-state", readingJson, input.jsonState))
  const outputs = withIds(state?.found.contents?.outputs ?? [], runtime)
  const now = clock.now()
  const made = await storage.transact(async (repositories) => {
    const { workspace, by } = await authorize(repositories)
    if (input.runId !== null && (await repositories.runs.find(input.runId))?.workspaceId !== workspace.id)
      throw foreignRun()
    const earlier = await earlierVersions(repositories, workspace)
    const pending = admit(await nameHolder(repositories, workspace, by), input, earlier, { id, by, now })
    const finalized = state === null ? undefined : finalize(pending, state)
    const version = finalized ?? pending
    await repositories.stateVersions.discardPending(workspace.id)
    await repositories.stateVersions.insert(version)
    await state?.keep(repositories)
    await jsonState?.keep(repositories)
    await repositories.stateVersions.saveOutputs(id, outputs)
    await repositories.workspaces.save(workspace, {
      ...workspace,
      latestChangeAt: pending.createdAt,
      ...(finalized === undefined ? {} : becomingCurrent(finalized)),
    })
    await repositories.events.append(
      stateEvent("state.created", workspace, pending),
      ...(finalized === undefined ? [] : [stateEvent("state.finalized", workspace, finalized)]),
    )
    const related = (await repositories.stateVersions.related([id])).get(id)
    return viewOf(version, tools, { now: clock.now(), mayUpload: true }, related)
  })
  if (made.summary?.resourcesProcessed === false) tools.wakeReading()
  return made
}

interface Related {
  readonly outputIds: readonly string[]
  readonly hasJsonState: boolean
}
const nothingRelated: Related = { outputIds: [], hasJsonState: false }

/** Returns the document of a version. Readers get no upload credentials, because these permit writing the state. */
function viewOf(
  { organizationId: _organizationId, lockNumber: _lockNumber, ...version }: StateVersion,
  { signer }: StateTools,
  { now, mayUpload }: { readonly now: Instant; readonly mayUpload: boolean },
  related: Related = nothingRelated,
): StateVersionView {
  const granted = (transfer: StateTransfer) => {
    const to = (document: StateDocument) => grant(signer, { transfer, id: version.id, document }, now)
    return { state: to("state"), "json-state": to("json-state") }
  }
  return {
    ...version,
    ...related,
    uploads: mayUpload && version.status === "pending" ? granted("upload") : null,
    downloads:
      version.status === "finalized"
        ? { ...granted("download"), ...(related.hasJsonState ? {} : { "json-state": null }) }
        : null,
  }
}

/** Uploads and downloads without a caller. The credential in the URL is the only authorization. */
export class StateTransferService implements StateTransfers {
  readonly limitBytes: number
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #tools: StateTools

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, tools: StateTools) {
    // Repeatable read suffices, as for `StateVersionService`.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.limitBytes = tools.limitBytes
    this.#tools = tools
  }

  async upload(
    target: AddressedDocument,
    content: AsyncIterable<Uint8Array>,
    { sizeBytes = 0 }: { readonly sizeBytes?: number | undefined } = {},
  ): Promise<void> {
    requireGrant(this.#tools.signer, { transfer: "upload", ...target }, this.#runtime.clock.now())
    if (sizeBytes > this.limitBytes) throw tooLarge(this.limitBytes)
    const id = target.id as StateVersionId
    await uploadDocument(this.#storage, this.#runtime, this.#tools, { id, document: target.document }, content)
  }

  async download(target: AddressedDocument): Promise<DocumentContent> {
    requireGrant(this.#tools.signer, { transfer: "download", ...target }, this.#runtime.clock.now())
    return openStateDocument(this.#storage, this.#tools.archive, target.id as StateVersionId, target.document)
  }
}

async function uploadDocument(
  storage: Storage<UsedRepositories>,
  runtime: Runtime,
  tools: StateTools,
  { id, document }: { readonly id: StateVersionId; readonly document: StateDocument },
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const announced = await storage.read((repositories) => found(repositories, id))
  requireNotDiscarded(announced)
  if (document === "json-state") {
    const received = await receive(tools, runtime, { versionId: id, document, reading: readingJson, storage }, content)
    return finish(storage, received, async (repositories) => {
      requireNotDiscarded(await found(repositories, id))
      await received.keep(repositories)
      return true
    })
  }
  const received = await receive(tools, runtime, { versionId: id, document, reading: readingState, storage }, content)
  await finish(storage, received, (repositories) => finishState(repositories, runtime, id, received))
  if (received.found.contents === undefined) tools.wakeReading()
}

/** Runs `work` in a transaction, and abandons the received document unless `work` returns true. */
async function finish(
  storage: Storage<UsedRepositories>,
  received: Received<unknown>,
  work: (repositories: UsedRepositories) => Promise<boolean>,
): Promise<void> {
  let isKept = false
  try {
    isKept = await storage.transact(work)
  } finally {
    if (!isKept) await received.abandon()
  }
}

async function finishState(
  repositories: UsedRepositories,
  runtime: Runtime,
  id: StateVersionId,
  state: Received<ReceivedState>,
  md5?: string,
): Promise<boolean> {
  const announced = await found(repositories, id)
  const pending = md5 === undefined ? announced : { ...announced, md5 }
  // The same bytes again are a retry of a request whose response was lost.
  if (pending.status === "finalized" && pending.md5 === state.md5) return false
  requirePending(pending)
  const finalized = finalize(pending, state)
  const workspace = await repositories.workspaces.find({ id: pending.workspaceId })
  if (workspace === undefined) throw notFound(id)
  await repositories.stateVersions.save(finalized)
  await state.keep(repositories)
  await repositories.stateVersions.saveOutputs(id, withIds(state.found.contents?.outputs ?? [], runtime))
  await repositories.workspaces.save(workspace, { ...workspace, ...becomingCurrent(finalized) })
  await repositories.events.append(stateEvent("state.finalized", workspace, finalized))
  return true
}

const earlierVersions = async ({ stateVersions }: UsedRepositories, { id }: Workspace): Promise<EarlierVersions> => ({
  newest: await stateVersions.newest(id, stateVersionStatuses),
  newestFinalized: await stateVersions.newest(id, ["finalized"]),
})

const stateEvent = (
  kind: "state.created" | "state.finalized" | "state.updated",
  workspace: Workspace,
  { id, status }: StateVersion,
): Change => ({ kind, workspace, subject: { type: "state-versions", id, status } })

/** Removes the value of a sensitive output. Clients that may read outputs get secrets one at a time, never in a list. */
const withoutSecret = (output: StateVersionOutput): StateVersionOutput =>
  output.sensitive ? { ...output, value: null } : output

const becomingCurrent = (version: StateVersion): Partial<Workspace> =>
  version.intermediate ? {} : currentFacts(version)

async function currentVersion(
  { stateVersions }: Pick<UsedRepositories, "stateVersions">,
  { id, currentStateVersionId }: Workspace,
): Promise<StateVersion> {
  const version = currentStateVersionId === null ? undefined : await stateVersions.find(currentStateVersionId)
  if (version === undefined) throw notFound(id)
  return version
}

async function found({ stateVersions }: Pick<UsedRepositories, "stateVersions">, id: string): Promise<StateVersion> {
  const version = await stateVersions.find(id)
  if (version === undefined) throw notFound(id)
  return version
}

/** Throws until the outputs are processed. Clients retry (docs/compatibility.md, "State versions"). */
function requireOutputs({ id, status, summary }: StateVersion): void {
  if (hasLostBackingData(status)) throw notFound(id)
  if (summary?.resourcesProcessed === false)
    throw notYet("The outputs of this state version are still being read, please try again later")
}

const withIds = (outputs: readonly StateOutput[], { random }: Runtime): StateVersionOutput[] =>
  outputs.map((output) => ({ ...output, id: newId("wsout", random) }))
