import { workspaceResource } from "@chancery/engine/declared/workspaces"
import { z } from "zod"
import { goDuration, parseGoDuration } from "../go-duration.ts"
import { connectionRef, dataKey, objectName, organizationName } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { flagFields } from "./manifest-members.ts"
import { immutable, type Rule, ruled } from "./rules.ts"

const engineId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9_-]+$/)
const workspaceName = z
  .string()
  .min(1)
  .max(90)
  .regex(/^[A-Za-z0-9_-]+$/)

const countPresent = (object: object, ...names: readonly string[]): number =>
  names.filter((name) => (object as Record<string, unknown>)[name] !== undefined).length

const oneOf = (what: string, ...names: readonly string[]): Rule<object> => ({
  rule: `[${names.map((name) => `has(self.${name})`).join(", ")}].filter(x, x).size() == 1`,
  message: `${what} requires exactly one of ${names.join(", ")}`,
  holds: (value) => countPresent(value, ...names) === 1,
})

/** Reference to something of the engine by its id or its name. `what` is the field, and `words` describe it. */
export const idOrName = (what: string, words: string) =>
  ruled(
    z.object({
      id: engineId.optional().describe(`Id of ${words} in the engine. Cannot be set together with name.`),
      name: z
        .string()
        .min(1)
        .max(255)
        .optional()
        .describe(`Name of ${words} in the organization. Cannot be set together with id.`),
    }),
    oneOf(what, "id", "name"),
  )

/**
 * A `set` that server-side apply empties disappears, and with it the fact that it is managed. Lists that may be managed as empty are
 * `atomic`.
 */
const list = (item: z.ZodString, type: "atomic" | "set", words: string) =>
  z
    .array(item)
    .max(100)
    .optional()
    .describe(`${words} Not managed if omitted.`)
    .meta({ "x-kubernetes-list-type": type })

const vcsRepo = ruled(
  z.object({
    identifier: z
      .string()
      .min(1)
      .max(255)
      .describe("Repository, as its VCS provider writes it. Example: acme/infrastructure."),
    branch: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("Branch to read. Default: the default branch of the repository."),
    oauthTokenID: engineId
      .optional()
      .describe(
        "Id of the OAuth token for access to the repository. Cannot be set together with githubAppInstallationID.",
      ),
    githubAppInstallationID: engineId
      .optional()
      .describe(
        "Id of the GitHub App installation for access to the repository. Cannot be set together with oauthTokenID.",
      ),
    ingressSubmodules: z.boolean().optional().describe("Fetch submodules with the repository. Default: false."),
    tagsRegex: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("Regular expression of Git tags that start runs, instead of changed files. Example: ^v[0-9]+."),
  }),
  oneOf("vcsRepo", "oauthTokenID", "githubAppInstallationID"),
)
  .optional()
  .describe("Repository of the configuration. Removing it disconnects the repository. Not managed if omitted.")

const consumer = ruled(
  z.object({
    id: engineId.optional().describe("Id of a workspace."),
    name: workspaceName.optional().describe("Name of a workspace in the same organization."),
    workspaceRef: objectName.optional().describe("Name of a Workspace object in the same namespace."),
  }),
  oneOf("each of remoteStateConsumers", "id", "name", "workspaceRef"),
)

const keyRef = (kind: string) =>
  z
    .object({
      name: objectName.describe(`Name of a ${kind} in the same namespace.`),
      key: dataKey.describe("Key of the value. The value is used unchanged, including a final newline."),
      optional: z
        .boolean()
        .default(false)
        .describe(
          `Behavior while the ${kind} or its key is missing. true: the variable does not exist. false: the object stalls, and nothing changes. Default: false.`,
        ),
    })
    .optional()
    .describe(`Key of a ${kind} with the value. The variable follows its changes.`)

const variable = ruled(
  z.object({
    key: z.string().min(1).max(128).regex(/\S/).describe("Name of the variable."),
    category: z
      .enum(["terraform", "env"])
      .default("terraform")
      .describe(
        "terraform: input variable of the configuration. env: environment variable of runs. Default: terraform.",
      ),
    value: z
      .string()
      .max(262_144)
      .optional()
      .describe(
        "Value in plain text, readable in this object and in the engine. Cannot be set together with valueFrom.",
      ),
    valueFrom: ruled(
      z.object({ secretKeyRef: keyRef("Secret"), configMapKeyRef: keyRef("ConfigMap") }),
      oneOf("valueFrom", "secretKeyRef", "configMapKeyRef"),
    )
      .optional()
      .describe("Source of the value: a key of a Secret or ConfigMap. Cannot be set together with value."),
    description: z.string().max(512).default("").describe("Description for people. Default: empty."),
    hcl: z
      .boolean()
      .default(false)
      .describe("Evaluate the value as an HCL expression instead of a string. Default: false."),
    sensitive: z
      .boolean()
      .optional()
      .describe(
        "Make the value write-only: the engine never returns it. true requires valueFrom. Default: true with secretKeyRef, otherwise false.",
      ),
  }),
  oneOf("each of variables", "value", "valueFrom"),
  {
    rule: "!has(self.value) || !has(self.sensitive) || !self.sensitive",
    message: "sensitive requires valueFrom; readers of this object can read value",
    fieldPath: ".value",
    holds: ({ value, sensitive }) => value === undefined || sensitive !== true,
  },
)

/** List of key-value tags. */
export const tagBindings = (description: string) =>
  z
    .array(
      z.object({
        key: z
          .string()
          .min(1)
          .max(128)
          .regex(/^[a-zA-Z0-9_.=+@:-]+$/)
          .describe("Key of the tag."),
        value: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[a-zA-Z0-9_.=+@:-]+$/)
          .describe("Value of the tag."),
      }),
    )
    .max(10)
    .optional()
    .describe(description)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"] })

const shape = z.object({
  connectionRef: ruled(connectionRef, {
    rule: "self == oldSelf",
    message: "connectionRef cannot be changed",
    transition: true,
    holds: (value, before) => value.kind === before.kind && value.name === before.name,
  }).describe("Connection to the engine. Immutable."),
  organization: organizationName
    .optional()
    .describe("Organization of the workspace. Default: the organization of the connection. Immutable."),
  name: workspaceName
    .optional()
    .describe("Name of the workspace. Default: the name of the object. A change renames the workspace."),
  externalID: z
    .string()
    .max(128)
    .regex(/^ws-[A-Za-z0-9]+$/)
    .optional()
    .describe(
      "Id of an existing workspace to take over. Requires adoptionPolicy IfExists or MustExist. Immutable once set. Example: ws-6jrRyVDv1J8zQMB5.",
    ),
  adoptionPolicy: z
    .enum(["Never", "IfExists", "MustExist"])
    .default("Never")
    .describe(
      "Behavior if a workspace of the name exists. Never: the object stalls with NameTaken. IfExists: the workspace is taken over. MustExist: the workspace is taken over, and never created. Default: Never.",
    ),
  deletionPolicy: z
    .enum(["Retain", "Safe", "Force"])
    .default("Safe")
    .describe(
      "Behavior at deletion of the object. Retain: the workspace stays in the engine. Safe: it is deleted once it is unlocked and manages no resources. Force: it is deleted immediately. Default: Safe.",
    ),
  driftPolicy: z
    .enum(["Enforce", "Report"])
    .default("Enforce")
    .describe(
      "Behavior if the workspace differs from the spec. Enforce: differences are reverted. Report: differences are only listed in status.drift, and nothing is changed. Default: Enforce.",
    ),
  reconcileInterval: ruled(z.string().max(32).regex(goDuration), {
    rule: "duration(self) >= duration('30s')",
    message: "reconcileInterval must be at least 30s",
    holds: (text) => (parseGoDuration(text) ?? 0) >= 30_000,
  })
    .default("10m")
    .describe(
      "Interval at which an unchanged object is compared with the engine, at least 30s. Default: 10m. Example: 1h30m.",
    ),
  description: z.string().max(10_000).optional().describe("Description for people. Not managed if omitted."),
  workingDirectory: z
    .string()
    .max(1_024)
    .optional()
    .describe("Folder of the configuration, relative to the root of the repository. Not managed if omitted."),
  engineVersion: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      "Version of Terraform or OpenTofu: a version, a constraint such as ~> 1.9, or latest. Not managed if omitted.",
    ),
  project: idOrName("project", "the project")
    .optional()
    .describe("Project of the workspace. A change moves the workspace. Not managed if omitted."),
  executionMode: z
    .enum(["remote", "local", "agent"])
    .optional()
    .describe("Where runs execute: remote, local or agent. Not managed if omitted."),
  agentPool: idOrName("agentPool", "the agent pool")
    .optional()
    .describe("Agent pool of the runs. Required with executionMode agent, not allowed otherwise."),
  settingOverwrites: z
    .object({
      executionMode: z
        .boolean()
        .optional()
        .describe(
          "Use the execution mode of the workspace (true) or of its project (false). Default: true if executionMode is set.",
        ),
      agentPool: z
        .boolean()
        .optional()
        .describe(
          "Use the agent pool of the workspace (true) or of its project (false). Default: true if agentPool is set.",
        ),
    })
    .optional()
    .describe(
      "Settings that the workspace overrides (true) or inherits from its project (false). Not managed if omitted.",
    ),
  ...flagFields(
    workspaceResource.members,
    "autoApply",
    "autoApplyRunTrigger",
    "allowDestroyPlan",
    "queueAllRuns",
    "speculativeEnabled",
    "fileTriggersEnabled",
    "structuredRunOutputEnabled",
    "assessmentsEnabled",
    "globalRemoteState",
    "projectRemoteState",
  ),
  remoteStateConsumers: z
    .array(consumer)
    .max(500)
    .optional()
    .describe(
      "Workspaces that may read the state; others are removed. Removing the field removes them. Requires globalRemoteState false. Not managed if omitted.",
    )
    .meta({ "x-kubernetes-list-type": "atomic" }),
  autoDestroy: ruled(
    z.object({
      at: z
        .string()
        .max(64)
        .refine((text) => !Number.isNaN(Date.parse(text)), "must be a time such as 2030-01-31T08:00:00Z")
        .optional()
        .describe("Time of an automatic destroy run. Example: 2030-01-31T08:00:00Z.")
        .meta({ format: "date-time" }),
      activityDuration: z
        .string()
        .max(8)
        .regex(/^[1-9][0-9]{0,3}[dh]$/)
        .optional()
        .describe("Inactivity before an automatic destroy run: 1 to 9999 days or hours. Example: 14d or 24h."),
      inherit: z.boolean().optional().describe("Inherit activityDuration from the project."),
    }),
    {
      rule: "has(self.at) || has(self.activityDuration) || has(self.inherit)",
      message: "autoDestroy requires at least one of at, activityDuration, inherit",
      holds: (value) => countPresent(value, "at", "activityDuration", "inherit") > 0,
    },
  )
    .optional()
    .describe(
      "Automatic destroy runs of the workspace. Removing it clears at and activityDuration. Not managed if omitted.",
    ),
  triggerPatterns: list(
    z.string().min(1).max(1_024),
    "atomic",
    "Glob patterns of files whose changes start runs. Cannot be set together with triggerPrefixes.",
  ),
  triggerPrefixes: list(
    z.string().min(1).max(1_024),
    "atomic",
    "Folders whose changes start runs. Cannot be set together with triggerPatterns.",
  ),
  vcsRepo,
  sshKey: idOrName("sshKey", "the SSH key")
    .optional()
    .describe("SSH key for fetching modules. Removing it unassigns the key. Not managed if omitted."),
  tagsPolicy: z
    .enum(["Additive", "Exclusive"])
    .default("Additive")
    .describe(
      "Additive: tags and tagBindings are added to existing ones. Exclusive: they replace existing ones, except those of other owners (docs/tag-owners.md). Default: Additive.",
    ),
  tags: list(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9]([a-zA-Z0-9:_-]*[a-zA-Z0-9])?$/),
    "set",
    "Tags without a value.",
  ),
  tagBindings: tagBindings("Key-value tags, at most 10. Not managed if omitted."),
  dataRetentionPolicy: ruled(
    z.object({
      deleteOlderThanDays: z
        .int()
        .min(1)
        .max(100_000)
        .optional()
        .describe(
          "Age in days after which old versions are deleted, from 1 to 100000. Cannot be set together with dontDelete.",
        ),
      dontDelete: z
        .literal(true)
        .optional()
        .describe("Keep all versions; nothing is deleted. Cannot be set together with deleteOlderThanDays."),
    }),
    oneOf("dataRetentionPolicy", "deleteOlderThanDays", "dontDelete"),
  )
    .optional()
    .describe(
      "Retention of old state and configuration versions (self-hosted edition only). Removing it restores the policy of the organization. Not managed if omitted.",
    ),
  lock: z
    .object({ reason: z.string().max(1_024).default("").describe("Reason of the lock, for people. Default: empty.") })
    .optional()
    .describe("Locks the workspace. Removing it unlocks the workspace. Locks of other clients stay."),
  variables: z
    .array(variable)
    .max(500)
    .optional()
    .describe(
      "Variables for runs. Removing a variable deletes it. Other variables of the workspace stay. Not managed if omitted.",
    )
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["category", "key"] }),
  outputs: z
    .object({
      configMapName: objectName
        .optional()
        .describe("ConfigMap for outputs that are not sensitive. Default: the name of the object with -outputs."),
      secretName: objectName
        .optional()
        .describe("Secret for sensitive outputs. Default: the name of the object with -outputs."),
    })
    .optional()
    .describe(
      "Publishes the outputs of the current state in a ConfigMap and a Secret of the same namespace. Both are deleted with the object. Default: not published.",
    ),
})

type Shape = z.output<typeof shape>

const spec = ruled(
  shape.describe("Desired state of the workspace. Fields that are omitted keep their values in the engine."),
  ...immutable<Shape>("organization"),
  {
    rule: "!has(oldSelf.externalID) || (has(self.externalID) && self.externalID == oldSelf.externalID)",
    message: "externalID cannot be changed once it is set",
    fieldPath: ".externalID",
    transition: true,
    holds: (value, before) => before.externalID === undefined || value.externalID === before.externalID,
  },
  {
    rule: "!has(self.externalID) || self.adoptionPolicy != 'Never'",
    message: "externalID requires adoptionPolicy IfExists or MustExist",
    fieldPath: ".externalID",
    holds: ({ externalID, adoptionPolicy }) => externalID === undefined || adoptionPolicy !== "Never",
  },
  {
    rule: "(has(self.executionMode) && self.executionMode == 'agent') == has(self.agentPool)",
    message: "agentPool is required with executionMode agent, and not allowed otherwise",
    fieldPath: ".agentPool",
    holds: ({ executionMode, agentPool }) => (executionMode === "agent") === (agentPool !== undefined),
  },
  {
    rule: "!has(self.settingOverwrites) || (has(self.settingOverwrites.executionMode) && !self.settingOverwrites.executionMode) || has(self.executionMode)",
    message: "executionMode is required unless settingOverwrites.executionMode is false",
    fieldPath: ".executionMode",
    holds: ({ settingOverwrites, executionMode }) =>
      settingOverwrites === undefined || settingOverwrites.executionMode === false || executionMode !== undefined,
  },
  {
    rule: "!has(self.settingOverwrites) || !has(self.settingOverwrites.agentPool) || !self.settingOverwrites.agentPool || has(self.agentPool)",
    message: "agentPool is required if settingOverwrites.agentPool is true",
    fieldPath: ".agentPool",
    holds: ({ settingOverwrites, agentPool }) => settingOverwrites?.agentPool !== true || agentPool !== undefined,
  },
  {
    rule: "!has(self.remoteStateConsumers) || (has(self.globalRemoteState) && !self.globalRemoteState)",
    message: "remoteStateConsumers requires globalRemoteState false",
    fieldPath: ".remoteStateConsumers",
    holds: ({ remoteStateConsumers, globalRemoteState }) =>
      remoteStateConsumers === undefined || globalRemoteState === false,
  },
  {
    rule: "!has(self.globalRemoteState) || !self.globalRemoteState || !has(self.projectRemoteState) || !self.projectRemoteState",
    message: "globalRemoteState and projectRemoteState are mutually exclusive",
    fieldPath: ".projectRemoteState",
    holds: ({ globalRemoteState, projectRemoteState }) => globalRemoteState !== true || projectRemoteState !== true,
  },
  {
    rule: "!has(self.triggerPatterns) || !has(self.triggerPrefixes) || size(self.triggerPatterns) == 0 || size(self.triggerPrefixes) == 0",
    message: "triggerPatterns and triggerPrefixes are mutually exclusive",
    fieldPath: ".triggerPrefixes",
    holds: ({ triggerPatterns = [], triggerPrefixes = [] }) =>
      triggerPatterns.length === 0 || triggerPrefixes.length === 0,
  },
)

export type WorkspaceObjectSpec = z.output<typeof spec>

const text = (maximum: number, words: string) => z.string().max(maximum).optional().describe(words)
const time = (words: string) => text(64, words).meta({ format: "date-time" })
const names = (maximum: number, words: string) => z.array(z.string().max(255)).max(maximum).optional().describe(words)

const writtenObject = (words: string) =>
  z
    .object({
      name: z.string().max(253).describe("Name of the object."),
      resourceVersion: z.string().max(64).describe("Resource version after the last write."),
    })
    .optional()
    .describe(words)

const status = {
  id: text(128, "Id of the workspace in the engine."),
  url: text(4_096, "URL of the workspace, for people."),
  name: text(90, "Name of the workspace."),
  engineVersion: text(128, "Version of Terraform or OpenTofu of the workspace."),
  locked: z.boolean().optional().describe("True if the workspace is locked."),
  lockedReason: text(10_000, "Reason of the lock."),
  resourceCount: z.int().min(0).optional().describe("Number of resources that the workspace manages."),
  lastSyncTime: time("Time of the last change of this status. Comparisons without a change do not update it."),
  createPending: z
    .object({
      at: z.string().max(64).describe("Start of the creation.").meta({ format: "date-time" }),
      token: z.string().max(255).describe("Source name of the workspace, by which the operator finds it again."),
    })
    .optional()
    .describe("Creation that was started, and whose result is not known yet."),
  drift: z
    .array(
      z.object({
        field: z.string().max(255).describe("Field of the spec that differs."),
        desired: z.string().max(1_024).describe("Value in the spec, as JSON. Long values are truncated."),
        observed: z.string().max(1_024).describe("Value in the engine, as JSON. Long values are truncated."),
      }),
    )
    .max(64)
    .optional()
    .describe("Differences between the spec and the engine. Present with driftPolicy Report.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["field"] }),
  effectiveTagBindings: z
    .array(
      z.object({
        key: z.string().max(255).describe("Key of the tag."),
        value: z.string().max(256).describe("Value of the tag. Empty for a tag without a value."),
        inheritedFrom: z.string().max(128).optional().describe("Project that the tag is inherited from."),
      }),
    )
    .max(256)
    .optional()
    .describe("All tags in effect, including those inherited from the project.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  applied: z
    .object({
      fields: names(64, "Fields that the operator resets when the spec no longer contains them."),
      tags: names(100, "Tags that the object added."),
      tagBindings: names(10, "Keys of tag bindings that the object added."),
      remoteStateConsumers: names(500, "Ids of remote state consumers that the object added."),
    })
    .optional()
    .describe("Settings of the workspace that come from this object."),
  variables: z
    .array(
      z.object({
        category: z.string().max(16).describe("Category of the variable: terraform or env."),
        key: z.string().max(128).describe("Name of the variable."),
        versionID: text(128, "Version of a sensitive variable in the engine after the last write."),
        sourceVersion: text(
          512,
          "Source of the last written value: uid of the Secret or ConfigMap, key, and resource version.",
        ),
      }),
    )
    .max(1_000)
    .optional()
    .describe("Variables that the object created or took over.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["category", "key"] }),
  outputs: z
    .object({
      stateVersionID: text(128, "Id of the state version with the outputs."),
      serial: z.int().min(0).optional().describe("Serial of the state."),
      configMap: writtenObject("ConfigMap with outputs that are not sensitive."),
      secret: writtenObject("Secret with sensitive outputs."),
    })
    .optional()
    .describe("Published outputs."),
}

export const workspace: Kind<WorkspaceObjectSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Workspace",
  plural: "workspaces",
  singular: "workspace",
  shortNames: ["ews"],
  scope: "Namespaced",
  categories: ["engine-workspaces"],
  description:
    "Workspace is a workspace of a Chancery engine. The operator creates it, reconciles it with the spec, and deletes it according to deletionPolicy.",
  spec,
  objectRules: [
    {
      rule: "has(self.spec.name) || self.metadata.name.matches('^[A-Za-z0-9_-]{1,90}$')",
      message: "spec.name is required if metadata.name is not a valid name of a workspace",
      fieldPath: ".spec.name",
    },
    {
      rule: "!has(self.spec.outputs) || size(self.metadata.name) <= 245 || (has(self.spec.outputs.configMapName) && has(self.spec.outputs.secretName))",
      message: "outputs requires configMapName and secretName if metadata.name is longer than 245 characters",
      fieldPath: ".spec.outputs",
    },
  ],
  status,
  synced: true,
  selectable: [".spec.connectionRef.name"],
  columns: [
    { name: "ID", type: "string", jsonPath: ".status.id", description: "Id in the engine." },
    {
      name: "Locked",
      type: "boolean",
      jsonPath: ".status.locked",
      description: "True if the workspace is locked.",
      priority: 1,
    },
  ],
}
