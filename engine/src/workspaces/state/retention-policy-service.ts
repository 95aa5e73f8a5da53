import type { Caller } from "../../core/caller.ts"
import type { Edition } from "../../core/edition.ts"
import { notFound, rejectFaults } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization, requireSiteAdmin } from "../../organizations/authorization.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { authorizeWorkspace } from "../access/workspace-authorization.ts"
import {
  retentionFaults,
  type RetentionPolicies,
  type RetentionPolicyRepository,
  type RetentionPolicyView,
  type RetentionRule,
  type RetentionSubject,
  type RetentionTarget,
  setPolicy,
} from "./retention-policy.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly retentionPolicies: RetentionPolicyRepository
  readonly workspaces: WorkspaceRepository
}

interface Candidate {
  readonly subject: RetentionSubject
  readonly target: RetentionTarget
  /** Events that report the change. */
  readonly events: readonly Change[]
}

/** A caller that can see the target can see its policy. A caller that may change its settings may change the policy. */
export class RetentionPolicyService implements RetentionPolicies {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #edition: Edition
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, edition: Edition, caller: Caller) {
    // Repeatable read suffices: each transaction writes the one row of its target, unique by constraint, and decides by nothing else.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#edition = edition
    this.#caller = caller
  }

  get(target: RetentionTarget): Promise<RetentionPolicyView> {
    return this.#storage.read(async (repositories) => {
      for (const candidate of await this.#authorized(repositories, target, "see")) {
        const policy = await repositories.retentionPolicies.find(candidate.subject)
        if (policy !== undefined) return { ...policy, target: candidate.target }
      }
      throw notFound()
    })
  }

  set(target: RetentionTarget, rule: RetentionRule): Promise<RetentionPolicyView> {
    const id = newId("drp", this.#runtime.random)
    return this.#storage.transact(async (repositories) => {
      const [own] = await this.#authorized(repositories, target, "change")
      rejectFaults(retentionFaults(target.kind, rule))
      const policy = setPolicy(await repositories.retentionPolicies.find(own.subject), rule, id)
      await repositories.retentionPolicies.put(own.subject, policy)
      await repositories.events.append(...own.events)
      return { ...policy, target: own.target }
    })
  }

  delete(target: RetentionTarget): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const [own] = await this.#authorized(repositories, target, "change")
      if ((await repositories.retentionPolicies.find(own.subject)) === undefined) throw notFound()
      await repositories.retentionPolicies.remove(own.subject)
      await repositories.events.append(...own.events)
    })
  }

  /** Returns the target, followed by the one whose policy applies if the target has none. */
  async #authorized(
    repositories: UsedRepositories,
    target: RetentionTarget,
    verb: "see" | "change",
  ): Promise<readonly [Candidate, ...Candidate[]]> {
    if (this.#edition === "hosted") throw notFound()
    switch (target.kind) {
      case "workspace": {
        const needed = verb === "change" ? (["canUpdate"] as const) : []
        const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: target.id }, ...needed)
        return [
          {
            subject: { kind: "workspace", id: workspace.id },
            target,
            events: [{ kind: "retention-policy.updated", workspace }],
          },
          {
            subject: { kind: "organization", id: workspace.organizationId },
            target: { kind: "organization", name: workspace.organization.name },
            events: [],
          },
        ]
      }
      case "organization": {
        const needed = verb === "change" ? (["canUpdate"] as const) : []
        const { organization } = await authorizeOrganization(repositories, this.#caller, target.name, ...needed)
        const { id, name } = organization
        const events = [{ kind: "retention-policy.updated", organizationId: id } as const]
        return [{ subject: { kind: "organization", id }, target: { kind: "organization", name }, events }]
      }
      case "site":
        requireSiteAdmin(this.#caller)
        return [{ subject: { kind: "site", id: "" }, target, events: [] }]
      default:
        return target satisfies never
    }
  }
}
