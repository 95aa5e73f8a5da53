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

const given = (object: object, ...names: readonly string[]): number =>
  names.filter((name) => (object as Record<string, unknown>)[name] !== undefined).length

const oneOf = (what: string, ...names: readonly string[]): Rule<object> => ({
  rule: `[${names.map((name) => `has(self.${name})`).join(", ")}].filter(x, x).size() == 1`,
  message: `${what} needs exactly one of ${names.join(", ")}`,
  holds: (value) => given(value, ...names) === 1,
})

const named = (what: string, words: string) =>
  ruled(
    z.object({
      id: engineId.optional().describe(`The id that ${words} has in the engine.`),
      name: z.string().min(1).max(255).optional().describe(`The name that ${words} has in its organization.`),
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
    .describe(`${words} Not managed unless given.`)
    .meta({ "x-kubernetes-list-type": type })

const vcsRepo = ruled(
  z.object({
    identifier: z
      .string()
      .min(1)
      .max(255)
      .describe("The repository as its host names it, such as acme/infrastructure."),
    branch: z.string().min(1).max(255).optional().describe("Unless given, the repository's own default branch."),
    oauthTokenID: engineId.optional().describe("The OAuth token to reach the repository with."),
    githubAppInstallationID: engineId.optional().describe("The installation of the GitHub App to reach it with."),
    ingressSubmodules: z.boolean().optional().describe("Fetches submodules too."),
    tagsRegex: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("Runs begin with Git tags that match, and not with files."),
  }),
  oneOf("vcsRepo", "oauthTokenID", "githubAppInstallationID"),
)
  .optional()
  .describe("Where configurations come from. Taken out again, the workspace has no repository any more.")

const consumer = ruled(
  z.object({
    id: engineId.optional().describe("The id of a workspace."),
    name: workspaceName.optional().describe("The name of a workspace of the same organization."),
    workspaceRef: objectName.optional().describe("The name of a Workspace object in the same namespace."),
  }),
  oneOf("each of remoteStateConsumers", "id", "name", "workspaceRef"),
)

const keyRef = (kind: string) =>
  z
    .object({
      name: objectName.describe(`The name of a ${kind} of the same namespace.`),
      key: dataKey.describe("The key that the value is under; it is taken as it stands there."),
      optional: z
        .boolean()
        .default(false)
        .describe(`While the ${kind} or its key is missing there is no such variable; nothing is done unless true.`),
    })
    .optional()
    .describe(`A ${kind} that the value is from, and follows.`)

const variable = ruled(
  z.object({
    key: z.string().min(1).max(128).regex(/\S/).describe("The variable's name."),
    category: z
      .enum(["terraform", "env"])
      .default("terraform")
      .describe("Whether it is a variable of the configuration, or of the environment of runs."),
    value: z.string().max(262_144).optional().describe("The value, for everybody to read."),
    valueFrom: ruled(
      z.object({ secretKeyRef: keyRef("Secret"), configMapKeyRef: keyRef("ConfigMap") }),
      oneOf("valueFrom", "secretKeyRef", "configMapKeyRef"),
    )
      .optional()
      .describe("Where the value is."),
    description: z.string().max(512).default("").describe("What people read."),
    hcl: z.boolean().default(false).describe("The value is an expression of the tool's language, and no plain text."),
    sensitive: z
      .boolean()
      .optional()
      .describe("Nobody can read the value from the engine. True unless given where the value is from a Secret."),
  }),
  oneOf("each of variables", "value", "valueFrom"),
  {
    rule: "!has(self.value) || !has(self.sensitive) || !self.sensitive",
    message: "a sensitive variable needs valueFrom: whoever may read this object reads its value",
    fieldPath: ".value",
    holds: ({ value, sensitive }) => value === undefined || sensitive !== true,
  },
)

const shape = z.object({
  connectionRef: ruled(connectionRef, {
    rule: "self == oldSelf",
    message: "connectionRef cannot be changed",
    transition: true,
    holds: (value, before) => value.kind === before.kind && value.name === before.name,
  }).describe("The way to the engine."),
  organization: organizationName
    .optional()
    .describe("The organization that the workspace is in; that of the connection unless given. It cannot be changed."),
  name: workspaceName
    .optional()
    .describe("The workspace's name, unless it is that of the object. Changed here, the workspace is renamed."),
  externalID: z
    .string()
    .max(128)
    .regex(/^ws-[A-Za-z0-9]+$/)
    .optional()
    .describe("The id of a workspace that exists and is to be taken over. Once given it cannot be changed."),
  adoptionPolicy: z
    .enum(["Never", "IfExists", "MustExist"])
    .default("Never")
    .describe(
      "Whether a workspace that somebody else has made is taken over: never, if it exists, or nothing else is done.",
    ),
  deletionPolicy: z
    .enum(["Retain", "Safe", "Force"])
    .default("Safe")
    .describe(
      "What becomes of the workspace when the object is deleted: it stays; it goes once it manages no resources and nobody has locked it; it goes whatever it manages.",
    ),
  driftPolicy: z
    .enum(["Enforce", "Report"])
    .default("Enforce")
    .describe(
      "Whether what differs is changed back, or only told in status.drift. With Report nothing of a workspace is changed.",
    ),
  reconcileInterval: ruled(z.string().max(32).regex(goDuration), {
    rule: "duration(self) >= duration('30s')",
    message: "reconcileInterval must be at least 30s",
    holds: (text) => (parseGoDuration(text) ?? 0) >= 30_000,
  })
    .default("10m")
    .describe("How often the workspace is compared with the engine though nothing has changed here, such as 1h30m."),
  description: z.string().max(10_000).optional().describe("What people read. Not managed unless given."),
  workingDirectory: z
    .string()
    .max(1_024)
    .optional()
    .describe("Where in the repository runs begin. Not managed unless given."),
  engineVersion: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      "The version of the infrastructure tool: a release, a constraint such as ~> 1.9, or latest. Not managed unless given.",
    ),
  project: named("project", "the project")
    .optional()
    .describe("The project it is in, and is moved to. Not managed unless given."),
  executionMode: z
    .enum(["remote", "local", "agent"])
    .optional()
    .describe("Where runs execute. Not managed unless given."),
  agentPool: named("agentPool", "the agent pool").optional().describe("Whose agents execute runs."),
  settingOverwrites: z
    .object({
      executionMode: z
        .boolean()
        .optional()
        .describe("The mode is the workspace's own, and not that of its project. True unless given."),
      agentPool: z
        .boolean()
        .optional()
        .describe("The agent pool is the workspace's own, and not that of its project. True unless given."),
    })
    .optional()
    .describe("Which of these settings are the workspace's own. Not managed unless given."),
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
    .describe("The workspaces that may read the state, and no others. Not managed unless given.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  autoDestroy: ruled(
    z.object({
      at: z
        .string()
        .max(64)
        .refine((text) => !Number.isNaN(Date.parse(text)), "must be an instant such as 2030-01-31T08:00:00Z")
        .optional()
        .describe("When everything is destroyed.")
        .meta({ format: "date-time" }),
      activityDuration: z
        .string()
        .max(8)
        .regex(/^[1-9][0-9]{0,3}[dh]$/)
        .optional()
        .describe("How long after the last change everything is destroyed, such as 14d or 24h."),
      inherit: z.boolean().optional().describe("The project's duration counts."),
    }),
    {
      rule: "has(self.at) || has(self.activityDuration) || has(self.inherit)",
      message: "autoDestroy needs at least one of at, activityDuration, inherit",
      holds: (value) => given(value, "at", "activityDuration", "inherit") > 0,
    },
  )
    .optional()
    .describe("When the workspace destroys what it manages by itself. Taken out again, it never does."),
  triggerPatterns: list(z.string().min(1).max(1_024), "atomic", "Glob patterns of files whose change begins a run."),
  triggerPrefixes: list(z.string().min(1).max(1_024), "atomic", "Folders in which a change begins a run."),
  vcsRepo,
  sshKey: named("sshKey", "the SSH key")
    .optional()
    .describe("The key that modules are fetched with. Taken out again, the workspace has none."),
  tagsPolicy: z
    .enum(["Additive", "Exclusive"])
    .default("Additive")
    .describe("Whether tags and tagBindings are among those of the workspace, or all it has."),
  tags: list(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9]([a-zA-Z0-9:_-]*[a-zA-Z0-9])?$/),
    "set",
    "Flat tags.",
  ),
  tagBindings: z
    .array(
      z.object({
        key: z
          .string()
          .min(1)
          .max(128)
          .regex(/^[a-zA-Z0-9_.=+@:-]+$/)
          .describe("The tag's key."),
        value: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[a-zA-Z0-9_.=+@:-]+$/)
          .describe("The tag's value."),
      }),
    )
    .max(10)
    .optional()
    .describe("Key-value tags. Not managed unless given.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"] }),
  dataRetentionPolicy: ruled(
    z.object({
      deleteOlderThanDays: z.int().min(1).max(100_000).optional().describe("Deletes what is older than that."),
      dontDelete: z.literal(true).optional().describe("Keeps everything for ever."),
    }),
    oneOf("dataRetentionPolicy", "deleteOlderThanDays", "dontDelete"),
  )
    .optional()
    .describe(
      "How long old states and configurations are kept, in the self-hosted edition. Taken out again, as the organization says.",
    ),
  lock: z
    .object({ reason: z.string().max(1_024).default("").describe("Why, for people.") })
    .optional()
    .describe("Holds the workspace locked. Taken out again, it is unlocked; a lock of somebody else is left alone."),
  variables: z
    .array(variable)
    .max(500)
    .optional()
    .describe(
      "Variables for runs. Others that the workspace has are left alone; taken out again, a variable is deleted. Not managed unless given.",
    )
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["category", "key"] }),
  outputs: z
    .object({
      configMapName: objectName
        .optional()
        .describe("The ConfigMap for those that are not sensitive; the object's name and -outputs unless given."),
      secretName: objectName
        .optional()
        .describe("The Secret for those that are sensitive; the object's name and -outputs unless given."),
    })
    .optional()
    .describe(
      "Publishes the outputs of the current state in a ConfigMap and a Secret of the namespace, which go with the object. Not published unless given.",
    ),
})

type Shape = z.output<typeof shape>

const spec = ruled(
  shape.describe("What the workspace is to be. Whatever is left out stays as it is in the engine."),
  ...immutable<Shape>("organization"),
  {
    rule: "!has(oldSelf.externalID) || (has(self.externalID) && self.externalID == oldSelf.externalID)",
    message: "externalID cannot be changed once it is given",
    fieldPath: ".externalID",
    transition: true,
    holds: (value, before) => before.externalID === undefined || value.externalID === before.externalID,
  },
  {
    rule: "!has(self.externalID) || self.adoptionPolicy != 'Never'",
    message: "externalID needs the adoptionPolicy IfExists or MustExist",
    fieldPath: ".externalID",
    holds: ({ externalID, adoptionPolicy }) => externalID === undefined || adoptionPolicy !== "Never",
  },
  {
    rule: "(has(self.executionMode) && self.executionMode == 'agent') == has(self.agentPool)",
    message: "agentPool belongs to the executionMode agent, which needs one",
    fieldPath: ".agentPool",
    holds: ({ executionMode, agentPool }) => (executionMode === "agent") === (agentPool !== undefined),
  },
  {
    rule: "!has(self.settingOverwrites) || (has(self.settingOverwrites.executionMode) && !self.settingOverwrites.executionMode) || has(self.executionMode)",
    message: "executionMode must be given unless settingOverwrites.executionMode is false",
    fieldPath: ".executionMode",
    holds: ({ settingOverwrites, executionMode }) =>
      settingOverwrites === undefined || settingOverwrites.executionMode === false || executionMode !== undefined,
  },
  {
    rule: "!has(self.settingOverwrites) || !has(self.settingOverwrites.agentPool) || !self.settingOverwrites.agentPool || has(self.agentPool)",
    message: "agentPool must be given where settingOverwrites.agentPool is true",
    fieldPath: ".agentPool",
    holds: ({ settingOverwrites, agentPool }) => settingOverwrites?.agentPool !== true || agentPool !== undefined,
  },
  {
    rule: "!has(self.remoteStateConsumers) || (has(self.globalRemoteState) && !self.globalRemoteState)",
    message: "remoteStateConsumers need globalRemoteState false",
    fieldPath: ".remoteStateConsumers",
    holds: ({ remoteStateConsumers, globalRemoteState }) =>
      remoteStateConsumers === undefined || globalRemoteState === false,
  },
  {
    rule: "!has(self.globalRemoteState) || !self.globalRemoteState || !has(self.projectRemoteState) || !self.projectRemoteState",
    message: "globalRemoteState and projectRemoteState exclude each other",
    fieldPath: ".projectRemoteState",
    holds: ({ globalRemoteState, projectRemoteState }) => globalRemoteState !== true || projectRemoteState !== true,
  },
  {
    rule: "!has(self.triggerPatterns) || !has(self.triggerPrefixes) || size(self.triggerPatterns) == 0 || size(self.triggerPrefixes) == 0",
    message: "triggerPatterns and triggerPrefixes exclude each other",
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
      name: z.string().max(253).describe("Its name."),
      resourceVersion: z.string().max(64).describe("Its version as it was written last."),
    })
    .optional()
    .describe(words)

const status = {
  id: text(128, "The workspace's id in the engine."),
  url: text(4_096, "Where people find it."),
  name: text(90, "The name it has."),
  engineVersion: text(128, "The version of the infrastructure tool that it has."),
  locked: z.boolean().optional().describe("Whether anybody has locked it."),
  lockedReason: text(10_000, "Why."),
  resourceCount: z.int().min(0).optional().describe("How many resources it manages."),
  lastSyncTime: time("When this status was written last; a comparison that finds nothing new writes nothing."),
  createPending: z
    .object({
      at: z.string().max(64).describe("When it began.").meta({ format: "date-time" }),
      token: z.string().max(255).describe("What the workspace will be known by."),
    })
    .optional()
    .describe("A creation that was begun, and of which nothing else is known yet."),
  drift: z
    .array(
      z.object({
        field: z.string().max(255).describe("The field of the spec."),
        desired: z.string().max(1_024).describe("What the spec says, as JSON."),
        observed: z.string().max(1_024).describe("What the engine has, as JSON."),
      }),
    )
    .max(64)
    .optional()
    .describe("What differs from the spec, where the driftPolicy is Report.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["field"] }),
  effectiveTagBindings: z
    .array(
      z.object({
        key: z.string().max(255).describe("The tag's key."),
        value: z.string().max(256).describe("The tag's value; none for a flat tag."),
        inheritedFrom: z.string().max(128).optional().describe("The project that it comes from."),
      }),
    )
    .max(256)
    .optional()
    .describe("All tags that count, its own and those of its project.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  applied: z
    .object({
      fields: names(64, "Fields of the spec that are in force, and are taken back when the spec no longer has them."),
      tags: names(100, "Tags that this object has brought."),
      tagBindings: names(10, "Keys of bindings that this object has brought."),
      remoteStateConsumers: names(500, "Ids of consumers that this object has brought."),
    })
    .optional()
    .describe("What this object has brought into the workspace."),
  variables: z
    .array(
      z.object({
        category: z.string().max(16).describe("What kind of variable it is."),
        key: z.string().max(128).describe("The variable's name."),
        versionID: text(128, "The engine's version of a sensitive one, as it was written last."),
        sourceVersion: text(512, "The Secret or ConfigMap that was written last: its uid, the key, its version."),
      }),
    )
    .max(1_000)
    .optional()
    .describe("Variables that this object has brought.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["category", "key"] }),
  outputs: z
    .object({
      stateVersionID: text(128, "The state version that they are of."),
      serial: z.int().min(0).optional().describe("The serial of that state."),
      configMap: writtenObject("Where those are that are not sensitive."),
      secret: writtenObject("Where those are that are sensitive."),
    })
    .optional()
    .describe("The outputs that were published."),
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
    "Workspace is a workspace of a Chancery engine: made, kept as it is written here, and deleted by its policy.",
  spec,
  objectRules: [
    {
      rule: "has(self.spec.name) || self.metadata.name.matches('^[A-Za-z0-9_-]{1,90}$')",
      message: "spec.name must be given where the name of the object cannot be that of a workspace",
      fieldPath: ".spec.name",
    },
    {
      rule: "!has(self.spec.outputs) || size(self.metadata.name) <= 245 || (has(self.spec.outputs.configMapName) && has(self.spec.outputs.secretName))",
      message:
        "outputs needs configMapName and secretName where the name of the object and -outputs is too long for one",
      fieldPath: ".spec.outputs",
    },
  ],
  status,
  synced: true,
  selectable: [".spec.connectionRef.name"],
  columns: [
    { name: "ID", type: "string", jsonPath: ".status.id", description: "The id in the engine." },
    {
      name: "Locked",
      type: "boolean",
      jsonPath: ".status.locked",
      description: "Whether anybody has locked it.",
      priority: 1,
    },
  ],
}
