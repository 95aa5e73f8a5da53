// Use cases of logins from a Kubernetes cluster. The API server is queried outside of any transaction, and only after all other checks have
// passed: clients should make this server send as few requests as possible.
import { authorizePath, type Capability, permissionDenied } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { badRequest, EngineError, notFound, rejectFaults, unavailable, unprocessable } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import { type KeyPage, pageOfKeys } from "../../pki/mounts/key-page.ts"
import { mountPathOf, type MountRepository } from "../../pki/mounts/mount.ts"
import { roleNameFaults } from "../../pki/roles/role.ts"
import { addressBounds } from "../logins/address-bounds.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import type { AuthMethodDirectory } from "../logins/auth-method-directory.ts"
import { logIn, type LoginRepositories } from "../logins/login.ts"
import { countLogin, type LoginMetrics } from "../logins/login-metrics.ts"
import {
  apiServerUrl,
  configRejection,
  createKubernetesConfig,
  isWithin,
  type KubernetesConfig,
  type KubernetesConfigInput,
  kubernetesConfigWarnings,
  verificationKeys,
} from "./kubernetes-config.ts"
import type { KubernetesLoginRepository } from "./kubernetes-login-repository.ts"
import type {
  KubernetesConfigured,
  KubernetesLogin,
  KubernetesLogins,
  LoginOrigin,
  SavedKubernetesRole,
} from "./kubernetes-login-api.ts"
import {
  changeKubernetesRole,
  type KubernetesRole,
  type KubernetesRoleInput,
  kubernetesRoleWarnings,
  roleRejection,
} from "./kubernetes-role.ts"
import {
  isRejection,
  isSignedByOneOf,
  readServiceAccountToken,
  type TokenRejection,
  tokenRejection,
  type ServiceAccount,
  type ServiceAccountToken,
} from "./service-account-token.ts"
import type { ReadPodAccount, ReviewQuestion, TokenReviewer } from "./token-reviewer.ts"

export interface KubernetesLoginContext {
  readonly storage: Storage<UsedRepositories>
  readonly runtime: Runtime
  readonly authMethodDirectory: AuthMethodDirectory
  readonly loginMetrics: LoginMetrics
  readonly reviewToken: TokenReviewer
  readonly readPodAccount: ReadPodAccount
}

/** Folds the name of a role. Roles are found and authorized in lower case, so that no spelling of a name circumvents a policy. */
const folded = (name: string): string => name.toLowerCase()

export class KubernetesLoginService implements KubernetesLogins {
  readonly #context: KubernetesLoginContext
  readonly #caller: Caller
  readonly #path: string

  constructor(context: KubernetesLoginContext, caller: Caller, path: string) {
    // Each transaction writes one row of a role or of the configuration, or inserts one token. Foreign keys delete all of them with their
    // auth method.
    this.#context = { ...context, storage: atRepeatableRead(context.storage) }
    this.#caller = caller
    this.#path = mountPathOf(path)
  }

  async getConfig(): Promise<KubernetesConfig> {
    this.#authorize("config", "read")
    return this.#context.storage.read(async (repositories) => {
      const config = await repositories.kubernetesLogins.config((await this.#method(repositories)).id)
      if (config === undefined) throw notFound()
      return config
    })
  }

  async configure(input: KubernetesConfigInput): Promise<KubernetesConfigured> {
    this.#authorize("config", writing)
    const made = await createKubernetesConfig(input)
    await this.#context.storage.transact(async (repositories) => {
      const { id } = await this.#method(repositories)
      if ((await repositories.kubernetesLogins.config(id)) !== undefined) this.#authorize("config", "update")
      await repositories.kubernetesLogins.saveConfig(id, made)
    })
    return { warnings: kubernetesConfigWarnings(made.config) }
  }

  async listRoles(page?: KeyPage): Promise<readonly string[]> {
    this.#authorize("role", "list")
    const names = await this.#context.storage.read(async (repositories) =>
      repositories.kubernetesLogins.roleNames((await this.#method(repositories)).id),
    )
    return pageOfKeys(names, (name) => name, page)
  }

  async getRole(name: string): Promise<KubernetesRole> {
    this.#authorize(`role/${folded(name)}`, "read")
    return this.#context.storage.read(async (repositories) => {
      const role = await repositories.kubernetesLogins.role((await this.#method(repositories)).id, folded(name))
      if (role === undefined) throw notFound(name)
      return role
    })
  }

  async saveRole(name: string, input: KubernetesRoleInput): Promise<SavedKubernetesRole> {
    this.#authorize(`role/${folded(name)}`, writing)
    return this.#context.storage.transact(async (repositories) => {
      const { id } = await this.#method(repositories)
      const before = await repositories.kubernetesLogins.role(id, folded(name))
      if (before !== undefined) this.#authorize(`role/${folded(name)}`, "update")
      rejectFaults(roleNameFaults(name))
      const role = changeKubernetesRole(before, input)
      await repositories.kubernetesLogins.saveRole(id, folded(name), role)
      return { role, warnings: kubernetesRoleWarnings(role) }
    })
  }

  async deleteRole(name: string): Promise<void> {
    this.#authorize(`role/${folded(name)}`, "delete")
    await this.#context.storage.transact(async (repositories) =>
      repositories.kubernetesLogins.removeRole((await this.#method(repositories)).id, folded(name)),
    )
  }

  login(login: KubernetesLogin, from?: LoginOrigin): Promise<CreatedServiceToken> {
    return countLogin(this.#context.loginMetrics, "kubernetes", () => this.#logIn(login, from))
  }

  async #logIn(
    { role: roleName, jwt: jwtText }: KubernetesLogin,
    from: LoginOrigin | undefined,
  ): Promise<CreatedServiceToken> {
    const jwt = jwtText.trim()
    if (roleName === "") throw badRequest("missing role")
    if (jwt === "") throw badRequest("missing jwt")
    const name = folded(roleName)
    const known = await this.#context.storage.read((repositories) => this.#known(repositories, name))
    const { role, config } = known
    if (config === undefined)
      throw unprocessable(`the auth method is not configured; write its configuration to auth/${this.#path}/config`)
    if (!addressBounds(role.boundCidrs)(from?.remoteAddress))
      return this.#reject(name, "the role does not allow the client's address")
    const token = await readServiceAccountToken(jwt)
    if (isRejection(token)) return this.#reject(name, token.refused)
    const rejection =
      roleRejection(token, role, this.#context.runtime.clock.now()) ??
      configRejection(token, config) ??
      (await this.#judged(jwt, token, { ...known, config }))
    if (rejection !== undefined) return this.#reject(name, rejection.refused)
    return this.#context.storage.transact(async (repositories) => {
      // Role and method may have changed while the API server was queried. The current ones apply.
      const current = await this.#known(repositories, name)
      const changed = roleRejection(token, current.role, this.#context.runtime.clock.now())
      if (changed !== undefined) return this.#reject(name, changed.refused)
      const { account, secretName } = token
      return logIn(repositories, this.#context.runtime, current.method, {
        terms: current.role,
        displayName: `${account.namespace}-${account.name}`,
        meta: {
          role: name,
          service_account_uid: account.uid,
          service_account_name: account.name,
          service_account_namespace: account.namespace,
          service_account_secret_name: secretName,
        },
      })
    })
  }

  /** Returns undefined if the token is genuine. Throws `unavailable` if that cannot be determined. */
  async #judged(jwt: string, token: ServiceAccountToken, known: Known): Promise<TokenRejection | undefined> {
    const { config } = known
    const keys = verificationKeys(config)
    if (keys.length > 0 && !(await isSignedByOneOf(jwt, keys)))
      return tokenRejection("no configured key verifies the token")
    if (config.kubernetesHost !== "") return this.#reviewed(jwt, token, known)
    return keys.length > 0 ? undefined : tokenRejection("neither an API server nor a key is configured")
  }

  async #reviewed(
    jwt: string,
    token: ServiceAccountToken,
    { config, reviewerToken, role }: Known,
  ): Promise<TokenRejection | undefined> {
    const url = apiServerUrl(config.kubernetesHost)
    if (url === undefined) return tokenRejection("kubernetes_host is not a valid address")
    const pod = config.disableLocalCaJwt ? undefined : await this.#context.readPodAccount()
    const certificates = config.kubernetesCaCert === "" ? pod?.certificates : config.kubernetesCaCert
    // The pod's token is sent only to a server that the pod's own CAs vouch for. A caller that sets the host does not obtain it.
    const podToken =
      pod && certificates !== undefined && isWithin(certificates, pod.certificates) ? pod.token : undefined
    const ownToken = reviewerToken ?? podToken
    const audiences = role.audience === "" ? token.audiences : [role.audience]
    const question: ReviewQuestion = {
      url,
      bearer: ownToken ?? jwt,
      token: jwt,
      audiences,
      ...(certificates === undefined ? {} : { trust: { kind: "authorities", certificates } }),
    }
    const review = await this.#context.reviewToken(question)
    switch (review.kind) {
      case "genuine":
        if (!isSameAccount(review.account, token.account))
          return tokenRejection("the API server reports another service account")
        if (audiences.length > 0 && !review.audiences.some((one) => audiences.includes(one)))
          return tokenRejection("the API server does not accept the token for that audience")
        return undefined
      case "not-genuine":
        return tokenRejection("the API server does not accept the token")
      case "refused":
        if (ownToken === undefined)
          return tokenRejection(`the token is not allowed to review itself (status ${review.status})`)
        throw this.#unreviewed(`The API server does not let this server review tokens (status ${review.status}).`)
      case "unanswered":
        throw this.#unreviewed(review.reason)
      default:
        return review satisfies never
    }
  }

  async #known(repositories: Pick<UsedRepositories, "authMethods" | "kubernetesLogins" | "mounts">, name: string) {
    const method = await this.#method(repositories)
    const { kubernetesLogins } = repositories
    const role = await kubernetesLogins.role(method.id, name)
    if (role === undefined) throw badRequest(`invalid role name ${JSON.stringify(name)}`)
    const config = await kubernetesLogins.config(method.id)
    const reviewerToken =
      config?.tokenReviewerJwtSet === true ? await kubernetesLogins.reviewerToken(method.id) : undefined
    return { method, role, config, reviewerToken }
  }

  async #method(repositories: Pick<UsedRepositories, "authMethods" | "mounts">): Promise<AuthMethod> {
    const method = (await this.#context.authMethodDirectory.within(repositories)).at(this.#path)
    // The same error as for an unknown path: methods of other types have no such endpoints.
    if (method.type !== "kubernetes") throw new EngineError("not-found", "unsupported path")
    return method
  }

  #authorize(below: string, capability: Capability | readonly Capability[]): void {
    authorizePath(this.#caller, { path: `auth/${this.#path}/${below}`, capability })
  }

  /** Throws `forbidden` without a reason for the client. The reason is in the server's log. */
  #reject(role: string, reason: string): never {
    this.#context.runtime.log.debug("kubernetes-login-refused", { method: this.#path, role, reason })
    throw permissionDenied()
  }

  #unreviewed(reason: string): EngineError {
    this.#context.runtime.log.warn("kubernetes-token-not-reviewed", { method: this.#path, reason })
    return unavailable("The Kubernetes API server could not review the token.")
  }
}

const writing = ["create", "update"] as const

interface UsedRepositories extends LoginRepositories {
  readonly kubernetesLogins: KubernetesLoginRepository
  readonly mounts: MountRepository
}

interface Known {
  readonly role: KubernetesRole
  readonly config: KubernetesConfig
  readonly reviewerToken: string | undefined
}

const isSameAccount = (one: ServiceAccount, other: ServiceAccount): boolean =>
  one.namespace === other.namespace && one.name === other.name && one.uid === other.uid
