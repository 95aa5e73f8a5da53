import type { Change } from "../events/event.ts"
import type { Run } from "./run.ts"
import type { Workspace } from "./workspace.ts"

export const runEvent = (
  kind: "run.created" | "run.updated",
  workspace: Pick<Workspace, "id" | "organizationId" | "name">,
  { id, status }: Run,
  changed: readonly string[] = ["status"],
): Change => ({
  kind,
  workspace,
  subject: { type: "runs", id, status },
  ...(kind === "run.updated" ? { changed } : {}),
})
