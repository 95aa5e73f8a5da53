import type { Caller } from "../../core/caller.ts"
import { notFound, rejectFaults } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import {
  type Assessment,
  type AssessmentInput,
  type AssessmentRepository,
  type Assessments,
  type AssessmentView,
  currentAssessmentFacts,
  errorMessageFaults,
} from "./assessment.ts"
import { type AuthorizedWorkspace, authorizeWorkspace } from "../access/workspace-authorization.ts"
import type { WorkspacePermission } from "../access/workspace-permissions.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly assessments: AssessmentRepository
  readonly events: EventRepository
}

export class AssessmentService implements Assessments {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: AssessmentInput): Promise<AssessmentView> {
    const id = newId("asmtres", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canManageAssessments")
      rejectFaults(errorMessageFaults(input.errorMessage ?? ""))
      const assessment = {
        ...input,
        id,
        workspaceId: workspace.id,
        organizationId: workspace.organizationId,
        createdAt,
      }
      await repositories.assessments.insert(assessment)
      await repositories.workspaces.save(workspace, { ...workspace, ...currentAssessmentFacts(assessment) })
      await repositories.events.append({
        kind: "assessment.created",
        workspace,
        subject: { type: "assessment-results", id },
      })
      return viewAssessment(assessment)
    })
  }

  get(id: string): Promise<AssessmentView> {
    return this.#storage.read(async (repositories) =>
      viewAssessment((await this.#authorized(repositories, id, "canReadAssessmentResults")).assessment),
    )
  }

  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<AssessmentView>> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadAssessmentResults")
      return mapPage(await repositories.assessments.list(workspace.id, page), viewAssessment)
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { assessment, workspace } = await this.#authorized(repositories, id, "canManageAssessments")
      await repositories.assessments.remove(assessment.id)
      const [newest] = (await repositories.assessments.list(workspace.id, { number: 1, size: 1 })).items
      await repositories.workspaces.save(workspace, { ...workspace, ...currentAssessmentFacts(newest) })
      await repositories.events.append({
        kind: "assessment.deleted",
        workspace,
        subject: { type: "assessment-results", id: assessment.id },
      })
    })
  }

  async #authorized(
    repositories: UsedRepositories,
    id: string,
    permission: WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly assessment: Assessment }> {
    const assessment = await repositories.assessments.find(id)
    if (assessment === undefined) throw notFound(id)
    return {
      ...(await authorizeWorkspace(repositories, this.#caller, { id: assessment.workspaceId }, permission)),
      assessment,
    }
  }
}

const viewAssessment = ({ organizationId: _organizationId, ...assessment }: Assessment): AssessmentView => assessment
