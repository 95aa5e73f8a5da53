import type { Page, PageRequest } from "../core/page.ts"
import type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributesView,
  Readme,
} from "./configuration-version.ts"
import type { WorkspaceRef } from "./workspace.ts"

/** What workspaces are configured with: records of where it came from, and its readme. */
export interface ConfigurationVersions {
  create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView>
  get(id: string): Promise<ConfigurationVersionView>
  /** Newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>>
  /** Refused with `conflict` for the workspace's current one. */
  archive(id: string): Promise<void>
  delete(id: string): Promise<void>
  /** Not found for one that did not come from a VCS. */
  ingressAttributes(id: string): Promise<IngressAttributesView>
  /** Of the workspace's current configuration version; not found while it has none. */
  readme(ref: WorkspaceRef): Promise<Readme>
}
