import type { Page, PageRequest } from "../../core/page.ts"
import type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributesView,
  Readme,
} from "./configuration-version.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** What workspaces are configured with: where it came from, its archive and its readme. */
export interface ConfigurationVersions {
  create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView>
  get(id: string): Promise<ConfigurationVersionView>
  /** Newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>>
  /**
   * The archive of the configuration, tar compressed with gzip, once: refused with `conflict` unless it is pending. The same
   * bytes again change nothing.
   */
  upload(id: string, archive: Uint8Array): Promise<void>
  /** The archive as it was given; not found unless the configuration is `uploaded`. */
  download(id: string): Promise<Uint8Array>
  /**
   * Forgets the archive. Refused with `conflict` for the workspace's current one, for that of a run that has not ended, and for
   * one whose data was deleted.
   */
  archive(id: string): Promise<void>
  /**
   * Nobody can have the archive any more, until it is restored. Refused with `conflict` for the current one and for that of a
   * run that has not ended; not found where the edition is hosted.
   */
  softDeleteBackingData(id: string): Promise<void>
  restoreBackingData(id: string): Promise<void>
  /** What was softly deleted is gone for ever. */
  permanentlyDeleteBackingData(id: string): Promise<void>
  /** Forgotten by its workspace and its runs. Refused with `conflict` for that of a run that has not ended. */
  delete(id: string): Promise<void>
  /** Not found for one that did not come from a VCS. */
  ingressAttributes(id: string): Promise<IngressAttributesView>
  /** Of the workspace's current configuration version; not found while it has none. */
  readme(ref: WorkspaceRef): Promise<Readme>
}

/** For those who hold an upload address, whoever they are. */
export interface ConfigurationUploads {
  /** `read` is called only once the credential has proved good. */
  upload(target: { readonly id: string; readonly credential: string }, read: () => Promise<Uint8Array>): Promise<void>
}
