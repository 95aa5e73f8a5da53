// Use cases of logins with client certificates. Revocation services are queried outside of any transaction, and only for certificates that
// a role accepts otherwise: clients should make this server send as few requests as possible.
import { authorizePath, type Capability } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { badRequest, EngineError, notFound, rejectFaults, unavailable } from "../../core/errors.ts"
import { FetchFailure } from "../../core/fetch.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import { type KeyPage, pageOfKeys } from "../../pki/mounts/key-page.ts"
import { mountPathOf, type MountRepository } from "../../pki/mounts/mount.ts"
import { roleNameFaults } from "../../pki/roles/role.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { addressBounds } from "../logins/address-bounds.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import type { AuthMethodDirectory } from "../logins/auth-method-directory.ts"
import { logIn, type LoginRepositories, type VerifiedLogin } from "../logins/login.ts"
import { countLogin, type LoginMetrics } from "../logins/login-metrics.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { CertificateChecks } from "./certificate-checks.ts"
import type {
  CertificateLogin,
  CertificateLoginOrigin,
  CertificateLogins,
  RevocationListInput,
  RevocationListView,
} from "./certificate-login-api.ts"
import {
  type CertificateLoginConfig,
  changeCertificateLoginConfig,
  initialCertificateLoginConfig,
} from "./certificate-login-config.ts"
import type {
  CertificateLoginRepository,
  NamedCertificateRole,
  StoredRevocationList,
} from "./certificate-login-repository.ts"
import {
  certificateFacts,
  type CertificateRole,
  type CertificateRoleInput,
  changeCertificateRole,
  constraintProblem,
  extensionMetadata,
  isAuthority,
} from "./certificate-role.ts"
import {
  type CertificationPath,
  clientPaths,
  type FoundPaths,
  isSame,
  type PathCertificate,
  pathProblem,
  readPathCertificate,
} from "./certification-path.ts"
import {
  concerns,
  decimalSerials,
  maxRevocationListBytes,
  readRevocationList,
  refreshTimeOf,
  type RevocationList,
  revocationProblem,
} from "./revocation-list.ts"

export interface CertificateLoginContext {
  readonly storage: Storage<UsedRepositories>
  readonly runtime: Runtime
  readonly authMethodDirectory: AuthMethodDirectory
  readonly certificateChecks: CertificateChecks
  readonly loginMetrics: LoginMetrics
}

interface UsedRepositories extends LoginRepositories {
  readonly certificateLogins: CertificateLoginRepository
  readonly mounts: MountRepository
}

/** Folds the name of a role. Roles are found and authorized in lower case, so that no spelling of a name circumvents a policy. */
const folded = (name: string): string => name.toLowerCase()

const writing = ["create", "update"] as const

/** A method may have up to this many lists; each login reads their issuers. */
const maxLists = 1_000
const maxUrl = 2_048

export class CertificateLoginService implements CertificateLogins {
  readonly #context: CertificateLoginContext
  readonly #caller: Caller
  readonly #path: string

  constructor(context: CertificateLoginContext, caller: Caller, path: string) {
    // Each transaction writes one row of a role, of a list or of the configuration, or inserts one token. Foreign keys delete all of them
    // with their auth method.
    this.#context = { ...context, storage: atRepeatableRead(context.storage) }
    this.#caller = caller
    this.#path = mountPathOf(path)
  }

  async getConfig(): Promise<CertificateLoginConfig> {
    this.#authorize("config", "read")
    return this.#context.storage.read(async (repositories) => configIn(repositories, await this.#method(repositories)))
  }

  async configure(input: Partial<CertificateLoginConfig>): Promise<void> {
    this.#authorize("config", writing)
    await this.#context.storage.transact(async (repositories) => {
      const method = await this.#method(repositories)
      const before = await repositories.certificateLogins.config(method.id)
      if (before !== undefined) this.#authorize("config", "update")
      const config = changeCertificateLoginConfig(before ?? initialCertificateLoginConfig, input)
      await repositories.certificateLogins.saveConfig(method.id, config)
    })
  }

  async listRoles(page?: KeyPage): Promise<readonly string[]> {
    this.#authorize("certs", "list")
    const names = await this.#context.storage.read(async (repositories) =>
      repositories.certificateLogins.roleNames((await this.#method(repositories)).id),
    )
    return pageOfKeys(names, (name) => name, page)
  }

  async getRole(name: string): Promise<CertificateRole> {
    this.#authorize(`certs/${folded(name)}`, "read")
    return this.#context.storage.read(async (repositories) => {
      const role = await repositories.certificateLogins.role((await this.#method(repositories)).id, folded(name))
      if (role === undefined) throw notFound(name)
      return role
    })
  }

  async saveRole(name: string, input: CertificateRoleInput): Promise<void> {
    this.#authorize(`certs/${folded(name)}`, writing)
    await this.#context.storage.transact(async (repositories) => {
      const { id } = await this.#method(repositories)
      const before = await repositories.certificateLogins.role(id, folded(name))
      if (before !== undefined) this.#authorize(`certs/${folded(name)}`, "update")
      rejectFaults(roleNameFaults(name))
      const role = changeCertificateRole(before, folded(name), input)
      await repositories.certificateLogins.saveRole(id, folded(name), role)
    })
  }

  async deleteRole(name: string): Promise<void> {
    this.#authorize(`certs/${folded(name)}`, "delete")
    await this.#context.storage.transact(async (repositories) =>
      repositories.certificateLogins.removeRole((await this.#method(repositories)).id, folded(name)),
    )
  }

  async listRevocationLists(page?: KeyPage): Promise<readonly string[]> {
    this.#authorize("crls", "list")
    const lists = await this.#context.storage.read(async (repositories) =>
      repositories.certificateLogins.lists((await this.#method(repositories)).id),
    )
    return pageOfKeys(
      lists.map(({ name }) => name),
      (name) => name,
      page,
    )
  }

  async getRevocationList(name: string): Promise<RevocationListView> {
    this.#authorize(`crls/${folded(name)}`, "read")
    const { stored, content } = await this.#context.storage.read(async (repositories) => {
      const { id } = await this.#method(repositories)
      const lists = await repositories.certificateLogins.lists(id)
      const found = lists.find((list) => list.name === folded(name))
      const bytes = found && (await repositories.certificateLogins.listContent(id, found.name))
      return { stored: found, content: bytes }
    })
    if (stored === undefined || content === undefined) throw notFound(name)
    const serials = decimalSerials(readRevocationList(stored.name, content))
    return { serials, url: stored.url, validUntil: stored.nextUpdate }
  }

  async saveRevocationList(name: string, { crl = "", url = "" }: RevocationListInput): Promise<void> {
    this.#authorize(`crls/${folded(name)}`, writing)
    rejectFaults(roleNameFaults(name))
    if ((crl === "") === (url === "")) throw badRequest('one of "crl" and "url" must be set')
    if (url.length > maxUrl || (url !== "" && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")))
      rejectFaults([{ field: ["url"], detail: '"url" must be an http or https URL' }])
    const id = await this.#context.storage.read(async (repositories) => (await this.#method(repositories)).id)
    const content = url === "" ? Buffer.from(crl) : await this.#fetched(url)
    const field = url === "" ? "crl" : "url"
    try {
      const list = newList(folded(name), url, content, this.#context.runtime)
      await this.#context.storage.transact(async (repositories) => {
        const { id: current } = await this.#method(repositories)
        if (current !== id) throw notFound()
        const lists = await repositories.certificateLogins.lists(id)
        const exists = lists.some((one) => one.name === list.name)
        if (exists) this.#authorize(`crls/${list.name}`, "update")
        else if (lists.length >= maxLists) throw badRequest(`an auth method can have at most ${maxLists} CRLs`)
        await repositories.certificateLogins.saveList(id, list)
      })
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      rejectFaults([{ field: [field], detail: `"${field}" cannot be read: ${error.message}` }])
    }
  }

  async deleteRevocationList(name: string): Promise<void> {
    this.#authorize(`crls/${folded(name)}`, "delete")
    await this.#context.storage.transact(async (repositories) =>
      repositories.certificateLogins.removeList((await this.#method(repositories)).id, folded(name)),
    )
  }

  login(login: CertificateLogin, from?: CertificateLoginOrigin): Promise<CreatedServiceToken> {
    return countLogin(this.#context.loginMetrics, "cert", () => this.#logIn(login, from))
  }

  async #logIn(login: CertificateLogin, from: CertificateLoginOrigin | undefined): Promise<CreatedServiceToken> {
    const { method, roleName, role, verified } = await verify(this.#context, this.#path, login, from)
    return this.#context.storage.transact(async (repositories) => {
      // The role may have changed while revocation services were queried.
      const current = await repositories.certificateLogins.role(method.id, roleName)
      if (JSON.stringify(current) !== JSON.stringify(role)) throw badRequest(noMatch)
      return logIn(repositories, this.#context.runtime, method, verified)
    })
  }

  async #fetched(url: string): Promise<Uint8Array> {
    try {
      return await this.#context.certificateChecks.fetchList(url)
    } catch (error) {
      if (!(error instanceof FetchFailure) && !(error instanceof UnacceptableInput)) throw error
      return rejected("url", error.message)
    }
  }

  async #method(repositories: Pick<UsedRepositories, "authMethods" | "mounts">): Promise<AuthMethod> {
    return methodAt(this.#context, repositories, this.#path)
  }

  #authorize(below: string, capability: Capability | readonly Capability[]): void {
    authorizePath(this.#caller, { path: `auth/${this.#path}/${below}`, capability })
  }
}

function rejected(field: string, problem: string): never {
  rejectFaults([{ field: [field], detail: `"${field}" cannot be used: ${problem}` }])
  throw new Error("unreachable")
}

async function methodAt(
  { authMethodDirectory }: Pick<CertificateLoginContext, "authMethodDirectory">,
  repositories: Pick<UsedRepositories, "authMethods" | "mounts">,
  path: string,
): Promise<AuthMethod> {
  const method = (await authMethodDirectory.within(repositories)).at(path)
  // The same error as for an unknown path: methods of other types have no such endpoints.
  if (method.type !== "cert") throw new EngineError("not-found", "unsupported path")
  return method
}

const configIn = async (
  { certificateLogins }: Pick<UsedRepositories, "certificateLogins">,
  { id }: AuthMethod,
): Promise<CertificateLoginConfig> => (await certificateLogins.config(id)) ?? initialCertificateLoginConfig

function newList(name: string, url: string, content: Uint8Array, { clock, digest }: Pick<Runtime, "clock" | "digest">) {
  if (content.length > maxRevocationListBytes)
    throw new UnacceptableInput(`it is longer than ${maxRevocationListBytes} bytes`)
  const { list } = readRevocationList(name, content)
  return {
    name,
    url,
    content,
    issuer: list.issuer,
    digest: digest(Buffer.from(content).toString("latin1")),
    nextUpdate: list.nextUpdate ?? null,
    storedAt: clock.now(),
  }
}

const noMatch = "invalid certificate or no client certificate supplied"
const constraintsFailed = "failed to match all constraints for this login certificate"

/**
 * Verifies a client certificate for the auth method at a path below `auth/`, without creating a token. Throws like
 * `CertificateLogins.login`.
 */
export function verifyCertificateLogin(
  context: CertificateLoginContext,
  path: string,
  login: CertificateLogin,
  from: CertificateLoginOrigin,
): Promise<VerifiedLogin> {
  return countLogin(
    context.loginMetrics,
    "cert",
    async () => (await verify(context, mountPathOf(path), login, from)).verified,
  )
}

interface Accepted {
  readonly method: AuthMethod
  readonly roleName: string
  readonly role: CertificateRole
  readonly verified: VerifiedLogin
}

async function verify(
  context: CertificateLoginContext,
  path: string,
  { name }: CertificateLogin,
  from: CertificateLoginOrigin | undefined,
): Promise<Accepted> {
  const { log, clock } = context.runtime
  const known = await context.storage.read(async (repositories) => {
    const method = await methodAt(context, repositories, path)
    const { certificateLogins } = repositories
    return {
      method,
      config: await configIn(repositories, method),
      roles: await candidates(certificateLogins, method, folded(name)),
      lists: await certificateLogins.lists(method.id),
    }
  })
  const chain = from?.clientCertificate?.chain ?? []
  if (chain.length === 0) throw badRequest("client certificate must be supplied")
  const reasons: string[] = []
  const presented = readChain(chain)
  if (typeof presented === "string") {
    log.debug("certificate-login-refused", { method: path, reasons: [presented] })
    throw badRequest(noMatch)
  }
  const { leaf, intermediates } = presented
  let wasTrusted = false
  for (const { name: roleName, role } of known.roles) {
    const { paths, problem } = pathsOf(context, role, leaf, intermediates)
    if (paths.length > 0) wasTrusted = true
    const refusal =
      paths.length === 0
        ? problem
        : (constraintProblem(role, leaf) ??
          (addressBounds(role.boundCidrs)(from?.remoteAddress)
            ? await statusProblem(context, known, role, paths)
            : "the role does not allow the client's address"))
    if (refusal === undefined) {
      const meta = { cert_name: roleName, ...certificateFacts(leaf), ...extensionMetadata(role, leaf) }
      const verified = { terms: role, displayName: role.displayName, meta }
      return { method: known.method, roleName, role, verified }
    }
    reasons.push(`${roleName}: ${refusal}`)
  }
  // The reasons are for the operator. They could tell a client which names a role allows.
  log.debug("certificate-login-refused", { method: path, reasons, at: clock.now() })
  const facts = certificateFacts(leaf)
  const named = known.config.enableMetadataOnFailures
    ? ` (common_name ${JSON.stringify(facts.common_name)}, serial_number ${facts.serial_number})`
    : ""
  throw badRequest(`${wasTrusted ? constraintsFailed : noMatch}${named}`)
}

async function candidates(
  certificateLogins: CertificateLoginRepository,
  { id }: AuthMethod,
  name: string,
): Promise<readonly NamedCertificateRole[]> {
  if (name === "") return certificateLogins.roles(id)
  const role = await certificateLogins.role(id, name)
  return role === undefined ? [] : [{ name, role }]
}

/** Parses the presented certificates. Returns a problem if the leaf is unusable; unusable intermediates are left out. */
function readChain(
  chain: readonly Uint8Array[],
): { readonly leaf: PathCertificate; readonly intermediates: readonly PathCertificate[] } | string {
  const [first, ...others] = chain.map((der) => {
    try {
      return readPathCertificate(der)
    } catch (error) {
      if (error instanceof UnacceptableInput) return error.message
      throw error
    }
  })
  if (first === undefined || typeof first === "string") return first ?? "the chain is empty"
  return { leaf: first, intermediates: others.filter((one) => typeof one !== "string") }
}

function pathsOf(
  { certificateChecks, runtime: { clock } }: CertificateLoginContext,
  role: CertificateRole,
  leaf: PathCertificate,
  intermediates: readonly PathCertificate[],
): FoundPaths {
  const trusted = certificateChecks.bundle(role.certificate)
  const now = clock.now()
  if (trusted.some((one) => isSame(one, leaf))) {
    const problem = pathProblem([leaf], now)
    return problem === undefined ? { paths: [[leaf]], problem: "" } : { paths: [], problem }
  }
  return clientPaths(leaf, { anchors: trusted.filter(isAuthority), intermediates, now })
}

/** Returns why the revocation status allows none of the paths. Throws `unavailable` if it cannot be determined. */
async function statusProblem(
  context: CertificateLoginContext,
  known: { readonly method: AuthMethod; readonly lists: readonly StoredRevocationList[] },
  role: CertificateRole,
  paths: readonly CertificationPath[],
): Promise<string | undefined> {
  let problem: string | undefined
  for (const path of paths) {
    problem = revocationProblem(path, await listsFor(context, known, path)) ?? (await ocspProblem(context, role, path))
    if (problem === undefined) return undefined
  }
  return problem
}

async function ocspProblem(
  { certificateChecks, runtime: { log } }: CertificateLoginContext,
  role: CertificateRole,
  [leaf, issuer]: CertificationPath,
): Promise<string | undefined> {
  // The issuer of a leaf that is trusted itself is not known.
  if (!role.ocspEnabled || leaf === undefined || issuer === undefined) return undefined
  const status = await certificateChecks.checkOcsp(role, leaf, issuer)
  if (status.kind === "good") return undefined
  if (status.kind === "revoked") return "the certificate is revoked (OCSP)"
  if (!role.ocspFailOpen) return `OCSP: ${status.reason}`
  log.warn("ocsp-status-undetermined", { reason: status.reason })
  return undefined
}

/** Returns the lists of the issuers of a path. Lists of a URL whose next update has passed are fetched again. */
async function listsFor(
  context: CertificateLoginContext,
  { method, lists }: { readonly method: AuthMethod; readonly lists: readonly StoredRevocationList[] },
  path: CertificationPath,
): Promise<readonly RevocationList[]> {
  const found: RevocationList[] = []
  for (const stored of lists.filter(({ issuer }) => concerns(issuer, path))) {
    const current = await refreshed(context, method, stored)
    const list = await context.certificateChecks.revocationList(current, () =>
      context.storage.read(({ certificateLogins }) => certificateLogins.listContent(method.id, stored.name)),
    )
    // A list that was deleted in the meantime no longer applies.
    if (list !== undefined) found.push(list)
  }
  return found
}

async function refreshed(
  { certificateChecks, storage, runtime }: CertificateLoginContext,
  { id }: AuthMethod,
  stored: StoredRevocationList,
): Promise<StoredRevocationList> {
  if (stored.url === "" || runtime.clock.now() < refreshTimeOf(stored.nextUpdate, stored.storedAt)) return stored
  try {
    await certificateChecks.refreshOnce(`${id} ${stored.name} ${stored.url}`, async () => {
      const content = await certificateChecks.fetchList(stored.url)
      const list = newList(stored.name, stored.url, content, runtime)
      if (list.nextUpdate !== null && list.nextUpdate <= runtime.clock.now())
        throw new UnacceptableInput(`${stored.url} has a list whose next update has passed`)
      await storage.transact(async ({ certificateLogins }) => {
        const current = (await certificateLogins.lists(id)).find(({ name }) => name === stored.name)
        // The operator may have deleted or replaced the list while it was fetched.
        if (current?.url === stored.url) await certificateLogins.saveList(id, list)
      })
    })
  } catch (error) {
    if (!(error instanceof FetchFailure) && !(error instanceof UnacceptableInput)) throw error
    runtime.log.warn("crl-not-refreshed", { name: stored.name, reason: error.message })
    throw unavailable(`The CRL "${stored.name}" is out of date and could not be fetched.`)
  }
  const lists = await storage.read(({ certificateLogins }) => certificateLogins.lists(id))
  return lists.find(({ name }) => name === stored.name) ?? stored
}

/**
 * Throws `bad-request` unless the client that renews a token presents a certificate with the key of the login that is still accepted.
 * `disable_binding` of the auth method turns this off.
 */
export async function assertBoundRenewal(
  context: CertificateLoginContext,
  method: AuthMethod,
  meta: Readonly<Record<string, string>>,
  from: CertificateLoginOrigin | undefined,
): Promise<void> {
  if (method.type !== "cert") return
  const { disableBinding } = await context.storage.read((repositories) => configIn(repositories, method))
  if (disableBinding) return
  const { verified } = await verify(context, method.path, { name: meta["cert_name"] ?? "" }, from)
  const isBound = (["subject_key_id", "authority_key_id"] as const).every((name) => verified.meta[name] === meta[name])
  if (!isBound) throw badRequest("client identity during renewal does not match client identity used during login")
}
