import type { Migration } from "../migrate.ts"
import { workspacesMigration } from "./0001-workspaces.ts"

/** In order of application; a released one is never changed. */
export const migrations: readonly Migration[] = [workspacesMigration]
