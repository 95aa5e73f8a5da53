import type { Page, PageRequest } from "../../core/page.ts"
import type { StateDocument, StateVersionInput, StateVersionOutput, StateVersionView } from "./state-version.ts"
import type { StateVersionQuery } from "./state-version-repository.ts"
import type { WorkspaceResource } from "./workspace-resource.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** The state versions of workspaces; embedded and remote behave alike. */
export interface StateVersions {
  /**
   * By who holds the workspace's lock, else `conflict`; so is a serial or lineage that does not follow. Without a state it is
   * `pending` until its bytes arrive at the server, with `uploads` to say as whose.
   */
  create(ref: WorkspaceRef, input: StateVersionInput): Promise<StateVersionView>
  get(id: string): Promise<StateVersionView>
  /** Not found while the workspace has none. */
  current(ref: WorkspaceRef): Promise<StateVersionView>
  /** Newest first. */
  list(ref: WorkspaceRef, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersionView>>
  /**
   * Sends a document of a pending version, as `uploads` lets whoever is given them do. What goes before the whole document was
   * taken leaves the version as it was.
   */
  upload(id: string, document: StateDocument, content: AsyncIterable<Uint8Array>): Promise<void>
  /** The bytes as they were given, read as they are taken. */
  download(id: string, document: StateDocument): Promise<DocumentContent>
  /** A new version, current at once, with the state of an earlier one under a serial above all others; by who holds the lock. */
  rollback(ref: WorkspaceRef, stateVersionId: string): Promise<StateVersionView>
  /** Nobody can have the documents any more, until they are restored. Not those of the current version; not found where the edition is hosted. */
  softDeleteBackingData(id: string): Promise<void>
  restoreBackingData(id: string): Promise<void>
  /** What was softly deleted is gone for ever. */
  permanentlyDeleteBackingData(id: string): Promise<void>
  /** What the current state manages, by address; none while there is no state. */
  resources(ref: WorkspaceRef, page: PageRequest): Promise<Page<WorkspaceResource>>
  /** With the values of sensitive ones. */
  outputs(id: string, page: PageRequest): Promise<Page<StateVersionOutput>>
  /** All of them, with null for the value of a sensitive one. */
  currentOutputs(ref: WorkspaceRef): Promise<readonly StateVersionOutput[]>
  output(id: string): Promise<StateVersionOutput>
}

/** The octets of a document as they come. */
export interface DocumentContent extends AsyncIterable<Uint8Array> {
  /** How many, where it is known beforehand. */
  readonly sizeBytes?: number | undefined
}

export interface AddressedDocument {
  readonly id: string
  readonly document: StateDocument
  /** Part of the address. */
  readonly credential: string
}

/** Up and down without a token: the address is the credential. Not found where it is not good. */
export interface StateTransfers {
  /** No longer document is taken. */
  readonly limitBytes: number
  /** `content` is asked for only once the credential has proved good. */
  upload(
    target: AddressedDocument,
    content: AsyncIterable<Uint8Array>,
    announced?: { readonly sizeBytes: number | undefined },
  ): Promise<void>
  download(target: AddressedDocument): Promise<DocumentContent>
}
