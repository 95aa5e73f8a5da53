// The callers of the certificate API's permission matrix, each with policies for all mounts of the run.
import { basicConstraints, keyUsage } from "../../../../engine/src/x509/extensions.ts"
import { type SeenQuestion, startPolicyServer, templateFor } from "../../../../engine/testing/policy-server.ts"
import {
  type Answer,
  openTestEngine,
  type TestEngine,
  type TestEngineOptions,
} from "../../../../engine/testing/test-engine.ts"

export const callers = [
  "no token",
  "no policy",
  "default policy",
  "self-serve",
  "reader",
  "operator",
  "operator with sudo",
] as const
type Holder = Exclude<(typeof callers)[number], "no token">
/** The matrix has no column for holders of the policy `root`, because they are never refused. */
export type CallerName = (typeof callers)[number] | "root"

/** Parent path of all mounts of the run. */
const place = "matrix"
const everything = ["create", "read", "update", "patch", "delete", "list"]

type Rules = Readonly<Record<string, readonly string[]>>
const policies: Readonly<Record<Exclude<Holder, "default policy">, Rules>> = {
  "no policy": { "unused/path": ["read"] },
  "self-serve": { [`${place}/+/issue/*`]: ["update"], [`${place}/+/sign/*`]: ["update"] },
  reader: { [`${place}/*`]: ["read", "list"], [`auth/${place}/*`]: ["read", "list"] },
  operator: { [`${place}/*`]: everything, [`auth/${place}/*`]: everything },
  "operator with sudo": {
    [`${place}/*`]: [...everything, "sudo"],
    [`auth/${place}/*`]: [...everything, "sudo"],
  },
}

/** Subject of one cell of the matrix; every cell has its own mount. */
export interface PkiSubject {
  readonly testEngine: TestEngine
  readonly mount: string
  /** Unique in the run, for use in names. */
  readonly unique: string
  /** Sends a request as root; throws unless it succeeds. `path` is below `/v1`. */
  root(method: string, path: string, body?: unknown): Promise<Answer>
  /** Address of an external policy service that allows everything. It presents the tests' server certificate. */
  readonly policyServiceUrl: string
  /** Creates another token of this caller, for requests that use one up. */
  newToken(caller: CallerName): Promise<string>
}

export interface PkiUsers extends AsyncDisposable {
  readonly testEngine: TestEngine
  readonly tokens: Readonly<Record<CallerName, string | null>>
  newSubject(): Promise<PkiSubject>
}

export async function openPkiUsers(options: TestEngineOptions = {}): Promise<PkiUsers> {
  await using opening = new AsyncDisposableStack()
  const policyServer = opening.use(await startPolicyServer())
  policyServer.answerWith(allowed)
  const testEngine = opening.use(await openTestEngine({ ...options, outgoing: { kinds: ["loopback"], ranges: [] } }))
  const root = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await testEngine.pki(method, path, body === undefined ? {} : { body })
    if (answer.status < 300) return answer
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
  for (const [name, rules] of Object.entries(policies)) {
    const paths = Object.entries(rules).map(([path, capabilities]) => [path, { capabilities }])
    const policy = JSON.stringify({ path: Object.fromEntries(paths) })
    await root("POST", `/sys/policies/acl/${encodeURIComponent(nameOf(name))}`, { policy })
  }
  async function newToken(caller: CallerName): Promise<string> {
    const policyName = caller === "default policy" ? "default" : caller === "root" ? "root" : nameOf(caller)
    const body = { policies: [policyName], no_default_policy: caller === "no policy", ttl: "1h" }
    return (await root("POST", "/auth/token/create-orphan", body)).body.auth.client_token
  }
  const tokens: Record<string, string | null> = { "no token": null, root: testEngine.rootToken }
  for (const caller of callers) if (caller !== "no token") tokens[caller] = await newToken(caller)

  let count = 0
  const closing = opening.move()
  return {
    testEngine,
    tokens: tokens as PkiUsers["tokens"],
    async newSubject() {
      count += 1
      const mount = `${place}/m${count}`
      await root("POST", `/sys/mounts/${mount}`, { type: "pki" })
      return { testEngine, mount, unique: `s${count}`, root, policyServiceUrl: policyServer.url, newToken }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const nameOf = (caller: string): string => caller.replaceAll(" ", "-")

/** Returns the template of a CA certificate if the request is for one. */
function allowed(question: SeenQuestion): object {
  const isAuthority = question.document.vault_request_values.issuance_mode === "ica"
  const extensions = isAuthority ? [basicConstraints({ isCa: true }), keyUsage(["keyCertSign"])] : []
  return { certificate: templateFor(question, { extensions }), store_certificate: true }
}
