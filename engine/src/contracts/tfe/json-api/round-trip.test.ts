// Each value of the engine, for any content, is the same after encoding to its document and decoding.
import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  date,
  double,
  nat,
  oneof,
  option,
  property,
  record,
  string,
  stringMatching,
  tuple,
} from "fast-check"
import { describe, expect, test } from "vitest"
import { organizationPermissions } from "../../../core/caller.ts"
import {
  collaboratorAuthPolicies,
  executionModes,
  organizationPermissionNames,
  remoteOperationModes,
  plans,
} from "../../../organizations/organization.ts"
import { serviceProviders } from "../../../organizations/vcs-connection.ts"
import { teamVisibilities } from "../../../organizations/team.ts"
import { workspacePermissionNames } from "../../../workspaces/access/workspace-permissions.ts"
import { runActions } from "../../../workspaces/runs/run.ts"
import { type RunStatus, runStatuses } from "../../../workspaces/runs/run-status.ts"
import { outputTypes } from "../../../workspaces/state/state-file.ts"
import { workspaceSortKeys } from "../../../workspaces/workspace/workspace-query.ts"
import { configurationVersionStatuses } from "../../../workspaces/configuration-versions/configuration-version.ts"
import { variableCategories } from "../../../workspaces/variables/variable.ts"
import { actorKinds } from "../../../workspaces/workspace/workspace.ts"
import { agentPool } from "../agent-pool.ts"
import { organization } from "../organization.ts"
import { project as projectDocument } from "../project.ts"
import { effectiveTagBinding, tag, tagBinding, tagBindings, tagReferences } from "../tag.ts"
import { assessment } from "../assessment.ts"
import { configurationVersion, withUploadAddress } from "../configuration-version.ts"
import { comment, run, runEvent } from "../run.ts"
import { stateVersionOutput } from "../state-version.ts"
import { team } from "../team.ts"
import { terraformVersion } from "../terraform-version.ts"
import { createdToken } from "../token.ts"
import { adminUser, user } from "../user.ts"
import { variable, variableInput } from "../variable.ts"
import { oauthClient, vcsConnections } from "../vcs-connection.ts"
import { teamProjects } from "../team-access.ts"
import { projectAccessParts, projectWorkspaceParts } from "../../../organizations/team-project-access.ts"
import { projectAccessLevels } from "../../../organizations/project.ts"
import { workspace, workspaceFilters } from "../workspace.ts"
import { parametersOf } from "../../../client/remote-contract.ts"
import { queryOf } from "../../../client/transport.ts"
import { decodeQuery } from "../../../server/tfe/implement.ts"

const text = string({ unit: "binary" })
/** Text without U+0000, which requests must not contain because databases cannot store it. */
const said = text.filter((value) => !value.includes("\u0000"))
const filled = string({ unit: "grapheme", minLength: 1 })
const id = stringMatching(/^[a-z]{2,5}-[a-zA-Z0-9]{16}$/)
const word = stringMatching(/^[a-z][a-z0-9_-]{0,20}$/)
const instant = date({
  min: new Date("0001-01-01T00:00:00Z"),
  max: new Date("9999-12-31T23:59:59Z"),
  noInvalidDate: true,
}).map((at) => at.getTime())
const orNull = <T>(values: Arbitrary<T>): Arbitrary<T | null> => option(values, { nil: null })
const flags = <Name extends string>(names: readonly Name[]) =>
  record(Object.fromEntries(names.map((name) => [name, boolean()])) as Record<Name, Arbitrary<boolean>>)
const actor = record({ kind: constantFrom(...actorKinds), id })
/** The id of an author determines its kind. */
const authorPrefixes = { users: "user", teams: "team", organizations: "org", runs: "run" } as const
const author = tuple(constantFrom(...actorKinds), stringMatching(/^[a-zA-Z0-9]{16}$/)).map(([kind, random]) => ({
  kind,
  id: `${authorPrefixes[kind]}-${random}`,
}))
const duration = orNull(double({ min: 0, max: 1e12, noNaN: true }).map((value) => value + 0))
const whole = double({ min: 0, max: 1e9, noNaN: true }).map((value) => Math.round(value) + 0)
const resourceChanges = record({ additions: whole, changes: whole, destructions: whole, imports: whole })
/** A record whose members may be absent, but are never undefined. */
const some = <T>(members: { [name in keyof T]: Arbitrary<T[name]> }) => record(members, { requiredKeys: [] })

const userView = record({
  id,
  username: word,
  serviceAccount: boolean(),
  email: orNull(text),
  siteAdmin: orNull(boolean()),
})
const workspaceView = record(
  {
    id,
    organizationName: word,
    projectId: id,
    name: word,
    description: orNull(text),
    isDestroyable: boolean(),
    allowDestroyPlan: boolean(),
    assessmentsEnabled: boolean(),
    autoApply: boolean(),
    autoApplyRunTrigger: boolean(),
    autoDestroyAt: orNull(instant),
    autoDestroyStatus: orNull(text),
    autoDestroyActivityDuration: orNull(text),
    inheritsProjectAutoDestroy: boolean(),
    createdAt: instant,
    updatedAt: instant,
    latestChangeAt: instant,
    lastAssessmentResultAt: orNull(instant),
    environment: text,
    executionMode: constantFrom(...executionModes),
    agentPoolId: orNull(id),
    settingOverwrites: flags(["executionMode", "agentPool"]),
    fileTriggersEnabled: boolean(),
    globalRemoteState: boolean(),
    projectRemoteState: boolean(),
    lock: oneof(
      constant({ held: false } as const),
      record({ held: constant(true as const), by: actor, reason: text, since: instant }),
    ),
    oauthClientName: orNull(text),
    permissions: flags(workspacePermissionNames),
    metrics: record({
      applyDurationAverageMs: duration,
      planDurationAverageMs: duration,
      policyCheckFailures: orNull(nat()),
      runFailures: orNull(nat()),
      runsCount: orNull(nat()),
    }),
    queueAllRuns: boolean(),
    resourceCount: nat(),
    source: text,
    sourceName: orNull(text),
    sourceUrl: orNull(text),
    speculativeEnabled: boolean(),
    structuredRunOutputEnabled: boolean(),
    tagNames: array(word),
    engineVersion: text,
    triggerPrefixes: array(text),
    triggerPatterns: array(text),
    vcsRepo: orNull(
      record({
        identifier: text,
        oauthTokenId: orNull(id),
        githubAppInstallationId: orNull(id),
        branch: text,
        ingressSubmodules: boolean(),
        tagsRegex: orNull(filled),
        repositoryHttpUrl: orNull(filled),
        serviceProvider: orNull(filled),
      }),
    ),
    workingDirectory: orNull(text),
    currentConfigurationVersionId: orNull(id),
    currentRunId: orNull(id),
    currentStateVersionId: orNull(id),
    currentAssessmentResultId: orNull(id),
    outputIds: array(id),
    readmeId: orNull(id),
    sshKeyId: orNull(id),
    variableIds: array(id),
    retentionPolicy: orNull(record({ id, kind: constantFrom("delete-older", "dont-delete") })),
  },
  { noNullPrototype: true },
)

const project = record({
  id,
  organizationName: word,
  name: text,
  description: text,
  createdAt: instant,
  autoDestroyActivityDuration: orNull(text),
  defaultExecutionMode: constantFrom(...executionModes),
  defaultAgentPoolId: orNull(id),
  settingOverwrites: flags(["defaultExecutionMode", "defaultAgentPool"]),
  permissions: flags([
    "canRead",
    "canUpdate",
    "canDestroy",
    "canCreateWorkspace",
    "canMoveWorkspaces",
    "canReadTeams",
    "canManageTeams",
  ]),
  counts: record({ workspaces: nat(), teams: nat() }),
})

const recordedSettings = {
  sessionTimeout: orNull(nat()),
  sessionRemember: orNull(nat()),
  ownersTeamSamlRoleId: orNull(text),
  aggregatedCommitStatusEnabled: boolean(),
  sendPassingStatusesForUntriggeredSpeculativePlans: boolean(),
  speculativePlanManagementEnabled: boolean(),
  stacksEnabled: boolean(),
}
const teamPermissions = [
  "canUpdateMembership",
  "canDestroy",
  "canUpdateOrganizationAccess",
  "canUpdateApiToken",
  "canUpdateVisibility",
  "canUpdateName",
] as const

type Codec = readonly [
  values: Arbitrary<unknown>,
  encode: (value: never) => unknown,
  decode: (document: unknown) => unknown,
]
const codec = <T>(values: Arbitrary<unknown>, encode: (value: T) => unknown, decode: (document: unknown) => unknown) =>
  [values, encode, decode] as Codec

const answers: Readonly<Record<string, Codec>> = {
  workspace: codec(workspaceView, workspace.encode, workspace.decode),
  organization: codec(
    record({
      id,
      name: word,
      email: text,
      createdAt: instant,
      defaultProjectId: id,
      defaultExecutionMode: constantFrom(...executionModes),
      defaultAgentPoolId: orNull(id),
      remoteOperations: constantFrom(...remoteOperationModes),
      allowForceDeleteWorkspaces: boolean(),
      assessmentsEnforced: boolean(),
      collaboratorAuthPolicy: constantFrom(...collaboratorAuthPolicies),
      costEstimationEnabled: boolean(),
      plan: constantFrom(...plans),
      ...recordedSettings,
      permissions: flags(organizationPermissionNames),
    }),
    organization.encode,
    organization.decode,
  ),
  project: codec(project, projectDocument.encode, projectDocument.decode),
  team: codec(
    record({
      id,
      organizationName: word,
      name: text,
      visibility: constantFrom(...teamVisibilities),
      access: flags(organizationPermissions),
      ssoTeamId: orNull(text),
      allowMemberTokenManagement: boolean(),
      permissions: flags(teamPermissions),
      userIds: array(id),
    }),
    team.encode,
    team.decode,
  ),
  user: codec(userView, user.encode, user.decode),
  "user, to administrators": codec(userView, adminUser.encode, adminUser.decode),
  "Terraform version": codec(
    record({
      id,
      version: word,
      archs: array(record({ url: text, sha: text, os: text, arch: text })),
      official: boolean(),
      deprecated: boolean(),
      deprecatedReason: orNull(text),
      enabled: boolean(),
      beta: boolean(),
      usage: nat(),
      createdAt: instant,
    }),
    terraformVersion.encode,
    terraformVersion.decode,
  ),
  token: codec(
    record({
      id,
      owner: oneof(
        record({ kind: constant("user"), userId: id }),
        record({ kind: constant("team"), teamId: id }),
        record({ kind: constant("organization"), organizationName: word }),
      ),
      description: text,
      createdBy: orNull(id),
      createdAt: instant,
      lastUsedAt: orNull(instant),
      expiresAt: orNull(instant),
      secret: word,
    }),
    createdToken.encode,
    createdToken.decode,
  ),
  tag: codec(
    record({ id, name: word, createdAt: instant, instanceCount: nat(), organizationName: word }),
    tag.encode,
    tag.decode,
  ),
  "tag binding": codec(
    record({ id, key: text, value: text, createdAt: instant }),
    tagBinding.encode,
    tagBinding.decode,
  ),
  "held tag binding": codec(
    record({
      id,
      key: text,
      value: text,
      createdAt: instant,
      owners: array(text),
      isTag: boolean(),
      isBinding: boolean(),
    }),
    tagBinding.encode,
    tagBinding.decode,
  ),
  "held effective tag binding": codec(
    record({ key: text, value: text, inheritedFrom: orNull(id), owners: array(text) }),
    effectiveTagBinding.encode,
    effectiveTagBinding.decode,
  ),
  "effective tag binding": codec(
    record({ key: text, value: text, inheritedFrom: orNull(id) }),
    effectiveTagBinding.encode,
    effectiveTagBinding.decode,
  ),
  run: codec(
    record({
      id,
      workspaceId: id,
      status: constantFrom(...runStatuses),
      message: text,
      source: text,
      isDestroy: boolean(),
      autoApply: boolean(),
      planOnly: boolean(),
      refreshOnly: boolean(),
      hasChanges: boolean(),
      createdAt: instant,
      createdBy: orNull(author),
      confirmedBy: orNull(author),
      cancelRequestedAt: orNull(instant),
      statusTimestamps: some(
        Object.fromEntries(runStatuses.map((status) => [status, instant])) as Record<RunStatus, Arbitrary<number>>,
      ),
      configurationVersionId: orNull(id),
      planId: id,
      applyId: id,
      refresh: boolean(),
      savePlan: boolean(),
      allowEmptyApply: boolean(),
      allowConfigGeneration: boolean(),
      engineVersion: orNull(text),
      targetAddrs: array(text),
      replaceAddrs: array(text),
      variables: array(record({ key: text, value: text })),
      planCounts: orNull(resourceChanges),
      applyCounts: orNull(resourceChanges),
      executor: orNull(record({ name: text, expiresAt: instant })),
      inputStateVersionId: orNull(id),
      commentIds: array(id),
      eventIds: array(id),
      waitingReason: orNull(text),
      permissions: flags(["canApply", "canCancel", "canDiscard", "canForceCancel", "canForceExecute"]),
    }),
    run.encode,
    run.decode,
  ),
  "run comment": codec(
    record({ id, runId: id, body: text, createdAt: instant, createdBy: orNull(author) }),
    comment.encode,
    comment.decode,
  ),
  "run event": codec(
    record({
      id,
      runId: id,
      action: constantFrom(...runActions),
      description: text,
      createdAt: instant,
      actor: orNull(author),
      commentId: orNull(id),
    }),
    runEvent.encode,
    runEvent.decode,
  ),
  "configuration version": codec(
    record({
      id,
      workspaceId: id,
      source: text,
      status: constantFrom(...configurationVersionStatuses),
      speculative: boolean(),
      provisional: boolean(),
      autoQueueRuns: boolean(),
      error: orNull(text),
      errorMessage: orNull(text),
      createdAt: instant,
      ingressAttributesId: orNull(id),
      upload: orNull(filled),
    }),
    (version: Parameters<typeof withUploadAddress>[0]) =>
      configurationVersion.encode(withUploadAddress(version, "https://chancery.example")),
    configurationVersion.decode,
  ),
  variable: codec(
    record({
      id,
      workspaceId: id,
      key: text,
      value: orNull(text),
      description: text,
      category: constantFrom(...variableCategories),
      hcl: boolean(),
      sensitive: boolean(),
      versionId: text,
      createdAt: instant,
    }),
    variable.encode,
    variable.decode,
  ),
  assessment: codec(
    record({
      id,
      workspaceId: id,
      drifted: boolean(),
      succeeded: boolean(),
      errorMessage: orNull(text),
      createdAt: instant,
    }),
    assessment.encode,
    assessment.decode,
  ),
  "OAuth client": codec(
    record({
      id,
      organizationName: word,
      name: orNull(text),
      serviceProvider: constantFrom(...serviceProviders),
      httpUrl: text,
      apiUrl: text,
      key: text,
      rsaPublicKey: text,
      createdAt: instant,
      tokenIds: array(id),
      organizationScoped: boolean(),
      projectIds: array(id),
      agentPoolId: orNull(id),
    }),
    oauthClient.encode,
    oauthClient.decode,
  ),
  "agent pool": codec(
    record({
      id,
      organizationName: word,
      name: text,
      organizationScoped: boolean(),
      createdAt: instant,
      workspaceIds: array(id),
      allowedWorkspaceIds: array(id),
      allowedProjectIds: array(id),
      excludedWorkspaceIds: array(id),
    }),
    agentPool.encode,
    agentPool.decode,
  ),
  "state output": codec(
    record({
      id,
      name: text,
      sensitive: boolean(),
      type: constantFrom(...outputTypes),
      value: oneof(text, boolean(), constant(null), array(nat())),
      detailedType: oneof(text, array(text)),
    }),
    stateVersionOutput.encode,
    stateVersionOutput.decode,
  ),
}

const someParts = (table: Readonly<Record<string, readonly (string | boolean)[]>>) =>
  some(Object.fromEntries(Object.entries(table).map(([name, values]) => [name, constantFrom(...values)])))

const bindings = array(record({ key: said, value: said }))
const organizationPatch = some({
  name: word,
  email: stringMatching(/^[a-z]{1,9}@[a-z]{1,9}\.example$/),
  defaultExecutionMode: constantFrom(...executionModes),
  defaultAgentPoolId: orNull(id),
  remoteOperations: constantFrom(...remoteOperationModes),
  allowForceDeleteWorkspaces: boolean(),
  assessmentsEnforced: boolean(),
  plan: constantFrom(...plans),
  costEstimationEnabled: boolean(),
  collaboratorAuthPolicy: constantFrom(...collaboratorAuthPolicies),
  sessionTimeout: orNull(nat(1_000).map((minutes) => minutes + 1)),
  sessionRemember: orNull(nat(1_000).map((minutes) => minutes + 1)),
  ownersTeamSamlRoleId: orNull(word),
  speculativePlanManagementEnabled: boolean(),
  stacksEnabled: boolean(),
})

const requests: Readonly<Record<string, Codec>> = {
  "change of a workspace": codec(
    some({
      name: word,
      description: orNull(said),
      executionMode: constantFrom(...executionModes),
      operations: boolean(),
      agentPoolId: orNull(id),
      settingOverwrites: some({ executionMode: boolean(), agentPool: boolean() }),
      allowDestroyPlan: boolean(),
      assessmentsEnabled: boolean(),
      autoApply: boolean(),
      autoApplyRunTrigger: boolean(),
      autoDestroyAt: orNull(instant),
      autoDestroyActivityDuration: orNull(filled),
      inheritsProjectAutoDestroy: boolean(),
      fileTriggersEnabled: boolean(),
      globalRemoteState: boolean(),
      projectRemoteState: boolean(),
      queueAllRuns: boolean(),
      speculativeEnabled: boolean(),
      structuredRunOutputEnabled: boolean(),
      engineVersion: filled,
      triggerPatterns: array(said),
      triggerPrefixes: array(said),
      vcsRepo: orNull(
        some({
          identifier: orNull(said),
          oauthTokenId: orNull(id),
          githubAppInstallationId: orNull(id),
          branch: orNull(said),
          ingressSubmodules: boolean(),
          tagsRegex: orNull(said),
        }),
      ),
      workingDirectory: orNull(said),
      sourceName: orNull(said),
      sourceUrl: orNull(said),
      projectId: id,
      tagBindings: bindings,
      tags: array(oneof(record({ name: word }), record({ id }))),
    }),
    workspace.patch.encode,
    workspace.patch.decode,
  ),
  "change of an agent pool": codec(
    some({
      name: word,
      organizationScoped: boolean(),
      allowedWorkspaceIds: array(id),
      allowedProjectIds: array(id),
      excludedWorkspaceIds: array(id),
    }),
    agentPool.patch.encode,
    agentPool.patch.decode,
  ),
  "change of access to a project": codec(
    some({
      access: constantFrom(...projectAccessLevels),
      projectAccess: someParts(projectAccessParts),
      workspaceAccess: someParts(projectWorkspaceParts),
    }),
    teamProjects.update.body.encode,
    teamProjects.update.body.decode,
  ),
  "change of an OAuth client": codec(
    some({
      name: orNull(word),
      token: word,
      key: word,
      rsaPublicKey: word,
      secret: word,
      organizationScoped: boolean(),
      projectIds: array(id),
      agentPoolId: orNull(id),
    }),
    vcsConnections.updateClient.body.encode,
    vcsConnections.updateClient.body.decode,
  ),
  "change of a Terraform version": codec(
    some({
      version: word,
      url: orNull(said),
      sha: orNull(said),
      archs: array(record({ url: said, sha: said, os: said, arch: said })),
      official: boolean(),
      deprecated: boolean(),
      deprecatedReason: orNull(said),
      enabled: boolean(),
      beta: boolean(),
    }),
    terraformVersion.patch.encode,
    terraformVersion.patch.decode,
  ),
  "change of an organization": codec(organizationPatch, organization.patch.encode, organization.patch.decode),
  "change of a project": codec(
    some({
      name: word,
      description: stringMatching(/^[a-z ]{0,30}$/),
      autoDestroyActivityDuration: orNull(stringMatching(/^[1-9][0-9]{0,3}[dh]$/)),
      defaultExecutionMode: orNull(constantFrom(...executionModes)),
      defaultAgentPoolId: orNull(id),
      settingOverwrites: some({ defaultExecutionMode: boolean(), defaultAgentPool: boolean() }),
    }),
    projectDocument.patch.encode,
    projectDocument.patch.decode,
  ),
  "change of a team": codec(
    some({
      name: word,
      visibility: constantFrom(...teamVisibilities),
      access: some(
        Object.fromEntries(organizationPermissions.map((name) => [name, boolean()])) as Record<
          (typeof organizationPermissions)[number],
          Arbitrary<boolean>
        >,
      ),
    }),
    team.patch.encode,
    team.patch.decode,
  ),
  "list of tag bindings": codec(bindings, tagBindings.encode, tagBindings.decode),
  "list of tags": codec(
    array(oneof(record({ name: word }), record({ id }))),
    tagReferences.encode,
    tagReferences.decode,
  ),
  variable: codec(
    record({
      key: said,
      value: said,
      description: said,
      category: constantFrom(...variableCategories),
      hcl: boolean(),
      sensitive: boolean(),
    }),
    variableInput.encode,
    variableInput.decode,
  ),
  run: codec(
    record({
      message: orNull(said),
      isDestroy: boolean(),
      autoApply: orNull(boolean()),
      planOnly: boolean(),
      refreshOnly: boolean(),
      configurationVersionId: orNull(id),
      workspaceId: id,
      refresh: boolean(),
      savePlan: boolean(),
      allowEmptyApply: boolean(),
      allowConfigGeneration: boolean(),
      engineVersion: said.filter((value) => value.length < 200),
      targetAddrs: array(said),
      replaceAddrs: array(said),
      variables: array(record({ key: said, value: said })),
    }),
    run.input.encode,
    run.input.decode,
  ),
  assessment: codec(
    record({ drifted: boolean(), succeeded: boolean(), errorMessage: orNull(said) }),
    assessment.input.encode,
    assessment.input.decode,
  ),
}

describe.each([
  { what: "an answer", codecs: answers },
  { what: "a request", codecs: requests },
])("$what", ({ codecs }) => {
  test.each(Object.entries(codecs))("is decoded as it was encoded: %s", (_name, [values, encode, decode]) => {
    assert(
      property(values, (value) => {
        const sent: unknown = JSON.parse(JSON.stringify(encode(value as never)))
        expect(decode(sent)).toEqual(value)
      }),
    )
  })
})

test("a query of workspaces is decoded as it was encoded", () => {
  const query = some({
    name: word,
    wildcardName: word,
    tags: array(word, { minLength: 1, maxLength: 5 }),
    excludeTags: array(word, { minLength: 1, maxLength: 5 }),
    sort: record({ key: constantFrom(...workspaceSortKeys), descending: boolean() }),
    projectId: id,
    currentRunStatus: array(constantFrom(...runStatuses), { minLength: 1, maxLength: 5 }),
    tagged: array(oneof(record({ key: filled }), record({ value: filled }), record({ key: filled, value: filled })), {
      minLength: 1,
      maxLength: 5,
    }),
  })
  assert(
    property(query, (asked) => {
      const sent = queryOf(parametersOf(workspaceFilters, asked))
      expect(decodeQuery(workspaceFilters, new URLSearchParams(sent.toString()))).toEqual(asked)
    }),
  )
})
