import type { ConfigurationVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { ConfigurationVersion } from "./configuration-version.ts"

export interface ConfigurationVersionRepository {
  find(id: string): Promise<ConfigurationVersion | undefined>
  findMany(ids: readonly string[]): Promise<readonly ConfigurationVersion[]>
  findByIngress(ingressAttributesId: string): Promise<ConfigurationVersion | undefined>
  /** Newest first. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<ConfigurationVersion>>
  insert(version: ConfigurationVersion): Promise<void>
  /** Its status, and what was found in its content. */
  save(version: ConfigurationVersion): Promise<void>
  /** The chunks of its archive in their order; none before it was uploaded. */
  content(id: ConfigurationVersionId): Promise<readonly Uint8Array[]>
  /** In the place of those there were. */
  saveContent(id: ConfigurationVersionId, chunks: readonly Uint8Array[]): Promise<void>
  /** Of those whose archive is there, which their retention policies give up: older than it keeps them, and needed by nothing. */
  givenUp(now: Instant, limit: number): Promise<readonly ConfigurationVersionId[]>
  /** Their archives are gone for ever. */
  removeContents(ids: readonly ConfigurationVersionId[]): Promise<void>
  /** Runs that used it stay and forget it. */
  remove(id: ConfigurationVersionId): Promise<void>
}
