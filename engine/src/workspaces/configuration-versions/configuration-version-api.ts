import type { Page, PageRequest } from "../../core/page.ts"
import type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributesView,
  Readme,
} from "./configuration-version.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** Operations on configuration versions: their VCS attributes, archives and readmes. */
export interface ConfigurationVersions {
  create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView>
  get(id: string): Promise<ConfigurationVersionView>
  /** Lists the newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>>
  /**
   * Uploads the archive of the configuration, tar compressed with gzip. The same bytes again change nothing. Others replace the archive
   * until a run uses the version, and throw `conflict` afterwards. Throws `conflict` if the version is neither pending nor uploaded.
   */
  upload(id: string, archive: Uint8Array): Promise<void>
  /** Returns the archive as it was uploaded. Throws `not-found` unless the version is `uploaded`. */
  download(id: string): Promise<Uint8Array>
  /**
   * Deletes the archive. Throws `conflict` if the version is the workspace's current one, an unfinished run uses it, or its data was
   * deleted.
   */
  archive(id: string): Promise<void>
  /**
   * Makes the archive unavailable until it is restored. Throws `conflict` if the version is the current one or an unfinished run uses it.
   * Throws `not-found` in the hosted edition.
   */
  softDeleteBackingData(id: string): Promise<void>
  restoreBackingData(id: string): Promise<void>
  /** Deletes a softly deleted archive permanently. */
  permanentlyDeleteBackingData(id: string): Promise<void>
  /** Deletes the version. Workspace and runs no longer refer to it. Throws `conflict` if an unfinished run uses it. */
  delete(id: string): Promise<void>
  /** Throws `not-found` if the version did not come from VCS. */
  ingressAttributes(id: string): Promise<IngressAttributesView>
  /** Returns the readme of the workspace's current configuration version. Throws `not-found` if there is none. */
  readme(ref: WorkspaceRef): Promise<Readme>
}

/** Uploads without a caller, by the credential in the upload URL. */
export interface ConfigurationUploads {
  /** Calls `read` only after the credential has been verified. */
  upload(target: { readonly id: string; readonly credential: string }, read: () => Promise<Uint8Array>): Promise<void>
}
