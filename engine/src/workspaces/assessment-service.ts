import type { Caller } from "../core/caller.ts"
import { notFound, rejectFaults } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import type { EventRepository } from "../events/event.ts"
import type { AccessRepository } from "./access-store.ts"
import type { AssessmentRepository } from "./assessment-store.ts"
import {
  type Assessment,
  errorMessageFaults,
  type AssessmentInput,
  type AssessmentView,
  currentAssessmentFacts,
} from "./assessment.ts"
import type { Assessments } from "./assessments.ts"
import { type AuthorizedWorkspace, authorizeWorkspace } from "./authorization.ts"
import type { WorkspacePermission } from "./permissions.ts"
import type { WorkspaceRepository } from "./workspace-store.ts"
import type { WorkspaceRef } from "./workspace.ts"

interface UsedStores {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly assessments: AssessmentRepository
  readonly events: EventRepository
}

export class AssessmentService implements Assessments {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    // Each transaction is about one workspace, and of two about the same one is run again (`WorkspaceStore.guard`), so none decides
    // by rows of the workspace that another changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: AssessmentInput): Promise<AssessmentView> {
    const id = newId("asmtres", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref, "canManageAssessments")
      rejectFaults(errorMessageFaults(input.errorMessage ?? ""))
      const assessment = {
        ...input,
        id,
        workspaceId: workspace.id,
        organizationId: workspace.organizationId,
        createdAt,
      }
      await stores.assessments.insert(assessment)
      await stores.workspaces.save(workspace, { ...workspace, ...currentAssessmentFacts(assessment) })
      await stores.events.append({ kind: "assessment.created", workspace, subject: { type: "assessment-results", id } })
      return viewAssessment(assessment)
    })
  }

  get(id: string): Promise<AssessmentView> {
    return this.#storage.read(async (stores) =>
      viewAssessment((await this.#authorized(stores, id, "canReadAssessmentResults")).assessment),
    )
  }

  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<AssessmentView>> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref, "canReadAssessmentResults")
      return mapPage(await stores.assessments.list(workspace.id, page), viewAssessment)
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const { assessment, workspace } = await this.#authorized(stores, id, "canManageAssessments")
      await stores.assessments.remove(assessment.id)
      const [newest] = (await stores.assessments.list(workspace.id, { number: 1, size: 1 })).items
      await stores.workspaces.save(workspace, { ...workspace, ...currentAssessmentFacts(newest) })
      await stores.events.append({
        kind: "assessment.deleted",
        workspace,
        subject: { type: "assessment-results", id: assessment.id },
      })
    })
  }

  async #authorized(
    stores: UsedStores,
    id: string,
    permission: WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly assessment: Assessment }> {
    const assessment = await stores.assessments.find(id)
    if (assessment === undefined) throw notFound(id)
    return {
      ...(await authorizeWorkspace(stores, this.#caller, { id: assessment.workspaceId }, permission)),
      assessment,
    }
  }
}

const viewAssessment = ({ organizationId: _organizationId, ...assessment }: Assessment): AssessmentView => assessment
