// Sends malformed requests and checks every answer: no server error, an error document in the format of the API for each refusal, and an
// unchanged database after it.
import type { DatabaseKind } from "../../../engine/testing/temporary-database.ts"
import { watchStore } from "../../../engine/testing/watched-store.ts"
import { origin, type TestEngine, type TestEngineOptions } from "../../../engine/testing/test-engine.ts"
import { type Users, openUsers } from "../permissions/users.ts"
import { openPkiUsers, type PkiUsers } from "../permissions/pki/users.ts"

export interface Attack {
  readonly method: string
  /** Relative to `base`, encoded as on the wire. */
  readonly address: string
  /** Default: the base path of the target's API. */
  readonly base?: string
  /** Strings and bytes are sent as they are, other values as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | null>>
  /** Default: the root token. */
  readonly token?: string | undefined
  /** Handler of another app around the same engine. */
  readonly fetch?: TestEngine["app"]["fetch"]
}

export interface Verdict {
  readonly status: number
  readonly text: string
  /** Problems of the answer; empty if there are none. */
  readonly complaints: readonly string[]
}

/** Target of attacks. */
export interface Attacked {
  attack(attack: Attack): Promise<Verdict>
}

export interface Target extends Attacked, AsyncDisposable {
  readonly testUsers: Users
}

export interface PkiTarget extends Attacked, AsyncDisposable {
  readonly testUsers: PkiUsers
}

export const openTarget = (kind: DatabaseKind): Promise<Target> => opened(kind, openUsers, workspaceApi)

export const openPkiTarget = (kind: DatabaseKind): Promise<PkiTarget> => opened(kind, openPkiUsers, certificateApi)

/** Differences between the two APIs. */
interface Api {
  readonly base: string
  readonly headers: (token: string, hasBody: boolean, method: string) => Readonly<Record<string, string>>
  readonly complaintsAbout: (errors: readonly unknown[], status: number) => readonly string[]
}

const workspaceApi: Api = {
  base: "/api/v2",
  headers: (token, hasBody) => ({
    authorization: `Bearer ${token}`,
    ...(hasBody ? { "content-type": "application/vnd.api+json" } : {}),
  }),
  complaintsAbout: (errors, status) =>
    errors.length === 0
      ? [`answered ${status} without errors`]
      : errors.flatMap((error) => complaintsAboutError(error as Record<string, unknown>, status)),
}

const certificateApi: Api = {
  base: "/v1",
  headers: (token, hasBody, method) => ({
    "x-service-token": token,
    ...(hasBody ? { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" } : {}),
  }),
  complaintsAbout: (errors, status) => {
    // A 404 has no errors.
    if (errors.length === 0 && status !== 404) return [`answered ${status} without errors`]
    return errors.flatMap((error) => {
      if (typeof error !== "string" || error === "") return [`an error is ${JSON.stringify(error)}`]
      return error.length > 2_000 ? [`an error has ${error.length} characters`] : []
    })
  },
}

async function opened<C extends AsyncDisposable & { readonly testEngine: TestEngine }>(
  kind: DatabaseKind,
  open: (options: TestEngineOptions) => Promise<C>,
  api: Api,
): Promise<Attacked & AsyncDisposable & { readonly testUsers: C }> {
  const place = await kind.place()
  const testUsers = await open({ url: place.url, jobs: false })
  const store = await watchStore(place.url)
  return {
    testUsers,
    async attack(attack) {
      const hasChanged = await store.watch()
      const { status, text } = await send(testUsers.testEngine, api, attack)
      const complaints = complaintsAbout(api, attack, status, text)
      if (status >= 400 && (await hasChanged())) complaints.push("something has changed")
      return { status, text, complaints }
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await testUsers[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function send(
  testEngine: TestEngine,
  api: Api,
  { method, address, base = api.base, body, headers = {}, token, fetch = testEngine.app.fetch }: Attack,
) {
  const all: Record<string, string | null> = {
    ...api.headers(token ?? testEngine.rootToken, body !== undefined, method),
    ...headers,
  }
  const request = new Request(`${origin}${base}${address}`, {
    method,
    headers: Object.entries(all).filter((header): header is [string, string] => header[1] !== null),
    ...(body === undefined ? {} : { body: encoded(body) }),
  })
  const response = await fetch(request, { requestId: "hostile", route: undefined })
  return { status: response.status, text: await response.text() }
}

function encoded(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body)
}

function complaintsAbout(api: Api, attack: Attack, status: number, text: string): string[] {
  const { method, address } = attack
  if (status < 400) return []
  const complaints: string[] = []
  const pendingUnlock = status === 503 && address.endsWith("/actions/unlock")
  if (status >= 500 && !pendingUnlock) complaints.push(`answered ${status}: ${text}`)
  if (method === "HEAD") return text === "" ? complaints : [...complaints, "HEAD has a body"]
  // Errors of EST are text, and a challenge has none (docs/est.md).
  if (isEst(address) && !text.startsWith("{"))
    return text.trim() === "" && status !== 401 ? [...complaints, `answered ${status} without text`] : complaints
  let errors: unknown
  try {
    errors = (JSON.parse(text) as { readonly errors?: unknown } | null)?.errors
  } catch {
    return [...complaints, `answered ${status} with something that is not JSON`]
  }
  if (!Array.isArray(errors)) return [...complaints, `answered ${status} without errors`]
  return [...complaints, ...api.complaintsAbout(errors, status)]
}

const isEst = (address: string): boolean => address.split("?")[0]?.split("/").at(-2) === "est"

function complaintsAboutError({ status, title, detail, source }: Record<string, unknown>, expected: number): string[] {
  const complaints: string[] = []
  if (status !== String(expected)) complaints.push(`status is ${JSON.stringify(status)}, not "${expected}"`)
  for (const [name, text] of Object.entries({ title, detail }))
    if (typeof text !== "string" || text === "") complaints.push(`${name} is ${JSON.stringify(text)}`)
  if (typeof detail === "string" && detail.length > 2_000) complaints.push(`detail has ${detail.length} characters`)
  if (source === undefined) {
    if (title === "invalid attribute") complaints.push(`no source for "${String(detail)}"`)
    return complaints
  }
  const { pointer, parameter } = source as Record<string, unknown>
  const named = [pointer, parameter].filter((place) => typeof place === "string")
  if (named.length !== 1) complaints.push(`source is ${JSON.stringify(source)}`)
  if (typeof pointer === "string" && pointer !== "" && !pointer.startsWith("/"))
    complaints.push(`pointer is ${JSON.stringify(pointer)}`)
  return complaints
}
