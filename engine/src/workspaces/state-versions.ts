import type { Page, PageRequest } from "../core/page.ts"
import type { StateDocument, StateVersionInput, StateVersionOutput, StateVersionView } from "./state-version.ts"
import type { StateVersionQuery } from "./state-version-store.ts"
import type { WorkspaceRef } from "./workspace.ts"

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
  /** The bytes as they were given. */
  download(id: string, document: StateDocument): Promise<Uint8Array>
  /** With the values of sensitive ones. */
  outputs(id: string, page: PageRequest): Promise<Page<StateVersionOutput>>
  /** All of them, with null for the value of a sensitive one. */
  currentOutputs(ref: WorkspaceRef): Promise<readonly StateVersionOutput[]>
  output(id: string): Promise<StateVersionOutput>
}

/** The second step of creation. It asks for no token; the credential is part of the address. */
export interface StateUploads {
  /** `read` is called only once the credential has proved good. */
  upload(
    target: { readonly id: string; readonly document: StateDocument; readonly credential: string },
    read: () => Promise<Uint8Array>,
  ): Promise<void>
}
