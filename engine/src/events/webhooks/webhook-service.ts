import type { Caller } from "../../core/caller.ts"
import { notFound, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../../core/page.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { authorizeOrganization } from "../../organizations/authorization.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { EventRepository } from "../feed/event.ts"
import { webhooksJob } from "./webhook-delivery.ts"
import {
  type CreatedWebhook,
  type DeadLetter,
  type DeadLetterView,
  type Webhook,
  webhookFaults,
  type WebhookInput,
  type WebhookPatch,
  type Webhooks,
  type WebhookSettings,
  maxWebhooks,
  type WebhookRepository,
  type WebhookView,
} from "./webhook.ts"

interface UsedRepositories {
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly webhooks: WebhookRepository
}

interface Context {
  readonly runtime: Runtime
  readonly wakeJob: (name: string) => void
}

// Creation counts the webhooks of the organization first. All other methods write one webhook or one dead letter and decide by that row
// alone, so repeatable read is enough.

/** Manages webhooks. Callers need the right to update the organization, because webhooks receive all its events. */
export class WebhookService implements Webhooks {
  readonly #storage: Storage<UsedRepositories>
  readonly #context: Context
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, context: Context, caller: Caller) {
    this.#storage = storage
    this.#context = context
    this.#caller = caller
  }

  async create(organizationName: string, input: WebhookInput): Promise<CreatedWebhook> {
    const { random, clock } = this.#context.runtime
    const id = newId("whk", random)
    const createdAt = clock.now()
    const made = input.secret === undefined ? newSecret(random) : undefined
    const webhook = await this.#storage.transact(async (repositories) => {
      const { id: organizationId } = await this.#organization(repositories, organizationName)
      rejectFaults(webhookFaults(input))
      const { totalCount } = await repositories.webhooks.list(organizationId, { number: 1, size: 1 })
      if (totalCount >= maxWebhooks)
        throw unprocessable(`The organization has reached its maximum of ${maxWebhooks} webhooks.`)
      const webhook: Webhook = {
        ...settingsOf({ ...defaults, ...input }),
        id,
        organizationId,
        createdAt,
        disabledReason: null,
        cursor: await repositories.events.end(),
        pending: null,
        deadInARow: 0,
        lastDeliveredAt: null,
        lastError: null,
        failingSince: null,
      }
      await repositories.webhooks.insert(webhook, input.secret ?? made ?? "")
      return webhook
    })
    if (webhook.enabled) this.#context.wakeJob(webhooksJob.name)
    return { ...viewOf(webhook), secret: made ?? null }
  }

  list(organizationName: string, page: PageRequest): Promise<Page<WebhookView>> {
    return this.#storage.read(async (repositories) => {
      const { id } = await this.#organization(repositories, organizationName)
      return mapPage(await repositories.webhooks.list(id, page), viewOf)
    })
  }

  get(organizationName: string, id: string): Promise<WebhookView> {
    return this.#storage.read(async (repositories) => viewOf(await this.#webhook(repositories, organizationName, id)))
  }

  async update(organizationName: string, id: string, patch: WebhookPatch): Promise<WebhookView> {
    const after = await this.#storage.transact(async (repositories) => {
      const before = await this.#webhook(repositories, organizationName, id)
      rejectFaults(webhookFaults(patch))
      const { secret, ...settings } = patch
      const after: Webhook = {
        ...before,
        ...settingsOf({ ...before, ...settings }),
        // A pending event is retried at once: the change may have fixed the cause of its failure.
        ...(before.pending === null
          ? {}
          : { pending: { ...before.pending, dueAt: this.#context.runtime.clock.now() } }),
        ...(patch.enabled === true && !before.enabled ? begunAgain : {}),
      }
      await repositories.webhooks.save(after, secret)
      return after
    }, repeatableRead)
    if (after.enabled) this.#context.wakeJob(webhooksJob.name)
    return viewOf(after)
  }

  delete(organizationName: string, id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#webhook(repositories, organizationName, id)
      await repositories.webhooks.remove(id)
    }, repeatableRead)
  }

  deadLetters(organizationName: string, id: string, page: PageRequest): Promise<Page<DeadLetterView>> {
    return this.#storage.read(async (repositories) => {
      await this.#webhook(repositories, organizationName, id)
      return mapPage(await repositories.webhooks.letters(id, page), letterViewOf)
    })
  }

  async redeliver(organizationName: string, id: string, letterId: string): Promise<DeadLetterView> {
    const letter = await this.#storage.transact(async (repositories) => {
      const found = await this.#letter(repositories, organizationName, id, letterId)
      const letter = { ...found, redelivering: true }
      await repositories.webhooks.saveLetter(letter)
      return letter
    }, repeatableRead)
    this.#context.wakeJob(webhooksJob.name)
    return letterViewOf(letter)
  }

  deleteDeadLetter(organizationName: string, id: string, letterId: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#letter(repositories, organizationName, id, letterId)
      await repositories.webhooks.removeLetter(id, letterId)
    }, repeatableRead)
  }

  async #organization(repositories: Pick<UsedRepositories, "organizations">, name: string) {
    return (await authorizeOrganization(repositories, this.#caller, name, "canUpdate")).organization
  }

  async #webhook(repositories: UsedRepositories, organizationName: string, id: string): Promise<Webhook> {
    const organization = await this.#organization(repositories, organizationName)
    const webhook = await repositories.webhooks.find(id)
    if (webhook === undefined || webhook.organizationId !== organization.id) throw notFound(id)
    return webhook
  }

  async #letter(
    repositories: UsedRepositories,
    organizationName: string,
    id: string,
    letterId: string,
  ): Promise<DeadLetter> {
    await this.#webhook(repositories, organizationName, id)
    const letter = await repositories.webhooks.letter(id, letterId)
    if (letter === undefined) throw notFound(letterId)
    return letter
  }
}

const defaults = { enabled: true, kinds: [], workspaces: [], tags: [] } as const

/** Members that are reset when a webhook is enabled again. Its pending event gets all its attempts again. */
const begunAgain = { disabledReason: null, pending: null, deadInARow: 0, failingSince: null } as const

const settingsOf = ({ name, url, enabled, kinds, workspaces, tags }: WebhookSettings): WebhookSettings => ({
  name,
  url,
  enabled,
  kinds,
  workspaces,
  tags,
})

const viewOf = (webhook: Webhook): WebhookView => {
  const { id, disabledReason, lastDeliveredAt, lastError, failingSince, createdAt } = webhook
  return { ...settingsOf(webhook), id, disabledReason, lastDeliveredAt, lastError, failingSince, createdAt }
}

const letterViewOf = ({ webhookId: _, ...view }: DeadLetter): DeadLetterView => view

const secretBytes = 32

const newSecret = (random: RandomSource): string =>
  `whsec_${Array.from(random.bytes(secretBytes), (octet) => octet.toString(16).padStart(2, "0")).join("")}`
