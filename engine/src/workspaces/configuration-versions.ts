import type { Page, PageRequest } from "../core/page.ts"
import type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributesView,
  Readme,
} from "./configuration-version.ts"
import type { WorkspaceRef } from "./workspace.ts"

export interface ConfigurationVersions {
  create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView>
  get(id: string): Promise<ConfigurationVersionView>
  /** Newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>>
  archive(id: string): Promise<void>
  delete(id: string): Promise<void>
  ingressAttributes(id: string): Promise<IngressAttributesView>
  /** Of the workspace's current configuration version; not found while it has none. */
  readme(ref: WorkspaceRef): Promise<Readme>
}
