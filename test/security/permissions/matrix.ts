// The permission matrix: every endpoint called by every caller, rendered as the table in docs/permissions.md.
import type { Answer } from "../../../engine/testing/test-engine.ts"
import { apiRoutes } from "../../../engine/src/server/tfe/routes.ts"
import { type CallerName, callers, type Users, type Subject } from "./users.ts"
import { requests } from "./requests.ts"

export const endpoints = apiRoutes.map((route) => `${route.method} ${route.path}`)

export type Matrix = Readonly<Record<string, readonly number[]>>

export async function generateMatrix(testUsers: Users): Promise<Matrix> {
  const matrix: Record<string, number[]> = {}
  for (const endpoint of endpoints) {
    const statuses: number[] = []
    // Reads change nothing, so all callers can share a subject.
    const shared = endpoint.startsWith("GET ") ? await testUsers.newSubject() : undefined
    const prepared = shared && (await prepare(endpoint, shared, "owner"))
    let unchanged: ReadyRequest | undefined
    for (const caller of callers) {
      const ready = prepared ?? unchanged ?? (await prepare(endpoint, await testUsers.newSubject(), caller))
      const { status } = await request(testUsers, ready, caller)
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

export const request = (
  { testEngine, tokens }: Users,
  { method, address, body, token }: ReadyRequest,
  caller: CallerName,
): Promise<Answer> =>
  testEngine.request(method, address, { token: token ?? tokens[caller], ...(body === undefined ? {} : { body }) })

interface ReadyRequest {
  readonly method: string
  readonly address: string
  readonly body: unknown
  readonly token: string | undefined
}

/** Returns a valid request to an endpoint, after creating everything that it needs. */
export async function prepare(endpoint: string, subject: Subject, caller: CallerName): Promise<ReadyRequest> {
  const make = requests[endpoint]
  if (make === undefined) throw new Error(`test/security/permissions/requests.ts has no request for ${endpoint}`)
  const { params, query = "", body, token } = await make(subject, caller)
  const [method = "", path = ""] = endpoint.split(" ")
  const known: Readonly<Record<string, string>> = {
    organization_name: subject.organization,
    workspace_id: subject.workspaceId,
    name: subject.workspaceName,
    ...params,
  }
  const address = path.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const value = known[name]
    if (value === undefined) throw new Error(`${endpoint}: no value for :${name}`)
    return encodeURIComponent(value)
  })
  return { method, address: `${address}${query}`, body, token }
}

export function renderMatrix(matrix: Matrix): readonly string[] {
  const rows = Object.entries(matrix)
    .toSorted(([a], [b]) => compare(pathOf(a), pathOf(b)) || compare(a, b))
    .map(([endpoint, statuses]) => `| \`${endpoint}\` | ${statuses.join(" | ")} |`)
  return [`| endpoint | ${callers.join(" | ")} |`, `|---|${callers.map(() => "---").join("|")}|`, ...rows]
}

const pathOf = (endpoint: string): string => endpoint.split(" ")[1] ?? ""
/** Compares by code point, so that the order does not depend on the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
