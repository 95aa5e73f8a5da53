import { tarball } from "../../../engine/testing/tar-archive.ts"
import { aboutPool, assignKey } from "./assigned-requests.ts"
import { type CallerName, document, type Subject } from "./users.ts"
import { nothing, type Prepare, type PreparedRequest } from "./prepared-request.ts"
import { newState, saveState } from "./state-requests.ts"

const runOf = ({ workspaceId }: Subject, attributes: Readonly<Record<string, unknown>> = {}) =>
  document(
    "runs",
    { message: "matrix", ...attributes },
    { workspace: { data: { type: "workspaces", id: workspaceId } } },
  )
const newRun = async (subject: Subject, attributes: Readonly<Record<string, unknown>> = {}) =>
  (await subject.root("POST", "/runs", runOf(subject, attributes))).body.data
const step = (status: string) => document("runs", { status })
/** Creates a run and moves it through `statuses`. */
const aboutRun =
  (...statuses: readonly string[]): Prepare =>
  async (subject) => {
    const { id } = await newRun(subject)
    for (const status of statuses) await subject.root("POST", `/runs/${id}/actions/transition`, step(status))
    return { params: { run_id: id } }
  }

const configuration = (attributes: object = {}) =>
  document("configuration-versions", {
    readme: "# Matrix",
    "ingress-attributes": { branch: "main" },
    ...attributes,
  })
const newConfiguration = async ({ root, workspaceId }: Subject, attributes: object = {}): Promise<string> =>
  (await root("POST", `/workspaces/${workspaceId}/configuration-versions`, configuration(attributes))).body.data.id
const archive = tarball({ "main.tf": "" })
const uploadedConfiguration = async (subject: Subject, attributes: object = {}): Promise<string> => {
  const id = await newConfiguration(subject, attributes)
  await subject.root("PUT", `/configuration-versions/${id}/upload`, archive)
  return id
}
/** Creates a configuration version that is not current and belongs to no run, then performs `actions` on it. */
const aboutEarlierConfiguration =
  (...actions: readonly string[]): Prepare =>
  async (subject) => {
    const id = await uploadedConfiguration(subject, { "auto-queue-runs": false })
    await uploadedConfiguration(subject, { "auto-queue-runs": false })
    for (const action of actions)
      await subject.root("POST", `/configuration-versions/${id}/actions/${action}_backing_data`)
    return { params: { configuration_version_id: id } }
  }
const aboutConfiguration: Prepare = async (subject) => ({
  params: { configuration_version_id: await newConfiguration(subject) },
})

const assessment = document("assessment-results", { drifted: true, succeeded: true })
const aboutAssessment: Prepare = async ({ root, workspaceId }) => {
  const made = await root("POST", `/workspaces/${workspaceId}/assessment-results`, assessment)
  return { params: { assessment_result_id: made.body.data.id } }
}

/** Claims a new run as the caller if permitted, else as the site administrator, because a claim belongs to its creator. */
async function newClaim(
  subject: Subject,
  caller: CallerName,
  run: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly by: Ask }> {
  await newRun(subject, run)
  const path = `/workspaces/${subject.workspaceId}/run-claims`
  const own = await subject.as(caller, "POST", path)
  const by: Ask = own.status === 201 ? (...request) => subject.as(caller, ...request) : subject.root
  return { id: (own.status === 201 ? own : await subject.root("POST", path)).body.data.id, by }
}
type Ask = Subject["root"]
const aboutClaim =
  (more: Omit<PreparedRequest, "token"> = {}): Prepare =>
  async (subject, caller) => ({
    ...more,
    params: { claim_id: (await newClaim(subject, caller)).id, ...more.params },
  })
/** Creates a planned run with the JSON plans that an executor uploaded. */
async function plannedRun(subject: Subject) {
  const run = await newRun(subject)
  const claim = (await subject.root("POST", `/workspaces/${subject.workspaceId}/run-claims`)).body.data.id
  for (const name of ["json-output", "json-output-redacted"])
    await subject.root("PUT", `/run-claims/${claim}/documents/${name}`, Buffer.from("{}"))
  for (const status of ["planning", "planned"])
    await subject.root("POST", `/run-claims/${claim}/actions/report`, step(status))
  return run
}
const someOctets = Buffer.from("octets")

export const runRequests: Readonly<Record<string, Prepare>> = {
  "POST /runs": (subject) => ({ body: runOf(subject) }),
  "GET /runs/:run_id": aboutRun(),
  "GET /workspaces/:workspace_id/runs": nothing,
  "GET /organizations/:organization_name/runs": nothing,
  "GET /organizations/:organization_name/runs/queue": nothing,
  "GET /organizations/:organization_name/capacity": nothing,
  "POST /runs/:run_id/actions/apply": aboutRun("planning", "planned"),
  "POST /runs/:run_id/actions/discard": aboutRun("planning", "planned"),
  "POST /runs/:run_id/actions/cancel": aboutRun("planning"),
  "POST /runs/:run_id/actions/force-cancel": aboutRun("planning"),
  "POST /runs/:run_id/actions/force-execute": async (subject, caller) => {
    // The first run is planned and blocks the second one.
    await aboutRun("planning", "planned")(subject, caller)
    return { params: { run_id: (await newRun(subject)).id } }
  },
  "POST /runs/:run_id/comments": async (subject) => ({
    params: { run_id: (await newRun(subject)).id },
    body: document("comments", { body: "Matrix" }),
  }),
  "GET /runs/:run_id/comments": aboutRun(),
  "GET /comments/:comment_id": async (subject) => {
    const { id } = await newRun(subject)
    const comment = await subject.root("POST", `/runs/${id}/comments`, document("comments", { body: "Matrix" }))
    return { params: { comment_id: comment.body.data.id } }
  },
  "GET /runs/:run_id/run-events": aboutRun(),
  "GET /run-events/:run_event_id": async (subject) => ({
    params: { run_event_id: (await newRun(subject)).relationships["run-events"].data[0].id },
  }),
  "POST /runs/:run_id/actions/transition": async (subject, caller) => ({
    ...(await aboutRun()(subject, caller)),
    body: step("planning"),
  }),
  "POST /organizations/:organization_name/run-claims": nothing,
  "POST /workspaces/:workspace_id/run-claims": nothing,
  "POST /agent-pools/:agent_pool_id/run-claims": aboutPool,
  "POST /run-claims": nothing,
  "GET /run-claims/:claim_id": aboutClaim(),
  "DELETE /run-claims/:claim_id": aboutClaim(),
  "POST /run-claims/:claim_id/authentication-token": aboutClaim(),
  "POST /run-claims/:claim_id/actions/heartbeat": aboutClaim(),
  "POST /run-claims/:claim_id/actions/report": aboutClaim({ body: step("planning") }),
  "POST /run-claims/:claim_id/logs/:stage": aboutClaim({
    params: { stage: "plan" },
    query: "?offset=0",
    body: someOctets,
  }),
  "PUT /run-claims/:claim_id/documents/:document": aboutClaim({
    params: { document: "plan-file" },
    body: someOctets,
  }),
  "GET /run-claims/:claim_id/documents/:document": async (subject, caller) => {
    const { id, by } = await newClaim(subject, caller)
    await by("PUT", `/run-claims/${id}/documents/plan-file`, someOctets)
    return { params: { claim_id: id, document: "plan-file" } }
  },
  "GET /run-claims/:claim_id/variables": aboutClaim(),
  "GET /run-claims/:claim_id/ssh-key": async (subject, caller) => {
    await assignKey(subject)
    return aboutClaim()(subject, caller)
  },
  "GET /run-claims/:claim_id/configuration": async (subject, caller) => {
    await uploadedConfiguration(subject, { "auto-queue-runs": false })
    return aboutClaim()(subject, caller)
  },
  "GET /run-claims/:claim_id/state": async (subject, caller) => {
    await saveState(subject)
    return aboutClaim()(subject, caller)
  },
  "POST /run-claims/:claim_id/state-versions": async (subject, caller) => {
    const { id, by } = await newClaim(subject, caller, { "auto-apply": true })
    for (const status of ["planning", "planned", "applying"])
      await by("POST", `/run-claims/${id}/actions/report`, step(status))
    return { params: { claim_id: id }, body: newState(1) }
  },
  "GET /runs/:run_id/plan": aboutRun(),
  "GET /runs/:run_id/apply": aboutRun(),
  "GET /plans/:plan_id": async (subject) => ({
    params: { plan_id: (await newRun(subject)).relationships.plan.data.id },
  }),
  "GET /plans/:plan_id/json-output": async (subject) => ({
    params: { plan_id: (await plannedRun(subject)).relationships.plan.data.id },
  }),
  "GET /plans/:plan_id/json-output-redacted": async (subject) => ({
    params: { plan_id: (await plannedRun(subject)).relationships.plan.data.id },
  }),
  "GET /runs/:run_id/plan/json-output": async (subject) => ({ params: { run_id: (await plannedRun(subject)).id } }),
  "GET /applies/:apply_id": async (subject) => ({
    params: { apply_id: (await newRun(subject)).relationships.apply.data.id },
  }),

  "POST /workspaces/:workspace_id/configuration-versions": () => ({ body: configuration() }),
  "GET /workspaces/:workspace_id/configuration-versions": nothing,
  "GET /workspaces/:workspace_id/readme": async (subject) => {
    await newConfiguration(subject)
    return {}
  },
  "GET /configuration-versions/:configuration_version_id": aboutConfiguration,
  "GET /configuration-versions/:configuration_version_id/ingress-attributes": aboutConfiguration,
  "PUT /configuration-versions/:configuration_version_id/upload": async (subject, caller) => ({
    ...(await aboutConfiguration(subject, caller)),
    body: archive,
  }),
  "GET /configuration-versions/:configuration_version_id/download": async (subject) => ({
    params: { configuration_version_id: await uploadedConfiguration(subject) },
  }),
  "GET /runs/:run_id/configuration-version/download": async (subject) => {
    const id = await uploadedConfiguration(subject)
    const related = {
      workspace: { data: { type: "workspaces", id: subject.workspaceId } },
      "configuration-version": { data: { type: "configuration-versions", id } },
    }
    return { params: { run_id: (await subject.root("POST", "/runs", document("runs", {}, related))).body.data.id } }
  },
  // The current configuration version cannot be archived.
  "POST /configuration-versions/:configuration_version_id/actions/archive": async (subject) => {
    const before = await newConfiguration(subject)
    await newConfiguration(subject)
    return { params: { configuration_version_id: before } }
  },
  "POST /configuration-versions/:configuration_version_id/actions/soft_delete_backing_data":
    aboutEarlierConfiguration(),
  "POST /configuration-versions/:configuration_version_id/actions/restore_backing_data":
    aboutEarlierConfiguration("soft_delete"),
  "POST /configuration-versions/:configuration_version_id/actions/permanently_delete_backing_data":
    aboutEarlierConfiguration("soft_delete"),
  "DELETE /configuration-versions/:configuration_version_id": aboutConfiguration,

  "POST /workspaces/:workspace_id/assessment-results": () => ({ body: assessment }),
  "GET /workspaces/:workspace_id/assessment-results": nothing,
  "GET /assessment-results/:assessment_result_id": aboutAssessment,
  "DELETE /assessment-results/:assessment_result_id": aboutAssessment,
}
