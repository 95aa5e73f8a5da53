// The permission matrix of the certificate API: every endpoint called by every caller.
import type { Answer } from "../../../../engine/testing/test-engine.ts"
import { authRoutes, pkiRoutes, systemRoutes } from "../../../../engine/src/server/vault/vault-routes.ts"
import type { AuthRoute, Operation } from "../../../../engine/src/server/vault/vault-route.ts"
import { type CallerName, callers, type PkiUsers, type PkiSubject } from "./users.ts"
import { requests } from "./requests.ts"

const methods: Readonly<Record<Operation, string>> = {
  read: "GET",
  list: "LIST",
  write: "POST",
  patch: "PATCH",
  delete: "DELETE",
}

/** Excludes the ACME endpoints, which ignore tokens: `acme-directories.test.ts`. */
const routes = pkiRoutes.filter(({ problems }) => problems !== true)

/** These endpoints name the type of the auth method instead of its path: `POST /auth/*approle/login`. */
const ofMethods = Object.entries(authRoutes).flatMap(([type, routes]: [string, readonly AuthRoute[]]) =>
  routes.map(({ path, ...route }) => ({ ...route, path: `/auth/*${type}${path}` })),
)

const endpointOf = ({ operation, path }: { readonly operation: Operation; readonly path: string }) =>
  `${methods[operation]} ${path}`

const all = [...systemRoutes, ...ofMethods, ...routes.map((route) => ({ ...route, path: `/:mount${route.path}` }))]

/** All endpoints, such as `POST /:mount/roles/:name` and `GET /sys/health`. */
export const pkiEndpoints: readonly string[] = all.map(endpointOf)

/** Endpoints that need no token. */
export const openEndpoints: readonly string[] = all.filter(({ open }) => open === true).map(endpointOf)

export type PkiMatrix = Readonly<Record<string, readonly number[]>>

export async function generatePkiMatrix(testUsers: PkiUsers): Promise<PkiMatrix> {
  const matrix: Record<string, number[]> = {}
  for (const endpoint of pkiEndpoints) {
    const statuses: number[] = []
    // Reads change nothing, so all callers can share a subject.
    const shared = /^(GET|LIST) /.test(endpoint) ? await testUsers.newSubject() : undefined
    const prepared = shared && (await preparePki(endpoint, shared, "operator"))
    let unchanged: ReadyPkiRequest | undefined
    for (const caller of callers) {
      const ready = prepared ?? unchanged ?? (await preparePki(endpoint, await testUsers.newSubject(), caller))
      const { status } = await requestPki(testUsers, ready, caller)
      statuses.push(status)
      // A refused request changed nothing, so the next caller can send it again unless it was made for one caller.
      unchanged = status >= 400 && !isMadeForOne(endpoint) ? ready : undefined
    }
    matrix[endpoint] = statuses
  }
  return matrix
}

/** Returns true if the request depends on the caller, which its preparation then takes as a second parameter. */
const isMadeForOne = (endpoint: string): boolean => (requests[endpoint]?.length ?? 0) > 1

export const requestPki = (
  { testEngine, tokens }: PkiUsers,
  { method, address, body, token, headers, clientChain }: ReadyPkiRequest,
  caller: CallerName,
): Promise<Answer> =>
  testEngine.pki(method, address, {
    token: caller === "no token" ? null : (token ?? tokens[caller]),
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
    ...(clientChain === undefined ? {} : { clientChain }),
  })

export interface ReadyPkiRequest {
  readonly method: string
  /** Below `/v1`. */
  readonly address: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly clientChain?: readonly Uint8Array[] | undefined
  readonly token: string | undefined
}

/** Returns a valid request to an endpoint, after creating everything that it needs. */
export async function preparePki(endpoint: string, subject: PkiSubject, caller: CallerName): Promise<ReadyPkiRequest> {
  const make = requests[endpoint]
  if (make === undefined) throw new Error(`test/security/permissions/pki/requests.ts has no request for ${endpoint}`)
  const { params = {}, query = "", body, headers, clientChain, token } = await make(subject, caller)
  const [method = "", path = ""] = endpoint.split(" ")
  const address = path
    .replace(/^\/:mount(?=\/)/, `/${subject.mount}`)
    .replaceAll(/([:*])([a-z_]+)/g, (_, kind, name) => {
      const value = params[name]
      if (value === undefined) throw new Error(`${endpoint}: no value for ${kind}${name}`)
      return kind === "*" ? value : encodeURIComponent(value)
    })
  return { method, address: `${address}${query}`, body, headers, clientChain, token }
}

export function renderPkiMatrix(matrix: PkiMatrix): readonly string[] {
  const rows = Object.entries(matrix)
    .toSorted(([a], [b]) => compare(pathOf(a), pathOf(b)) || compare(a, b))
    .map(([endpoint, statuses]) => `| \`${endpoint}\` | ${statuses.join(" | ")} |`)
  return [`| endpoint | ${callers.join(" | ")} |`, `|---|${callers.map(() => "---").join("|")}|`, ...rows]
}

const pathOf = (endpoint: string): string => endpoint.split(" ")[1] ?? ""
/** Compares by code point, so that the order does not depend on the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
