// EST of one mount (RFC 7030). The auth methods of the mount verify clients, whose policies then grant the path of the path policy.
import { callerOfLogin } from "../../access/logins/delegated-login.ts"
import type { AuthMethod } from "../../access/logins/auth-method.ts"
import type { AuthMethodDirectory } from "../../access/logins/auth-method-directory.ts"
import type { VerifiedLogin } from "../../access/logins/login.ts"
import type { Caller } from "../../core/caller.ts"
import type { ClientCertificate } from "../../core/client-certificate.ts"
import {
  badRequest,
  EngineError,
  forbidden,
  isEngineError,
  unauthenticated,
  unavailable,
  unprocessable,
} from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { signingTurn } from "../../core/timers.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { encodeCsrAttributes } from "../../x509/csr-attributes.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import { type KeyAlgorithm, keyAlgorithm } from "../../x509/key-algorithm.ts"
import { writePem } from "../../x509/pem.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { signedRequest } from "../../x509/signed-request.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { EnrolmentId, EnrolmentOperation } from "../enrolments/enrolment.ts"
import {
  awaitDecision,
  type EnrolmentRequest,
  enrolmentStepOf,
  recordPolicyRefusal,
  settleEnrolment,
} from "../enrolments/await-decision.ts"
import { PolicyPending, PolicyRefused } from "../external-policy/external-policy.ts"
import { signProved } from "../external-policy/external-policy-service.ts"
import type { IssuedCertificate } from "../issuance/certificate-api.ts"
import { readSigningRequestDer, readUnprovenRequest, type SigningRequest } from "../issuance/issue-request.ts"
import { roleOf, signByRole, signVerbatim } from "../issuance/sign-request.ts"
import { chainOf } from "../issuers/chain.ts"
import { issuerOf, type MountSnapshot } from "../mounts/mount-snapshot.ts"
import { currentSnapshot, readMount } from "../mounts/with-mount-snapshot.ts"
import { defaultReference } from "../names/reference-name.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import type { Role } from "../roles/role.ts"
import type { EstAnswer, EstCredentials, EstEnrolment, EstPath, EstServer } from "./est.ts"
import type { EstMetrics, EstOutcome } from "./est-metrics.ts"
import {
  type EstAuditField,
  type EstOperation,
  type EstSettings,
  formatPathPolicy,
  needsApproval,
  parsePathPolicy,
  type PathPolicy,
  pathOfPolicy,
} from "./est-settings.ts"
import { reenrolmentProblem } from "./reenrolment.ts"

/** Verifies credentials with an auth method, and creates no token. */
export interface EstLogins {
  readonly userpass: (
    method: AuthMethod,
    credentials: NonNullable<EstCredentials["basic"]>,
    from: string | undefined,
  ) => Promise<VerifiedLogin>
  readonly cert: (
    method: AuthMethod,
    login: { readonly role: string; readonly clientCertificate: ClientCertificate },
    from: string | undefined,
  ) => Promise<VerifiedLogin>
}

export interface EstTools {
  readonly authMethodDirectory: AuthMethodDirectory
  readonly estLogins: EstLogins
  readonly metrics: EstMetrics
}

export class EstService implements EstServer {
  readonly #access: MountAccess
  readonly #tools: EstTools

  constructor(access: MountAccess, tools: EstTools) {
    this.#access = access
    this.#tools = tools
  }

  async authenticate({ basic, clientCertificate, from }: EstCredentials): Promise<Caller> {
    const snapshot = await this.#enabled()
    const { userpass, cert } = snapshot.settings.est.authenticators
    if (basic !== undefined && userpass.accessor !== "") {
      const method = await this.#method(snapshot, userpass.accessor)
      return callerOfLogin(this.#access.context, method, await this.#verified("userpass", method, basic, from))
    }
    if (clientCertificate !== undefined && cert.accessor !== "") {
      const method = await this.#method(snapshot, cert.accessor)
      const login = { role: cert.role, clientCertificate }
      return callerOfLogin(this.#access.context, method, await this.#verified("cert", method, login, from))
    }
    if (userpass.accessor !== "") throw unauthenticated()
    throw forbidden("EST requires a TLS client certificate at this address")
  }

  countRequest(operation: EstOperation, outcome: EstOutcome): void {
    this.#tools.metrics.requests.add(1, { operation, outcome })
  }

  async auditFields(): Promise<readonly EstAuditField[]> {
    return (await this.#enabled()).settings.est.auditFields
  }

  async certificates(path: EstPath): Promise<readonly Uint8Array[]> {
    const snapshot = await this.#enabled()
    const policy = policyOf(snapshot.settings.est, path)
    const reference = policy.kind === "role" ? roleOf(snapshot, policy.role).issuerRef : defaultReference
    return chainOf(issuerOf(snapshot, reference), snapshot.issuers).map(({ certificate }) => certificate)
  }

  async csrAttributes(path: EstPath): Promise<Uint8Array | undefined> {
    const snapshot = await this.#enabled()
    const policy = policyOf(snapshot.settings.est, path)
    if (policy.kind !== "role") return undefined
    const algorithm = algorithmOf(roleOf(snapshot, policy.role))
    return algorithm && encodeCsrAttributes(algorithm)
  }

  async enroll(
    path: EstPath,
    operation: EstEnrolment,
    csr: Uint8Array,
    clientCertificate?: ClientCertificate,
  ): Promise<EstAnswer> {
    const snapshot = await this.#enabled()
    const policy = this.#authorized(snapshot, path, operation)
    await signingTurn()
    const submitted = readSigningRequestDer(csr)
    if (operation === "simplereenroll") await this.#assertRenewable(submitted, clientCertificate)
    return this.#issueOrWait({ snapshot, policy, operation, submitted })
  }

  async generateKey(path: EstPath, csr: Uint8Array): Promise<EstAnswer> {
    const snapshot = await this.#enabled()
    const policy = this.#authorized(snapshot, path, "serverkeygen")
    const request = readUnprovenRequest(csr)
    const role = policy.kind === "role" ? roleOf(snapshot, policy.role) : undefined
    const algorithm = (role && algorithmOf(role)) ?? algorithmIn(request.subjectPublicKeyInfo) ?? defaultAlgorithm
    const make = async (): Promise<GeneratedRequest> => {
      const privateKey = await this.#access.context.keyGenerator.generate(algorithm)
      // The external policy service needs a CSR with the key that the certificate is for.
      const { subjectName: subject, extensions } = request
      return { ...readSigningRequestDer(await signedRequest(privateKey, { subject, extensions })), privateKey }
    }
    return this.#issueOrWait({ snapshot, policy, operation: "serverkeygen", submitted: { request, make } })
  }

  async #enabled(): Promise<MountSnapshot> {
    const snapshot = await currentSnapshot(this.#access)
    if (!snapshot.settings.est.enabled) throw new EngineError("not-found", "EST is not enabled on this mount")
    return snapshot
  }

  /** Returns the auth method with an accessor. Throws `unavailable` if the mount no longer allows it, or if it was disabled. */
  async #method({ mount }: MountSnapshot, accessor: string): Promise<AuthMethod> {
    const { methods } = await this.#tools.authMethodDirectory.current()
    const method = methods.find((one) => one.accessor === accessor)
    if (method !== undefined && mount.config.delegatedAuthAccessors.includes(accessor)) return method
    this.#access.context.runtime.log.warn("est-authenticator-missing", { mount: mount.path, accessor })
    throw unavailable("The auth method of this EST server is not available.")
  }

  /** Verifies credentials. Wrong ones are answered as missing ones. */
  async #verified<Kind extends keyof EstLogins>(
    kind: Kind,
    method: AuthMethod,
    credentials: Parameters<EstLogins[Kind]>[1],
    from: string | undefined,
  ): Promise<VerifiedLogin> {
    const verify = this.#tools.estLogins[kind] as (
      method: AuthMethod,
      credentials: Parameters<EstLogins[Kind]>[1],
      from: string | undefined,
    ) => Promise<VerifiedLogin>
    try {
      return await verify(method, credentials, from)
    } catch (error) {
      const isWrong = isEngineError(error) && wrongCredentials.has(error.code)
      throw isWrong ? unauthenticated() : error
    }
  }

  #authorized({ settings, roles }: MountSnapshot, path: EstPath, operation: EnrolmentOperation): PathPolicy {
    const policy = policyOf(settings.est, path)
    authorizeOnMount(this.#access, ["create", "update"], `${pathOfPolicy(policy)}/${operation}`)
    if (policy.kind === "role" && roles.get(policy.role)?.noStore === true)
      throw unprocessable(`the role ${policy.role} has no_store, and EST requires stored certificates`)
    return policy
  }

  /** Checks the certificate that a re-enrolment renews. The TLS handshake, or a trusted proxy, has checked the possession of its key. */
  async #assertRenewable({ request }: SigningRequest, clientCertificate: ClientCertificate | undefined): Promise<void> {
    const [leaf] = clientCertificate?.chain ?? []
    if (leaf === undefined)
      throw badRequest("simplereenroll requires the certificate that is renewed as TLS client certificate")
    const renewed = readLeaf(leaf)
    const serialNumber = serialNumberOf(renewed.serialNumber)
    if (serialNumber === undefined) throw notOurs()
    const now = this.#access.context.runtime.clock.now()
    const { isOurs, isRevoked } = await readMount(this.#access, async ({ mount }, { certificates, revocations }) => ({
      isOurs: isSame((await certificates.find(mount.id, serialNumber))?.certificate, leaf),
      isRevoked: (await revocations.find(mount.id, serialNumber)) !== undefined,
    }))
    if (!isOurs) throw notOurs()
    if (isRevoked) throw forbidden("the client certificate is revoked")
    // The validity includes its last second.
    if (now < renewed.notBefore || now >= renewed.notAfter + secondMs)
      throw forbidden("the client certificate is not valid now")
    const extensionValues = parseExtensionValues(renewed.extensions)
    const problem = reenrolmentProblem({ subjectName: renewed.subjectName, extensionValues }, request)
    if (problem !== undefined) throw unprocessable(problem)
  }

  /** Issues at once, or waits for an approval or for the external policy service. */
  async #issueOrWait(task: EstTask): Promise<EstAnswer> {
    const { snapshot, policy, operation, submitted } = task
    const isManual = needsApproval(snapshot.settings.est, policy)
    if (!isManual && policy.kind !== "external-policy") return issued(await this.#sign(task, undefined))
    const request: EnrolmentRequest = {
      protocol: "est",
      operation,
      path: `${pathOfPolicy(policy)}/${operation}`,
      policy: formatPathPolicy(policy),
      requester: requesterOf(this.#access.caller),
      csr: submitted.request,
    }
    const step = isManual ? await awaitDecision(this.#access, request) : await enrolmentStepOf(this.#access, request)
    switch (step.kind) {
      case "new":
      case "ask":
        return this.#signByPolicyOrWait(task, request, step.kind === "ask" ? step.id : undefined)
      case "wait":
        return { kind: "waiting", retryAfterMs: step.retryAfterMs }
      case "sign":
        return policy.kind === "external-policy"
          ? this.#signByPolicyOrWait(task, request, step.id)
          : this.#signOnce(task, request, step.id)
      case "issued":
        return { kind: "issued", certificate: await this.#certificate(step.serialNumber) }
      case "denied":
        throw forbidden(step.comment === "" ? "the request was denied" : `the request was denied: ${step.comment}`)
      default:
        return step satisfies never
    }
  }

  /** Signs an approved request. If it was sent twice at once, both answers have the certificate of the one that was recorded. */
  async #signOnce(task: EstTask, request: EnrolmentRequest, id: EnrolmentId): Promise<EstAnswer> {
    try {
      return issued(await this.#sign(task, id))
    } catch (error) {
      if (!isEngineError(error, "conflict")) throw error
      const step = await enrolmentStepOf(this.#access, request)
      if (step.kind !== "issued") throw error
      return { kind: "issued", certificate: await this.#certificate(step.serialNumber) }
    }
  }

  /** Signs what the external policy service allows. A request that it has not decided waits in the queue. */
  async #signByPolicyOrWait(task: EstTask, request: EnrolmentRequest, id: EnrolmentId | undefined): Promise<EstAnswer> {
    try {
      return id === undefined ? issued(await this.#sign(task, undefined)) : await this.#signOnce(task, request, id)
    } catch (error) {
      if (error instanceof PolicyPending) {
        const { retryAfterMs } = error
        const step = await awaitDecision(this.#access, request, { decider: "external-policy", retryAfterMs })
        return { kind: "waiting", retryAfterMs: step.kind === "wait" ? step.retryAfterMs : retryAfterMs }
      }
      if (id !== undefined && error instanceof PolicyRefused) await recordPolicyRefusal(this.#access, id, error.message)
      throw error
    }
  }

  async #sign({ policy, submitted }: EstTask, enrolment: EnrolmentId | undefined): Promise<Signed> {
    const signingRequest = "make" in submitted ? await submitted.make() : submitted
    const privateKey = isGenerated(signingRequest) ? signingRequest.privateKey : undefined
    const { clock } = this.#access.context.runtime
    const settle =
      enrolment === undefined
        ? undefined
        : (repositories: Repositories, { serialNumber }: Pick<IssuedCertificate, "serialNumber">) =>
            settleEnrolment(repositories, enrolment, { serialNumber, now: clock.now() })
    const options = { isKeyOwn: privateKey !== undefined, ...(settle && { settle }) }
    const sign = async (): Promise<IssuedCertificate> => {
      switch (policy.kind) {
        case "role":
          return signByRole(this.#access, policy.role, signingRequest, { isCommonNameOptional: true }, options)
        case "sign-verbatim":
          return signVerbatim(this.#access, undefined, signingRequest, {}, options)
        default:
          return this.#signByPolicyService(policy.policy, signingRequest, settle)
      }
    }
    return { certificate: (await sign()).certificate, privateKey }
  }

  #signByPolicyService(
    policy: string | undefined,
    signingRequest: SigningRequest | GeneratedRequest,
    settle:
      | ((repositories: Repositories, issued: { readonly serialNumber: SerialNumber }) => Promise<void>)
      | undefined,
  ): Promise<IssuedCertificate> {
    const request = {
      csr: writePem("CERTIFICATE REQUEST", signingRequest.request.der),
      parameters: new Map<string, string>(),
      ...(policy === undefined ? {} : { policy }),
    }
    const proved = {
      rejectOthers() {},
      settle: async (repositories: Repositories, record: { readonly serialNumber: SerialNumber }) =>
        settle?.(repositories, record),
    }
    return signProved(this.#access, request, proved)
  }

  /** Returns an issued certificate again, for a client that did not get the answer. */
  async #certificate(serialNumber: SerialNumber): Promise<Uint8Array> {
    const found = await readMount(this.#access, ({ mount }, { certificates }) =>
      certificates.find(mount.id, serialNumber),
    )
    if (found === undefined) throw unprocessable("the certificate of this request was removed; make a new CSR")
    return found.certificate
  }
}

type Repositories = Parameters<typeof settleEnrolment>[0]

/** CSR with a key that the server has generated. */
interface GeneratedRequest extends SigningRequest {
  readonly privateKey: PrivateKey
}

const isGenerated = (signingRequest: SigningRequest | GeneratedRequest): signingRequest is GeneratedRequest =>
  Object.hasOwn(signingRequest, "privateKey")

/** CSR whose key the server generates when it signs, not while the request waits. */
interface KeyRequest {
  readonly request: SigningRequest["request"]
  readonly make: () => Promise<GeneratedRequest>
}

/** Authorized request to issue. */
interface EstTask {
  readonly snapshot: MountSnapshot
  readonly policy: PathPolicy
  readonly operation: EnrolmentOperation
  readonly submitted: SigningRequest | KeyRequest
}

interface Signed {
  readonly certificate: Uint8Array
  readonly privateKey: PrivateKey | undefined
}

const issued = ({ certificate, privateKey }: Signed): EstAnswer => ({
  kind: "issued",
  certificate,
  ...(privateKey === undefined ? {} : { privateKey }),
})

const notOurs = () => forbidden("the client certificate was not issued by this mount")

const wrongCredentials: ReadonlySet<string> = new Set(["bad-request", "invalid", "unprocessable"])

const defaultAlgorithm: KeyAlgorithm = { type: "ec", bits: 256 }

/** Returns the algorithm of keys that a role requires; undefined if it accepts any. */
const algorithmOf = ({ keyType, keyBits }: Role): KeyAlgorithm | undefined =>
  keyType === "any" ? undefined : keyAlgorithm(keyType, keyBits)

/** Returns the algorithm of the key in a CSR, if the server can generate such a key. */
function algorithmIn(subjectPublicKeyInfo: Uint8Array): KeyAlgorithm | undefined {
  try {
    const { algorithm } = readPublicKey(subjectPublicKeyInfo)
    return keyAlgorithm(algorithm.type, algorithm.type === "ed25519" ? 0 : algorithm.bits)
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

function policyOf(settings: EstSettings, path: EstPath): PathPolicy {
  if (path.kind === "policy") return path.policy
  const label = path.kind === "label" ? path.label : ""
  const text = label === "" ? settings.defaultPathPolicy : settings.labelToPathPolicy[label]
  const policy = parsePathPolicy(text ?? "")
  if (policy === undefined) throw new EngineError("not-found", "EST has no policy for this path")
  return policy
}

/** Returns the client for the queue. Tests and programs that use the engine have no login. */
function requesterOf(caller: Caller): EnrolmentRequest["requester"] {
  const login = caller.kind === "service" ? caller.login : undefined
  if (login === undefined) return { accessor: "", displayName: "" }
  const { accessor, displayName, meta } = login
  // Clients with certificates may share a display name.
  const certificate = ["authority_key_id", "serial_number"].flatMap((name) => meta[name] ?? [])
  return { accessor, displayName: [displayName, ...certificate].join(" ") }
}

function readLeaf(der: Uint8Array): Certificate {
  try {
    return parseCertificate(der)
  } catch (error) {
    if (error instanceof UnacceptableInput) throw notOurs()
    throw error
  }
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0
