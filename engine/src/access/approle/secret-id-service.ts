import { EngineError } from "../../core/errors.ts"
import { newUuid } from "../../core/ids.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import { leaseTtls } from "../../pki/mounts/mount.ts"
import { type AppRoleAccess, type AppRoleRepositories, roleIn } from "./app-role-access.ts"
import type { SecretIdOwner } from "./app-role-repository.ts"
import type { CreatedSecretId, SecretIdRef, SecretIds } from "./app-role-api.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import { createSecretId, isOver, type SecretId, type SecretIdInput } from "./secret-id.ts"
import { secretIdsPerWrite, sweepSecretIdsJob } from "./delete-expired-secret-ids.ts"

export class SecretIdService implements SecretIds {
  readonly #access: AppRoleAccess

  constructor(access: AppRoleAccess) {
    this.#access = access
  }

  async create(name: string, input: SecretIdInput): Promise<CreatedSecretId> {
    const address = input.secretId === undefined ? "secret-id" : "custom-secret-id"
    this.#access.authorizeRole(["create", "update"], name, address)
    const { clock, random } = this.#access.context.runtime
    const text = input.secretId ?? newUuid(random)
    const accessor = newUuid(random)
    const now = clock.now()
    return this.#access.write(async (repositories, method) => {
      const role = await roleIn(repositories, method, name)
      const { maximumMs } = leaseTtls(method.config)
      const { secretId, warnings } = createSecretId(role, input, { accessor, now, maximumMs })
      const owner = { methodId: method.id, name: role.name }
      await repositories.secretIds.insert(owner, secretId, this.#access.digestOf(owner, text))
      const { ttlMs, usesLeft } = secretId
      return { secretId: text, accessor, ttlMs, usesLeft, warnings }
    })
  }

  async list(name: string, page: KeyPage = {}): Promise<readonly string[]> {
    this.#access.authorizeRole("list", name, "secret-id")
    const now = this.#access.context.runtime.clock.now()
    return this.#access.read(async (repositories, method) =>
      repositories.secretIds.accessors(await ownerIn(repositories, method, name), page, now),
    )
  }

  async get(name: string, ref: SecretIdRef): Promise<SecretId> {
    this.#access.authorizeRole("update", name, `${addressOf(ref)}/lookup`)
    const now = this.#access.context.runtime.clock.now()
    return this.#access.read(async (repositories, method) => {
      const owner = await ownerIn(repositories, method, name)
      const found = await repositories.secretIds.find(owner, this.#access.keyOf(owner, ref))
      if (found === undefined || isOver(found, now)) throw noSecretId(ref)
      return found
    })
  }

  async destroy(name: string, ref: SecretIdRef): Promise<void> {
    // Two HTTP methods have this effect, so either capability is enough.
    this.#access.authorizeRole(["update", "delete"], name, `${addressOf(ref)}/destroy`)
    await this.#access.write(async (repositories, method) => {
      const owner = await ownerIn(repositories, method, name)
      const wasThere = await repositories.secretIds.remove(owner, this.#access.keyOf(owner, ref))
      if (!wasThere && "accessor" in ref) throw noSecretId(ref)
    })
  }

  async tidy(): Promise<readonly string[]> {
    this.#access.authorize("update", "tidy/secret-id")
    const { runtime, wakeJob } = this.#access.context
    const now = runtime.clock.now()
    // The first part is deleted here, because the job may run on another server.
    const swept = await this.#access.write(({ secretIds }) => secretIds.sweep(now, secretIdsPerWrite))
    if (swept === secretIdsPerWrite) wakeJob(sweepSecretIdsJob.name)
    return ["Tidy operation successfully started."]
  }
}

const ownerIn = async (
  repositories: AppRoleRepositories,
  method: AuthMethod,
  name: string,
): Promise<SecretIdOwner> => ({
  methodId: method.id,
  name: (await roleIn(repositories, method, name)).name,
})

const addressOf = (ref: SecretIdRef): string => ("accessor" in ref ? "secret-id-accessor" : "secret-id")

/** Returns the error for an unknown secret id. It never repeats the secret id itself. */
const noSecretId = (ref: SecretIdRef) =>
  new EngineError(
    "not-found",
    "accessor" in ref
      ? `failed to find accessor entry for secret_id_accessor: "${ref.accessor}"`
      : "secret_id does not exist",
  )
