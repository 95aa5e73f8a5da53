// Simulates an executor for the runs that the tests queue, over the public claim API (docs/runs.md). It plans nothing: each plan finds one
// change.
import { createHash, randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

export interface Api {
  readonly address: string
  readonly token: string
}

interface Resource {
  readonly id: string
  readonly attributes: { readonly [name: string]: unknown }
}

const pollMs = 200
const planLog = "Terraform v1.11.4\n\nPlan: 1 to add, 0 to change, 0 to destroy.\n"
const applyLog = "Terraform v1.11.4\n\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n"

/** Claims the runs of the caller's organizations until `signal` aborts. */
export async function playRuns(api: Api, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await send(api, "GET", "/organizations?page[size]=100")
    const { data: organizations } = (await response.json()) as { readonly data: readonly Resource[] }
    for (const { id } of organizations) await playWaitingRuns(api, id)
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

async function playWaitingRuns(api: Api, organization: string): Promise<void> {
  for (;;) {
    const response = await send(api, "POST", `/organizations/${organization}/run-claims`, {
      data: { type: "run-claims", attributes: { name: "go-tfe-suite" } },
    })
    // 404 if the test has deleted the organization.
    if (response.status !== 201) return response.body?.cancel()
    const { data, included } = (await response.json()) as {
      readonly data: Resource
      readonly included: readonly Resource[]
    }
    await playRun(api, `/run-claims/${data.id}`, String(included[0]?.attributes["status"]))
  }
}

/** Plays one run. A test may cancel or delete the run at any moment; its remaining reports are then refused, and the next run follows. */
async function playRun(api: Api, claim: string, status: string): Promise<void> {
  const reached = status === "plan_queued" ? await plan(api, claim) : status
  if (reached === "confirmed" || reached === "apply_queued") await apply(api, claim)
  // A new claim follows once the run has been confirmed.
  else await discardBody(send(api, "DELETE", claim))
}

async function plan(api: Api, claim: string): Promise<string | undefined> {
  await report(api, claim, { status: "planning" })
  await appendLog(api, `${claim}/logs/plan`, planLog)
  await discardBody(send(api, "PUT", `${claim}/documents/json-output`, Buffer.from(JSON.stringify(plannedChange))))
  return report(api, claim, { status: "planned", "has-changes": true, "resource-additions": 1 })
}

async function apply(api: Api, claim: string): Promise<void> {
  await report(api, claim, { status: "applying" })
  await appendLog(api, `${claim}/logs/apply`, applyLog)
  await saveState(api, claim)
  await report(api, claim, { status: "applied", "resource-additions": 1 })
}

async function report(api: Api, claim: string, attributes: object): Promise<string | undefined> {
  const response = await send(api, "POST", `${claim}/actions/report`, { data: { type: "runs", attributes } })
  if (!response.ok) {
    await response.body?.cancel()
    return undefined
  }
  const { included } = (await response.json()) as { readonly included: readonly Resource[] }
  return String(included[0]?.attributes["status"])
}

const appendLog = (api: Api, path: string, text: string): Promise<void> =>
  discardBody(send(api, "POST", `${path}?offset=0`, Buffer.from(text)))

async function saveState(api: Api, claim: string): Promise<void> {
  const before = await send(api, "GET", `${claim}/state`)
  const current = before.ok ? ((await before.json()) as { serial: number; lineage: string }) : undefined
  const serial = (current?.serial ?? 0) + 1
  const lineage = current?.lineage ?? randomUUID()
  const state = Buffer.from(JSON.stringify({ ...appliedState, serial, lineage }))
  const attributes = {
    serial,
    lineage,
    md5: createHash("md5").update(state).digest("hex"),
    state: state.toString("base64"),
  }
  await discardBody(send(api, "POST", `${claim}/state-versions`, { data: { type: "state-versions", attributes } }))
}

async function discardBody(response: Promise<Response>): Promise<void> {
  await (await response).body?.cancel()
}

function send({ address, token }: Api, method: string, path: string, body?: object): Promise<Response> {
  const isBytes = body instanceof Uint8Array
  return fetch(`${address}/api/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined
        ? {}
        : { "content-type": isBytes ? "application/octet-stream" : "application/vnd.api+json" }),
    },
    body: body === undefined ? null : isBytes ? Buffer.from(body) : JSON.stringify(body),
  })
}

const plannedChange = {
  format_version: "1.2",
  terraform_version: "1.11.4",
  planned_values: {
    root_module: {
      resources: [{ address: "null_resource.foo", mode: "managed", type: "null_resource", name: "foo", values: {} }],
    },
  },
  resource_changes: [
    {
      address: "null_resource.foo",
      mode: "managed",
      type: "null_resource",
      name: "foo",
      change: { actions: ["create"], before: null, after: {} },
    },
  ],
}

const appliedState = {
  version: 4,
  terraform_version: "1.11.4",
  outputs: {},
  resources: [
    {
      mode: "managed",
      type: "null_resource",
      name: "foo",
      provider: 'provider["registry.terraform.io/hashicorp/null"]',
      instances: [{ schema_version: 0, attributes: { id: "1", triggers: null }, sensitive_attributes: [] }],
    },
  ],
}
