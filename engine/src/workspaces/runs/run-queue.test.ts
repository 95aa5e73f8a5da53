import { expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import type { Change } from "../../events/feed/event.ts"
import type { ConfigurationVersion, IngressAttributes } from "../configuration-versions/configuration-version.ts"
import type { Run } from "./run.ts"
import { newRun, queueRunFor } from "./run-queue.ts"
import type { SituatedWorkspace } from "../workspace/workspace.ts"

const ingress = { id: "ia-1", attributes: { commitMessage: "Widen the network" } as IngressAttributes }

/** Queues an uploaded configuration for a workspace with these settings and history, and returns the resulting runs. */
async function queued(
  configuration: Partial<ConfigurationVersion>,
  workspace: Partial<SituatedWorkspace> = {},
  hadRuns = false,
): Promise<{ readonly run: Run | undefined; readonly inserted: readonly Run[]; readonly current: readonly Run[] }> {
  const inserted: Run[] = []
  const current: Run[] = []
  const told: Change[] = []
  const repositories = {
    workspaces: {
      find: async () => ({
        id: "ws-1",
        organizationId: "org-1",
        autoApply: true,
        queueAllRuns: false,
        executionMode: "remote",
        organization: { remoteOperations: "on" },
        settingOverwrites: { executionMode: true, agentPool: true },
        ...workspace,
      }),
    },
    runs: {
      insert: async (run: Run) => void inserted.push(run),
      makeCurrent: async (run: Run) => void current.push(run),
      insertEvent: async () => undefined,
      hasAny: async () => hadRuns,
    },
    events: { append: async (event: Change) => void told.push(event) },
  } as unknown as Parameters<typeof queueRunFor>[0]
  const version = {
    id: "cv-1",
    workspaceId: "ws-1",
    autoQueueRuns: true,
    speculative: false,
    ingress: null,
    ...configuration,
  } as ConfigurationVersion
  const made = { ...newRun(systemRuntime().random, 5), createdBy: null }
  const run = await queueRunFor(repositories, version, made)
  expect(told.map(({ kind, subject }) => [kind, subject?.id])).toEqual(
    run === undefined ? [] : [["run.created", run.id]],
  )
  return { run, inserted, current }
}

test.each<{
  why: string
  configuration: Partial<ConfigurationVersion>
  workspace?: Partial<SituatedWorkspace>
  hadRuns?: boolean
  queues: boolean
}>([
  { why: "it has auto-queue-runs", configuration: {}, queues: true },
  { why: "it has no auto-queue-runs", configuration: { autoQueueRuns: false }, queues: false },
  { why: "its workspace executes locally", configuration: {}, workspace: { executionMode: "local" }, queues: false },
  { why: "it comes from the VCS before any run", configuration: { ingress }, queues: false },
  { why: "it comes from the VCS after a manual run", configuration: { ingress }, hadRuns: true, queues: true },
  {
    why: "it comes from the VCS and the workspace queues all runs",
    configuration: { ingress },
    workspace: { queueAllRuns: true },
    queues: true,
  },
])(
  "[W-4.2-r14] a configuration queues a run ($queues) when $why",
  async ({ configuration, workspace, hadRuns, queues }) => {
    const { run, inserted } = await queued(configuration, workspace, hadRuns)
    expect([run !== undefined, inserted.length]).toEqual([queues, queues ? 1 : 0])
  },
)

test("the run of a configuration has the configuration's source and the workspace's auto-apply", async () => {
  const { run, current } = await queued({ ingress }, { queueAllRuns: true })
  expect(run).toMatchObject({
    status: "pending",
    source: "tfe-configuration-version",
    message: "Widen the network",
    configurationVersionId: "cv-1",
    autoApply: true,
    planOnly: false,
    createdAt: 5,
  })
  expect(current).toEqual([run])
})

test("the run of a speculative configuration only plans and never becomes the current run", async () => {
  const { run, current } = await queued({ speculative: true })
  expect([run?.planOnly, current]).toEqual([true, []])
})
