// One program with a resource of every kind that needs no certificate authority.
import {
  DataRetentionPolicy,
  PkiMount,
  PkiRole,
  Project,
  RemoteStateConsumers,
  SshKeyAssignment,
  Tag,
  TagBindings,
  Variable,
  Workspace,
  WorkspaceLock,
  WorkspaceTags,
} from "@chancery/pulumi"
import type { ServedEngine } from "../../../engine/src/engine.ts"

const first = { number: 1, size: 100 }
const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----"

export const everyName = [
  "payments",
  "api",
  "web",
  "flat",
  "valued",
  "shared",
  "consumers",
  "key",
  "lock",
  "retention",
  "region",
  "password",
  "pki",
  "role",
] as const

type Word = "first" | "second"
const addressOf = (word: Word) => `https://${word}.example.com/v1/pki`
type SshKeyIds = Readonly<Record<Word, string>>

/** Returns two programs: one with everything, and one with every value changed. */
export function everything(sshKeyIds: SshKeyIds): readonly [() => Promise<void>, () => Promise<void>] {
  const program = (isSecond: boolean) => async () => {
    const word: Word = isSecond ? "second" : "first"
    const { id: projectId } = new Project("payments", { description: word, tagBindings: { team: "payments" } })
    const { id: workspaceId } = new Workspace("api", {
      projectId,
      autoApply: isSecond,
      globalRemoteState: false,
    })
    const web = new Workspace("web", { projectId, tagBindings: { tier: word } })
    new WorkspaceTags("flat", { workspaceId, tags: [word, "both"] })
    new TagBindings("valued", { workspaceId, bindings: { env: word } })
    new Tag("shared", { workspaceIds: isSecond ? [workspaceId, web.id] : [workspaceId] })
    new RemoteStateConsumers("consumers", {
      workspaceId,
      consumerIds: [web.id],
      mode: isSecond ? "exclusive" : "additive",
    })
    new SshKeyAssignment("key", { workspaceId, sshKeyId: sshKeyIds[word] })
    new WorkspaceLock("lock", { workspaceId, reason: word })
    new DataRetentionPolicy("retention", { workspaceId, deleteOlderThanDays: isSecond ? 60 : 30 })
    new Variable("region", { workspaceId, key: "region", category: "terraform", value: word })
    new Variable("password", { workspaceId, key: "PASSWORD", category: "env", value: `${word} word`, sensitive: true })
    const { path } = new PkiMount("pki", { description: word, clusterPath: addressOf(word) })
    new PkiRole("role", { mount: path, allowedDomains: [`${word}.example.com`] })
  }
  return [program(false), program(true)]
}

export async function sshKeysFor({ sshKeys }: ServedEngine): Promise<SshKeyIds> {
  const made = async (name: string) => (await sshKeys.create("acme", { name, value: sshKey })).id
  return { first: await made("modules"), second: await made("others") }
}

/** Reads everything in the engine directly. */
export async function inventory(engine: ServedEngine): Promise<Record<string, unknown>> {
  const workspaces = (await engine.workspaces.list("acme", {}, first)).items
  const [api] = workspaces.filter(({ name }) => name === "api")
  const [web] = workspaces.filter(({ name }) => name === "web")
  const bound = async (id: string) =>
    (await engine.tags.bindings(id, { tags: true }))
      .map(({ key, value }) => (value === "" ? key : `${key}=${value}`))
      .toSorted()
  const projects = (await engine.projects.list("acme", {}, first)).items.filter(({ name }) => name === "payments")
  const mounts = await Promise.all(
    (await engine.mounts.list()).map(async ({ path, description }) => [
      path,
      description,
      (await engine.pki(path).settings.cluster()).path,
    ]),
  )
  return {
    workspaces: workspaces.map(({ name }) => name).toSorted(),
    projects: projects.map(({ description }) => description),
    mounts,
    tags: (await engine.tags.list("acme", {}, first)).items.map(({ name }) => name).toSorted(),
    roles: mounts.length === 0 ? [] : await rolesOf(engine.pki("pki")),
    api:
      api === undefined
        ? undefined
        : { autoApply: api.autoApply, lock: api.lock.held && api.lock.reason, sshKey: api.sshKeyId !== null },
    apiTags: api === undefined ? [] : await bound(api.id),
    webTags: web === undefined ? [] : await bound(web.id),
    consumers:
      api === undefined ? [] : (await engine.remoteStateConsumers.list(api.id, first)).items.map(({ name }) => name),
    variables: api === undefined ? [] : await variablesOf(engine, api.id),
    retention:
      api === undefined ? undefined : (await engine.retentionPolicies.get({ kind: "workspace", id: api.id })).rule,
  }
}

const variablesOf = async ({ variables }: ServedEngine, id: string) =>
  (await variables.list({ id })).map(({ key, value }) => `${key}=${value ?? "?"}`).toSorted()

const rolesOf = async ({ roles }: ReturnType<ServedEngine["pki"]>) =>
  Promise.all((await roles.list()).map(async (name) => [name, (await roles.get(name)).allowedDomains]))

/** Returns the expected inventory after one of the two programs. */
export function declaredBy(word: Word): Record<string, unknown> {
  const isSecond = word === "second"
  return {
    workspaces: ["api", "web"],
    projects: [word],
    mounts: [["pki", word, addressOf(word)]],
    tags: ["both", word, "shared"].toSorted(),
    roles: [["role", [`${word}.example.com`]]],
    api: { autoApply: isSecond, lock: word, sshKey: true },
    apiTags: ["both", `env=${word}`, word, "shared"].toSorted(),
    webTags: [...(isSecond ? ["shared"] : []), `tier=${word}`],
    consumers: ["web"],
    variables: ["PASSWORD=?", `region=${word}`],
    retention: { kind: "delete-older", days: isSecond ? 60 : 30 },
  }
}

export const nothing = {
  workspaces: [],
  projects: [],
  mounts: [],
  tags: [],
  roles: [],
  api: undefined,
  apiTags: [],
  webTags: [],
  consumers: [],
  variables: [],
  retention: undefined,
}
