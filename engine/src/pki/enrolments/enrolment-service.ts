import type { Caller } from "../../core/caller.ts"
import { busy, notFound, rejectFaults } from "../../core/errors.ts"
import { repeatableRead } from "../../core/storage.ts"
import { writePem } from "../../x509/pem.ts"
import { limitOf } from "../mounts/key-page.ts"
import type { MountId } from "../mounts/mount.ts"
import { readMount, readMountReplica, transactOnMount } from "../mounts/with-mount-snapshot.ts"
import { authorizeOnMount, type MountAccess, type PkiRepositories } from "../pki-context.ts"
import {
  type EnrolmentDecisionInput,
  type EnrolmentListQuery,
  type Enrolments,
  type EnrolmentView,
  type EnrolmentWithCsr,
  maxListedEnrolments,
} from "./enrolment-api.ts"
import {
  assertDecidable,
  commentFaults,
  type Enrolment,
  type EnrolmentDecision,
  type EnrolmentId,
} from "./enrolment.ts"

const listPath = "enrolments"

export class EnrolmentService implements Enrolments {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async list({ state, ...page }: EnrolmentListQuery = {}): Promise<readonly EnrolmentView[]> {
    authorizeOnMount(this.#access, "list", listPath)
    const query = {
      now: this.#access.context.runtime.clock.now(),
      after: page.after ?? "",
      limit: limitOf(page, maxListedEnrolments),
      ...(state !== undefined && { state }),
    }
    return readMountReplica(this.#access, async ({ mount }, { enrolments }) =>
      (await enrolments.list(mount.id, query)).map(viewOf),
    )
  }

  async get(id: string): Promise<EnrolmentWithCsr> {
    authorizeOnMount(this.#access, "read", `${listPath}/${id}`)
    return readMount(this.#access, async ({ mount }, repositories) => {
      const enrolment = await enrolmentOf(repositories, mount.id, id)
      return { ...viewOf(enrolment), csr: `${writePem("CERTIFICATE REQUEST", enrolment.csr)}\n` }
    })
  }

  async approve(id: string, input: EnrolmentDecisionInput = {}): Promise<EnrolmentView> {
    authorizeOnMount(this.#access, ["create", "update"], `${listPath}/${id}/approve`)
    return this.#decide(id, "approved", input)
  }

  async deny(id: string, input: EnrolmentDecisionInput = {}): Promise<EnrolmentView> {
    authorizeOnMount(this.#access, ["create", "update"], `${listPath}/${id}/deny`)
    return this.#decide(id, "denied", input)
  }

  #decide(id: string, state: EnrolmentDecision, { comment = "" }: EnrolmentDecisionInput): Promise<EnrolmentView> {
    rejectFaults(commentFaults(comment))
    const decidedAt = this.#access.context.runtime.clock.now()
    const decidedBy = nameOf(this.#access.caller)
    const decide = async (mountId: MountId, repositories: PkiRepositories): Promise<EnrolmentView> => {
      const enrolment = await enrolmentOf(repositories, mountId, id)
      if (!assertDecidable(enrolment, state, decidedAt)) return viewOf(enrolment)
      const decision = { state, decidedAt, decidedBy, comment }
      if (!(await repositories.enrolments.decide(enrolment.id, decision)))
        throw busy("The enrolment is being changed; try again.")
      return viewOf({ ...enrolment, ...decision })
    }
    // Repeatable read: the transaction writes the only row that it depends on, so of two decisions the database runs one again.
    return transactOnMount(this.#access, ({ mount }, repositories) => decide(mount.id, repositories), repeatableRead)
  }
}

async function enrolmentOf(
  { enrolments }: Pick<PkiRepositories, "enrolments">,
  mountId: MountId,
  id: string,
): Promise<Enrolment> {
  const enrolment = await enrolments.find(mountId, id as EnrolmentId)
  if (enrolment === undefined) throw notFound(id)
  return enrolment
}

const viewOf = (enrolment: Enrolment): EnrolmentView => ({
  id: enrolment.id,
  state: enrolment.state,
  subject: enrolment.subject,
  names: enrolment.names,
  requester: enrolment.displayName,
  requesterAccessor: enrolment.accessor,
  protocol: enrolment.protocol,
  operation: enrolment.operation,
  path: enrolment.path,
  policy: enrolment.policy,
  decider: enrolment.decider,
  createdAt: enrolment.createdAt,
  expiresAt: enrolment.expiresAt,
  decidedAt: enrolment.decidedAt,
  decidedBy: enrolment.decidedBy,
  comment: enrolment.comment,
  serialNumber: enrolment.serialNumber,
  csrSha256: enrolment.csrSha256,
})

/** Returns the name of a caller for the record of its decision. */
function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case "user":
      return caller.username ?? caller.userId
    case "team":
      return caller.teamName ?? caller.teamId
    case "organization":
      return caller.organizationId
    case "agent":
    case "service":
      return caller.tokenId
    case "anonymous":
      return ""
    default:
      return caller satisfies never
  }
}
