// A claim of a run, over the API that docs/runs.md tells of.
import { setTimeout as sleep } from "node:timers/promises"

export interface Run {
  readonly id: string
  readonly status: string
  readonly isDestroy: boolean
  readonly refreshOnly: boolean
  readonly refresh: boolean
  readonly targetAddrs: readonly string[]
  readonly replaceAddrs: readonly string[]
  readonly variables: readonly { readonly key: string; readonly value: string }[]
}

export interface Variable {
  readonly key: string
  readonly value: string
  readonly category: "terraform" | "env"
  readonly hcl: boolean
}

export interface Counts {
  readonly additions: number
  readonly changes: number
  readonly destructions: number
  readonly imports: number
}

export interface Claim {
  readonly id: string
  readonly workspaceName: string
  /** Below the root of the configuration; empty for the root itself. */
  readonly workingDirectory: string
  /** The run at the time of the claim. */
  readonly run: Run
  /** Renews the claim and returns the run's current status. */
  heartbeat(): Promise<{ readonly status: string; readonly beingCanceled: boolean }>
  /** Reports a status or result and returns the run's status afterwards. */
  report(status: string, result?: { readonly counts?: Counts; readonly hasChanges?: boolean }): Promise<string>
  /** Returns the length of the log afterwards. */
  appendLog(stage: Stage, offset: number, bytes: Uint8Array): Promise<number>
  variables(): Promise<readonly Variable[]>
  /** Returns undefined if there is none, as the next two do. */
  configuration(): Promise<Uint8Array | undefined>
  state(): Promise<Uint8Array | undefined>
  planFile(): Promise<Uint8Array | undefined>
  savePlan(name: "plan-file" | "json-output", bytes: Uint8Array): Promise<void>
  saveState(
    state: { readonly serial: number; readonly lineage: string; readonly md5: string },
    bytes: Uint8Array,
  ): Promise<void>
  /** Ends the claim, so that another executor, or this one after a confirmation, can claim the run. */
  release(): Promise<void>
}
export type Stage = "plan" | "apply"

/** A refused request. 404 and 409 mean that another executor has the run. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly document?: unknown
  readonly octets?: Uint8Array
}

interface Resource {
  readonly id: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly attributes: any
}
interface Answer {
  readonly data: Resource
  readonly included: readonly Resource[]
}

const attempts = 5
const pauseMs = 500
const answerMs = 60_000

export interface Server {
  readonly address: string
  readonly token: string
}

/** Everything but a claim itself may be asked again: the server knows what it has been told already. */
const ask = (server: Server, request: Request): Promise<Response> => withRetries(() => once(server, request))

async function withRetries(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await send()
      if (response.status < 500 && response.status !== 429) return response
      if (attempt >= attempts) return response
      await response.body?.cancel()
    } catch (error) {
      if (attempt >= attempts) throw error
    }
    await sleep(pauseMs * 2 ** attempt)
  }
}

function once({ address, token }: Server, { method, path, document, octets }: Request): Promise<Response> {
  const type = octets === undefined ? "application/vnd.api+json" : "application/octet-stream"
  const body = octets === undefined ? (document === undefined ? null : JSON.stringify(document)) : Buffer.from(octets)
  return fetch(`${address}/api/v2${path}`, {
    method,
    body,
    headers: { authorization: `Bearer ${token}`, ...(body === null ? {} : { "content-type": type }) },
    signal: AbortSignal.timeout(answerMs),
  })
}

/** The address is its own credential. */
const sendTo = (address: string, octets: Uint8Array): Promise<Response> =>
  fetch(address, {
    method: "PUT",
    body: Buffer.from(octets),
    headers: { "content-type": "application/octet-stream" },
    signal: AbortSignal.timeout(answerMs),
  })

async function answered(response: Response): Promise<Response> {
  if (response.ok) return response
  throw new Refused(response.status, `${response.status}: ${await response.text()}`)
}

const documentOf = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
})

/** Undefined where no run came within `waitSeconds`. `target` is `agent-pools/…`, `workspaces/…` or `organizations/…`. */
export async function claimRun(
  server: Server,
  target: string,
  options: { readonly name: string; readonly leaseSeconds: number; readonly waitSeconds: number },
): Promise<Claim | undefined> {
  const attributes = {
    name: options.name,
    "lease-seconds": options.leaseSeconds,
    "wait-seconds": options.waitSeconds,
  }
  // Asked once: a claim whose answer is lost ends with its lease.
  const request: Request = {
    method: "POST",
    path: `/${target}/run-claims`,
    document: documentOf("run-claims", attributes),
  }
  const response = await answered(await once(server, request))
  return response.status === 204 ? undefined : claimOf(server, (await response.json()) as Answer)
}

function claimOf(server: Server, { data, included: [run] }: Answer): Claim {
  if (run === undefined) throw new Error("the claim came without its run")
  const place = `/run-claims/${data.id}`
  const done = async (request: Request): Promise<void> => {
    await (await answered(await ask(server, request))).body?.cancel()
  }
  const bytes = async (path: string): Promise<Uint8Array | undefined> => {
    const response = await ask(server, { method: "GET", path: `${place}/${path}` })
    if (response.status === 404) {
      await response.body?.cancel()
      return undefined
    }
    return new Uint8Array(await (await answered(response)).arrayBuffer())
  }
  const runAfter = async (action: string, document?: unknown): Promise<Resource["attributes"]> => {
    const request: Request = { method: "POST", path: `${place}/actions/${action}`, document }
    const answer = (await (await answered(await ask(server, request))).json()) as Answer
    return answer.included[0]?.attributes
  }
  return {
    id: data.id,
    workspaceName: data.attributes["workspace-name"],
    workingDirectory: data.attributes["working-directory"] ?? "",
    run: {
      id: run.id,
      status: run.attributes.status,
      isDestroy: run.attributes["is-destroy"],
      refreshOnly: run.attributes["refresh-only"],
      refresh: run.attributes.refresh,
      targetAddrs: run.attributes["target-addrs"],
      replaceAddrs: run.attributes["replace-addrs"],
      variables: run.attributes.variables,
    },
    async heartbeat() {
      const attributes = await runAfter("heartbeat")
      return { status: attributes.status, beingCanceled: attributes["canceled-at"] !== undefined }
    },
    async report(status, { counts, hasChanges } = {}) {
      const numbers = Object.entries(counts ?? {}).map(([name, count]) => [`resource-${name}`, count])
      const attributes = { status, "has-changes": hasChanges, ...Object.fromEntries(numbers) }
      return (await runAfter("report", documentOf("runs", attributes))).status
    },
    async appendLog(stage, offset, octets) {
      const path = `${place}/logs/${stage}?offset=${offset}`
      const response = await answered(await ask(server, { method: "POST", path, octets }))
      const { data: log } = (await response.json()) as Answer
      return log.attributes.size
    },
    async variables() {
      const response = await answered(await ask(server, { method: "GET", path: `${place}/variables` }))
      const { data: variables } = (await response.json()) as { readonly data: readonly Resource[] }
      return variables.map(({ attributes }) => attributes as Variable)
    },
    configuration: () => bytes("configuration"),
    state: () => bytes("state"),
    planFile: () => bytes("documents/plan-file"),
    savePlan: (name, octets) => done({ method: "PUT", path: `${place}/documents/${name}`, octets }),
    async saveState(state, octets) {
      const document = documentOf("state-versions", state)
      const made = await answered(await ask(server, { method: "POST", path: `${place}/state-versions`, document }))
      const { data: version } = (await made.json()) as Answer
      const address = version.attributes["hosted-state-upload-url"] as string
      await (await answered(await withRetries(() => sendTo(address, octets)))).body?.cancel()
    },
    release: () => done({ method: "DELETE", path: place }),
  }
}
