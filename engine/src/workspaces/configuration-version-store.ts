import type { ConfigurationVersionId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { ConfigurationVersion } from "./configuration-version.ts"

export interface ConfigurationVersionStore {
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
  /** Runs that used it stay and forget it. */
  remove(id: ConfigurationVersionId): Promise<void>
}
