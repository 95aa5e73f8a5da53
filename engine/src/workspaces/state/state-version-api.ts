import type { Page, PageRequest } from "../../core/page.ts"
import type { StateDocument, StateVersionInput, StateVersionOutput, StateVersionView } from "./state-version.ts"
import type { StateVersionQuery } from "./state-version-repository.ts"
import type { WorkspaceResource } from "./workspace-resource.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** Operations on state versions. The embedded and the remote engine behave alike. */
export interface StateVersions {
  /**
   * Creates a state version. Throws `conflict` if the caller does not hold the workspace's lock, or if serial or lineage conflict with the
   * last version. Without a state, the version is `pending` until its bytes are uploaded; `uploads` contains the credentials for that.
   */
  create(ref: WorkspaceRef, input: StateVersionInput): Promise<StateVersionView>
  get(id: string): Promise<StateVersionView>
  /** Returns the current state version. Throws `not-found` if the workspace has none. */
  current(ref: WorkspaceRef): Promise<StateVersionView>
  /** Lists the newest first. */
  list(ref: WorkspaceRef, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersionView>>
  /**
   * Uploads a document of a pending version, as the URLs with the credentials of `uploads` do. An upload that is interrupted leaves the
   * version unchanged.
   */
  upload(id: string, document: StateDocument, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Returns the bytes as they were uploaded. Reads them while the caller consumes them. */
  download(id: string, document: StateDocument): Promise<DocumentContent>
  /**
   * Creates a version with the state of an earlier one and a serial above all others. It is current at once. The caller must hold the lock.
   */
  rollback(ref: WorkspaceRef, stateVersionId: string): Promise<StateVersionView>
  /**
   * Makes the documents unavailable until they are restored. Throws `conflict` for the current version, and `not-found` in the hosted
   * edition.
   */
  softDeleteBackingData(id: string): Promise<void>
  restoreBackingData(id: string): Promise<void>
  /** Deletes softly deleted documents permanently. */
  permanentlyDeleteBackingData(id: string): Promise<void>
  /** Lists the resources that the current state manages, by address. Empty if there is no state. */
  resources(ref: WorkspaceRef, page: PageRequest): Promise<Page<WorkspaceResource>>
  /** Lists the outputs of a version, with the values of sensitive ones. */
  outputs(id: string, page: PageRequest): Promise<Page<StateVersionOutput>>
  /** Returns all outputs of the current version. The value of a sensitive output is null. */
  currentOutputs(ref: WorkspaceRef): Promise<readonly StateVersionOutput[]>
  output(id: string): Promise<StateVersionOutput>
}

/** Bytes of a document as a stream. */
export interface DocumentContent extends AsyncIterable<Uint8Array> {
  /** Size, if it is known in advance. */
  readonly sizeBytes?: number | undefined
}

export interface AddressedDocument {
  readonly id: string
  readonly document: StateDocument
  /** Credential in the URL. */
  readonly credential: string
}

/** Upload and download without a token: the URL contains the credential. Methods throw `not-found` if it is invalid. */
export interface StateTransfers {
  /** Size limit of an upload. */
  readonly limitBytes: number
  /** Uploads a document. Reads `content` only after the credential has been verified. */
  upload(
    target: AddressedDocument,
    content: AsyncIterable<Uint8Array>,
    announced?: { readonly sizeBytes: number | undefined },
  ): Promise<void>
  download(target: AddressedDocument): Promise<DocumentContent>
}
