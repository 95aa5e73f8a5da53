// A workspace whose runs create resources, each of which leaves a trace outside of its state. Its client repeats requests until they are
// answered, and queues no run twice.
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { isTemporary } from "../../../engine/src/agent/runs/claim-retries.ts"
import type { Engine } from "../../../engine/src/engine.ts"
import { tarball } from "../../../engine/testing/tar-archive.ts"
import { isFinal } from "../../../engine/src/workspaces/runs/run-status.ts"
import type { RunView } from "../../../engine/src/workspaces/runs/run.ts"
import { settled } from "../replicas/client.ts"
import { agentNameVariable } from "./crashing-agent.ts"

export const organization = "default"
export const resourcesPerRun = 2
const pollMs = 250
/** All runs and state versions of a workspace. */
const all = { number: 1, size: 100 }

export interface AppliedWorkspaceOptions {
  readonly engine: Engine
  readonly name: string
  readonly poolId: string
  readonly toolVersion: string
  /** File to which the resources write. */
  readonly traceFile: string
}

export class AppliedWorkspace {
  readonly id: string
  readonly name: string
  readonly #engine: Engine

  private constructor(engine: Engine, id: string, name: string) {
    this.#engine = engine
    this.id = id
    this.name = name
  }

  /** Creates the workspace with its configuration, while the servers are up. */
  static async create(options: AppliedWorkspaceOptions): Promise<AppliedWorkspace> {
    const { engine, name, poolId, toolVersion, traceFile } = options
    const { id } = await engine.workspaces.create(organization, {
      name,
      executionMode: "agent",
      agentPoolId: poolId,
      autoApply: true,
      engineVersion: toolVersion,
    })
    const version = await engine.configurationVersions.create(
      { id },
      { speculative: false, provisional: false, autoQueueRuns: false, ingressAttributes: null, readme: null },
    )
    await engine.configurationVersions.upload(version.id, tarball({ "main.tf": configuration(traceFile) }))
    return new AppliedWorkspace(engine, id, name)
  }

  /** Queues two runs at a time, so that one waits for the other, and waits for their ends. Goes on until there are enough. */
  async work(isEnough: (runCount: number) => boolean, stop: AbortSignal): Promise<void> {
    for (let count = 0; !isEnough(count) && count < all.size && !stop.aborted; count += 2) {
      const ids = [await this.#queue(count + 1), await this.#queue(count + 2)]
      for (const id of ids) await this.#finish(id, stop)
    }
  }

  /** Lists the oldest first. */
  async runs(): Promise<readonly RunView[]> {
    const { items, totalCount } = await this.#answered(() => this.#engine.runs.list({ id: this.id }, {}, all))
    expect(items).toHaveLength(totalCount)
    return items.toReversed()
  }

  /** Returns the states of the workspace, the oldest first, with the runs that created them. */
  async states(): Promise<readonly { readonly runId: string | null; readonly ids: ReadonlySet<string> }[]> {
    const { stateVersions } = this.#engine
    const ids: string[] = []
    for (let number = 1, last = 1; number <= last; number += 1) {
      const page = await stateVersions.list({ id: this.id }, {}, { ...all, number })
      ids.push(...page.items.map(({ id }) => id))
      last = Math.ceil(page.totalCount / all.size)
    }
    return Promise.all(
      ids.toReversed().map(async (id) => {
        const { runId } = await stateVersions.get(id)
        return { runId, ids: resourceIds(await textOf(await stateVersions.download(id, "state"))) }
      }),
    )
  }

  /** Returns the ids of the current state. Empty if there is none. */
  async currentState(): Promise<ReadonlySet<string>> {
    const { stateVersions, workspaces } = this.#engine
    const { currentStateVersionId: id } = await workspaces.get({ id: this.id })
    return id === null ? new Set() : resourceIds(await textOf(await stateVersions.download(id, "state")))
  }

  async #queue(number: number): Promise<string> {
    const message = `run ${number}`
    const variables = [{ key: "resources", value: String(number * resourcesPerRun) }]
    const input = { message, isDestroy: false, autoApply: null, planOnly: false, refreshOnly: false }
    for (;;) {
      const known = (await this.runs()).find((run) => run.message === message)
      if (known !== undefined) return known.id
      try {
        return (await this.#engine.runs.create({ id: this.id }, { ...input, variables, configurationVersionId: null }))
          .id
      } catch (error) {
        if (!isTemporary(error)) throw error
        await settled()
      }
    }
  }

  async #finish(id: string, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (isFinal((await this.#answered(() => this.#engine.runs.get(id))).status)) return
      await sleep(pollMs)
    }
  }

  async #answered<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!isTemporary(error)) throw error
        await sleep(pollMs)
      }
    }
  }
}

/** Each resource writes a line before and after its creation. The second one of a run takes longer than the interval of snapshots. */
const configuration = (traceFile: string): string => `
variable "resources" {
  type = number
}

resource "terraform_data" "one" {
  count = var.resources
  provisioner "local-exec" {
    command = <<-EOT
      trace() { echo "$1 $TFC_RUN_ID \${self.id} \${count.index} $${agentNameVariable} $(date +%s%3N)" >> '${traceFile}'; }
      trace begin
      sleep \${count.index % ${resourcesPerRun} == 0 ? "0.2" : "2.5"}
      trace end
    EOT
  }
}
`

/** Returns the ids of all complete resources of a state. */
export function resourceIds(state: string): ReadonlySet<string> {
  const { resources } = JSON.parse(state) as {
    readonly resources: readonly { readonly instances: readonly { readonly attributes: { readonly id: string } }[] }[]
  }
  return new Set(resources.flatMap(({ instances }) => instances.map(({ attributes }) => attributes.id)))
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
