// Runs are queued and claimed by several executors: each is claimed by one of them.
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { type Load, type ReplicaClient, settled, NoAnswerError } from "./client.ts"
import { newWorkspace, workspaces } from "./workspace-load.ts"

const workspaceCount = 3
const executorCount = 3
const betweenRunsMs = 150
const leaseSeconds = 600
const claims = "/api/v2/organizations/default/run-claims"

const claimOf = (name: string, waitSeconds: number) => ({
  data: { type: "run-claims", attributes: { name, "lease-seconds": leaseSeconds, "wait-seconds": waitSeconds } },
})

export class RunLoad implements Load {
  readonly #client: ReplicaClient
  readonly #workspaces: string[] = []
  readonly #queued: string[] = []
  readonly #claims = new Map<string, string[]>()
  readonly #finished = new Set<string>()

  constructor(client: ReplicaClient) {
    this.#client = client
  }

  async prepare(): Promise<void> {
    for (let index = 0; index < workspaceCount; index += 1) {
      const document = newWorkspace(`runs-${index}`, { "execution-mode": "remote" })
      this.#workspaces.push((await this.#client.change("POST", workspaces, document))?.body.data.id)
    }
    // The server rejects runs of an organization for which no executor ever asked.
    await this.#client.change("POST", claims, claimOf("executor", 0))
  }

  async run(signal: AbortSignal): Promise<void> {
    const executors = Array.from({ length: executorCount }, (_, index) => this.#execute(`executor-${index}`, signal))
    await Promise.all([...this.#workspaces.map((workspace) => this.#queue(workspace, signal)), ...executors])
  }

  async #queue(workspace: string, signal: AbortSignal): Promise<void> {
    const relationships = { workspace: { data: { type: "workspaces", id: workspace } } }
    const document = { data: { type: "runs", attributes: { "plan-only": true }, relationships } }
    while (!signal.aborted) {
      try {
        const answer = await this.#client.change("POST", "/api/v2/runs", document)
        if (answer !== undefined) this.#queued.push(answer.body.data.id)
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
      }
      await sleep(betweenRunsMs)
    }
  }

  async #execute(name: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const answer = await this.#client.change("POST", claims, claimOf(name, 1))
        if (answer?.status === 201) await this.#finish(answer.body)
      } catch (error) {
        // A claim whose answer was lost keeps its run until the claim expires.
        if (!(error instanceof NoAnswerError)) throw error
      }
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async #finish({ data, included }: any): Promise<void> {
    const run: string = included.find(({ type }: { readonly type: string }) => type === "runs").id
    this.#claims.set(run, [...(this.#claims.get(run) ?? []), data.id])
    for (const status of ["planning", "planned_and_finished"]) {
      const step = { data: { type: "runs", attributes: { status } } }
      const { status: answered, body } = await this.#report(`/api/v2/run-claims/${data.id}/actions/report`, step)
      if (answered !== 200) return this.#client.fault(`report ${status} of ${run}: ${answered} ${JSON.stringify(body)}`)
    }
    this.#finished.add(run)
  }

  /** Reports a step, repeatedly if needed: the last reported step may be reported again. */
  async #report(path: string, step: object) {
    for (;;) {
      try {
        return await this.#client.send("POST", path, step)
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        await settled()
      }
    }
  }

  async verify(): Promise<string> {
    expect([...this.#claims].filter(([, claims]) => claims.length > 1)).toEqual([])
    const statusOf = async (run: string): Promise<string> =>
      (await this.#client.read(`/api/v2/runs/${run}`)).body.data.attributes.status
    const unlike: string[] = []
    for (const run of this.#queued) {
      const status = await statusOf(run)
      const expected = this.#finished.has(run) ? ["planned_and_finished"] : ["pending", "plan_queued"]
      if (!expected.includes(status)) unlike.push(`${run} is ${status}`)
    }
    expect(unlike).toEqual([])
    return `${this.#queued.length} runs acknowledged, ${this.#claims.size} claimed`
  }
}
