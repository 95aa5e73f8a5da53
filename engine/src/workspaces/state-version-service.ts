import type { Caller } from "../core/caller.ts"
import { EngineError, notFound, refuseFaults } from "../core/errors.ts"
import { newId, type StateVersionId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest, pageOf, offsetOf } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Signer } from "../core/signing.ts"
import type { Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import { actorOf, authorizeWorkspace } from "./authorization.ts"
import { type StateArchive, stateBytesMaximum } from "./state-archive.ts"
import { parseStateFile, type StateOutput } from "./state-file.ts"
import { authorizeStateReading, type StatePermission } from "./state-reading.ts"
import {
  type StateDocument,
  type StateVersion,
  type StateVersionInput,
  type StateVersionOutput,
  type StateVersionView,
  stateVersionStatuses,
} from "./state-version.ts"
import type { StateVersionQuery } from "./state-version-store.ts"
import {
  admit,
  currentFacts,
  finalize,
  foreignRun,
  requireNotDiscarded,
  requirePending,
  stateVersionFaults,
} from "./state-version-rules.ts"
import type { StateUploads, StateVersions } from "./state-versions.ts"
import { grantUpload, requireUploadGrant } from "./upload-grants.ts"
import type { Workspace, WorkspaceRef } from "./workspace.ts"

type UsedStores = Pick<Stores, "workspaces" | "access" | "stateVersions" | "runs">

/** What both services need beside the storage. */
export interface StateTools {
  readonly archive: StateArchive
  readonly signer: Signer
}

export class StateVersionService implements StateVersions {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #tools: StateTools
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, tools: StateTools, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#tools = tools
    this.#caller = caller
  }

  async create(ref: WorkspaceRef, input: StateVersionInput): Promise<StateVersionView> {
    // First, so that nobody makes the server read a state for a workspace they may not write.
    await this.#storage.read((stores) => authorizeWorkspace(stores, this.#caller, ref, "canCreateStateVersions"))
    refuseFaults(stateVersionFaults(input))
    const { random, clock } = this.#runtime
    const id = newId("sv", random)
    const state = input.state === null ? null : await received(this.#tools.archive, id, input.state)
    const jsonState = input.jsonState === null ? null : await packJson(this.#tools.archive, id, input.jsonState)
    const outputs = state === null ? [] : withIds(state.file.outputs, this.#runtime)
    const now = clock.now()
    return this.#storage.transact(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref, "canCreateStateVersions")
      if (input.runId !== null && (await stores.runs.find(input.runId))?.workspaceId !== workspace.id)
        throw foreignRun()
      const earlier = {
        newest: await stores.stateVersions.newest(workspace.id, stateVersionStatuses),
        newestFinalized: await stores.stateVersions.newest(workspace.id, ["finalized"]),
      }
      const pending = admit(workspace, input, earlier, { id, by: actorOf(this.#caller), now })
      const finalized = state === null ? undefined : finalize(pending, state.file, state)
      await stores.stateVersions.discardPending(workspace.id)
      await stores.stateVersions.insert(finalized ?? pending)
      if (state !== null) await stores.stateVersions.saveContent(id, "state", state.chunks)
      if (jsonState !== null) await stores.stateVersions.saveContent(id, "json-state", jsonState)
      await stores.stateVersions.saveOutputs(id, outputs)
      await stores.workspaces.save(workspace, {
        ...workspace,
        latestChangeAt: pending.createdAt,
        ...(finalized === undefined ? {} : becomingCurrent(finalized)),
      })
      return this.#view(stores, finalized ?? pending, true)
    })
  }

  get(id: string): Promise<StateVersionView> {
    return this.#storage.read(async (stores) => {
      const { version, mayUpload } = await this.#readable(stores, id, "canReadStateVersions")
      return this.#view(stores, version, mayUpload)
    })
  }

  current(ref: WorkspaceRef): Promise<StateVersionView> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeStateReading(stores, this.#caller, ref, "canReadStateVersions")
      return this.#view(stores, await currentVersion(stores, workspace), false)
    })
  }

  list(ref: WorkspaceRef, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersionView>> {
    return this.#storage.read(async (stores) => {
      const { workspace, permissions } = await authorizeWorkspace(stores, this.#caller, ref, "canReadStateVersions")
      const versions = await stores.stateVersions.list(workspace.id, query, page)
      const related = await stores.stateVersions.related(versions.items.map(({ id }) => id))
      const mayUpload = permissions.canCreateStateVersions
      return mapPage(versions, (version) => this.#viewOf(version, mayUpload, related.get(version.id)))
    })
  }

  async download(id: string, document: StateDocument): Promise<Uint8Array> {
    const { version, chunks } = await this.#storage.read(async (stores) => {
      const { version } = await this.#readable(stores, id, "canReadStateVersions")
      return { version, chunks: await stores.stateVersions.content(version.id, document) }
    })
    if (version.status !== "finalized" || chunks.length === 0) throw notFound(id)
    return this.#tools.archive.unpack(version.id, document, chunks)
  }

  outputs(id: string, page: PageRequest): Promise<Page<StateVersionOutput>> {
    return this.#storage.read(async (stores) => {
      const { version } = await this.#readable(stores, id, "canReadStateOutputs")
      const outputs = await stores.stateVersions.outputs(version.id)
      return pageOf(outputs.slice(offsetOf(page), offsetOf(page) + page.size), page, outputs.length)
    })
  }

  currentOutputs(ref: WorkspaceRef): Promise<readonly StateVersionOutput[]> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeStateReading(stores, this.#caller, ref, "canReadStateOutputs")
      const version = await currentVersion(stores, workspace)
      return (await stores.stateVersions.outputs(version.id)).map(withoutSecret)
    })
  }

  output(id: string): Promise<StateVersionOutput> {
    return this.#storage.read(async (stores) => {
      const found = await stores.stateVersions.findOutput(id)
      if (found === undefined) throw notFound(id)
      await this.#readable(stores, found.stateVersionId, "canReadStateOutputs")
      return found.output
    })
  }

  async #readable(
    stores: UsedStores,
    id: string,
    permission: StatePermission,
  ): Promise<{ readonly version: StateVersion; readonly mayUpload: boolean }> {
    const version = await stores.stateVersions.find(id)
    if (version === undefined) throw notFound(id)
    const ref = { id: version.workspaceId }
    const { workspace, permissions, currentStateOnly } = await authorizeStateReading(
      stores,
      this.#caller,
      ref,
      permission,
    )
    if (currentStateOnly && workspace.currentStateVersionId !== version.id) throw notFound(id)
    return { version, mayUpload: permissions.canCreateStateVersions }
  }

  async #view(stores: UsedStores, version: StateVersion, mayUpload: boolean): Promise<StateVersionView> {
    return this.#viewOf(version, mayUpload, (await stores.stateVersions.related([version.id])).get(version.id))
  }

  /** An upload address lets whoever has it write the state, so readers are not given one. */
  #viewOf(
    { organizationId: _organizationId, lockNumber: _lockNumber, ...version }: StateVersion,
    mayUpload: boolean,
    related: { readonly outputIds: readonly string[]; readonly hasJsonState: boolean } = nothingRelated,
  ): StateVersionView {
    const now = this.#runtime.clock.now()
    const grant = (document: StateDocument) => grantUpload(this.#tools.signer, version.id, document, now)
    return {
      ...version,
      ...related,
      uploads:
        mayUpload && version.status === "pending" ? { state: grant("state"), "json-state": grant("json-state") } : null,
    }
  }
}

/** Uploads have no caller: the credential in the address is all there is. */
export class StateUploadService implements StateUploads {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #tools: StateTools

  constructor(storage: Storage<UsedStores>, runtime: Runtime, tools: StateTools) {
    this.#storage = storage
    this.#runtime = runtime
    this.#tools = tools
  }

  async upload(
    target: { readonly id: string; readonly document: StateDocument; readonly credential: string },
    read: () => Promise<Uint8Array>,
  ): Promise<void> {
    requireUploadGrant(this.#tools.signer, target, this.#runtime.clock.now())
    const id = target.id as StateVersionId
    const bytes = await read()
    if (target.document === "json-state") return this.#uploadJson(id, bytes)
    const state = await received(this.#tools.archive, id, bytes)
    const outputs = withIds(state.file.outputs, this.#runtime)
    await this.#storage.transact(async (stores) => {
      const pending = await found(stores, id)
      // The same bytes again are a retry whose first answer was lost.
      if (pending.status === "finalized" && pending.md5 === state.md5) return
      requirePending(pending)
      const finalized = finalize(pending, state.file, state)
      const workspace = await stores.workspaces.find({ id: pending.workspaceId })
      if (workspace === undefined) throw notFound(id)
      await stores.stateVersions.save(finalized)
      await stores.stateVersions.saveContent(id, "state", state.chunks)
      await stores.stateVersions.saveOutputs(id, outputs)
      await stores.workspaces.save(workspace, { ...workspace, ...becomingCurrent(finalized) })
    })
  }

  async #uploadJson(id: StateVersionId, bytes: Uint8Array): Promise<void> {
    const chunks = await packJson(this.#tools.archive, id, bytes)
    await this.#storage.transact(async (stores) => {
      requireNotDiscarded(await found(stores, id))
      await stores.stateVersions.saveContent(id, "json-state", chunks)
    })
  }
}

const nothingRelated = { outputIds: [], hasJsonState: false }

/** Clients that may read outputs see each secret one by one, never in a list. */
const withoutSecret = (output: StateVersionOutput): StateVersionOutput =>
  output.sensitive ? { ...output, value: null } : output

const becomingCurrent = (version: StateVersion): Partial<Workspace> =>
  version.intermediate ? {} : currentFacts(version)

async function currentVersion(
  { stateVersions }: Pick<UsedStores, "stateVersions">,
  { id, currentStateVersionId }: Workspace,
): Promise<StateVersion> {
  const version = currentStateVersionId === null ? undefined : await stateVersions.find(currentStateVersionId)
  if (version === undefined) throw notFound(id)
  return version
}

async function found({ stateVersions }: Pick<UsedStores, "stateVersions">, id: StateVersionId): Promise<StateVersion> {
  const version = await stateVersions.find(id)
  if (version === undefined) throw notFound(id)
  return version
}

async function received(archive: StateArchive, id: StateVersionId, bytes: Uint8Array) {
  requireSize(bytes)
  const file = parseStateFile(bytes)
  return { file, md5: archive.md5(bytes), size: bytes.length, chunks: await archive.pack(id, "state", bytes) }
}

async function packJson(archive: StateArchive, id: StateVersionId, bytes: Uint8Array): Promise<readonly Uint8Array[]> {
  requireSize(bytes)
  requireJson(bytes)
  return archive.pack(id, "json-state", bytes)
}

function requireSize(bytes: Uint8Array): void {
  if (bytes.length > stateBytesMaximum)
    throw new EngineError("too-large", `The state is larger than ${stateBytesMaximum} bytes.`)
}

function requireJson(bytes: Uint8Array): void {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    throw new EngineError("invalid", "The JSON state is not a JSON document", {
      faults: [{ field: ["jsonState"], detail: "JSON state is not a JSON document" }],
    })
  }
}

const withIds = (outputs: readonly StateOutput[], { random }: Runtime): StateVersionOutput[] =>
  outputs.map((output) => ({ ...output, id: newId("wsout", random) }))
