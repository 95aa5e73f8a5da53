// Executors that can take runs. A run that no executor could ever take is rejected; other runs wait, so that agents can be scaled from zero.
import { unprocessable } from "../../core/errors.ts"
import { formatInstant, type Instant, secondMs } from "../../core/time.ts"
import { configuredExecution, effectiveExecution, type SituatedWorkspace } from "../workspace/workspace.ts"
import type { ExecutorFacts, ExecutorGroup, ExecutorQuery, ExecutorRepository } from "./executor-repository.ts"
import type { RunClaim } from "./run.ts"

/** Claims arrive every few seconds. One write per interval is enough to know that executors are there. */
const recordEveryMs = 30 * secondMs

/** Records that an executor of the group asked for a run. */
export async function recordExecutor(
  { executors }: { readonly executors: ExecutorRepository },
  group: ExecutorGroup,
  now: Instant,
): Promise<void> {
  if (isDue(await executors.lastSeenAt(group), now)) await executors.saveLastSeenAt(group, now)
}

/** Returns whether a claim must be recorded again. A time ahead of `now` was written by a server whose clock was ahead. */
export const isDue = (lastSeenAt: Instant | null, now: Instant): boolean =>
  lastSeenAt === null || Math.abs(now - lastSeenAt) >= recordEveryMs

export const executorQuery = (
  workspace: SituatedWorkspace,
  now: Instant,
  { agentPoolId } = effectiveExecution(workspace),
): ExecutorQuery => ({
  organizationId: workspace.organizationId,
  workspaceId: workspace.id,
  projectId: workspace.projectId,
  agentPoolId,
  now,
})

/** Returns the executors that take the run of a claim. Users and teams claim runs of a pool only with this pool as their target. */
export function groupOfClaim({ by }: Pick<RunClaim, "by">, workspace: SituatedWorkspace): ExecutorGroup {
  if (by.kind === "agent-pools") return { agentPoolId: by.id }
  const { agentPoolId } = configuredExecution(workspace)
  return agentPoolId === null ? { organizationId: workspace.organizationId } : { agentPoolId }
}

/** Throws `unprocessable` if no executor could ever take a run of the workspace. */
export async function requireExecutor(
  { executors }: { readonly executors: ExecutorRepository },
  workspace: SituatedWorkspace,
  now: Instant,
): Promise<void> {
  const facts = await executors.facts(executorQuery(workspace, now))
  if (facts.hasAgentToken || facts.lastSeenAt !== null) return
  const detail = noAgentText(workspace, facts)
  throw unprocessable(detail, [{ field: ["workspace"], detail }])
}

export function noAgentText(
  { organization }: Pick<SituatedWorkspace, "organization">,
  { pool }: Pick<ExecutorFacts, "pool">,
): string {
  const served = pool === undefined ? "" : ` the agent pool ${pool} of`
  return `No agent serves${served} organization ${organization.name}. Start one: ${startAgent}`
}

/** Returns the reason for the wait of a run whose executors are silent. */
export function silentAgentText(
  { organization }: Pick<SituatedWorkspace, "organization">,
  { pool, lastSeenAt }: Pick<ExecutorFacts, "pool" | "lastSeenAt">,
): string {
  const agent = `No agent of ${pool === undefined ? `organization ${organization.name}` : `the agent pool ${pool}`}`
  const silence = lastSeenAt === null ? "was seen yet" : `was seen since ${formatInstant(lastSeenAt)}`
  return `${agent} ${silence}. The run waits for one: ${startAgent}`
}

const startAgent = "chancery agent --token-file FILE (docs/agents.md)"
