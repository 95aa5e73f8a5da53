import type { ConfigurationVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { ConfigurationVersion } from "./configuration-version.ts"

export interface ConfigurationVersionRepository {
  find(id: string): Promise<ConfigurationVersion | undefined>
  findMany(ids: readonly string[]): Promise<readonly ConfigurationVersion[]>
  findByIngress(ingressAttributesId: string): Promise<ConfigurationVersion | undefined>
  /** Lists the newest first. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<ConfigurationVersion>>
  insert(version: ConfigurationVersion): Promise<void>
  /** Saves the status and what was read from the content. */
  save(version: ConfigurationVersion): Promise<void>
  /** Returns the chunks of the archive in order. Empty before the upload. */
  content(id: ConfigurationVersionId): Promise<readonly Uint8Array[]>
  /** Saves chunks, and replaces the earlier ones. */
  saveContent(id: ConfigurationVersionId, chunks: readonly Uint8Array[]): Promise<void>
  /** Returns versions with an archive that their retention policies no longer keep and that is not in use. */
  givenUp(now: Instant, limit: number): Promise<readonly ConfigurationVersionId[]>
  /** Deletes their archives permanently. */
  removeContents(ids: readonly ConfigurationVersionId[]): Promise<void>
  /** Deletes the version. Runs that used it stay, without the reference. */
  remove(id: ConfigurationVersionId): Promise<void>
}
