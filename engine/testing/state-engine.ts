import { expect } from "vitest"
import { populatedEngine } from "./populated-engine.ts"
import { stateFile, type StateOptions, stateVersionDocument } from "./state-file.ts"
import type { Answer, RequestOptions, TestEngine } from "./test-engine.ts"

/** Creates the workspace `web` in `acme`, with the steps that clients take to change its state. */
export async function stateEngine(options: Parameters<typeof populatedEngine>[0] = {}) {
  const testEngine = await populatedEngine(options)
  const id = await testEngine.workspace("web")
  return Object.assign(testEngine, { id, ...stepsOf(testEngine, id) })
}

export function stepsOf(testEngine: TestEngine, id: string) {
  const request = testEngine.request.bind(testEngine)
  const post = (path: string, more: RequestOptions = {}) => request("POST", `/workspaces/${id}/${path}`, more)
  const announce = (state: StateOptions = {}, attributes: Record<string, unknown> = {}, more: RequestOptions = {}) =>
    post("state-versions", { body: stateVersionDocument(stateFile(state), attributes), ...more })
  const upload = (address: string, body: string) =>
    request("PUT", address, { token: null, body, headers: { "content-type": "application/octet-stream" } })
  return {
    announce,
    upload,
    lock: (more?: RequestOptions) => post("actions/lock", more),
    unlock: (more?: RequestOptions) => post("actions/unlock", more),
    forceUnlock: (more?: RequestOptions) => post("actions/force-unlock", more),
    show: async () => (await request("GET", `/workspaces/${id}`)).body.data,
    current: () => request("GET", `/workspaces/${id}/current-state-version`),
    statuses: async () =>
      (await request("GET", `/workspaces/${id}/state-versions`)).body.data.map(
        ({ attributes }: { readonly attributes: { readonly status: string; readonly serial: number } }) =>
          `${attributes.serial} ${attributes.status}`,
      ),
    /** Creates and uploads a state version, and returns its id. */
    async put(state: StateOptions, attributes: Record<string, unknown> = {}): Promise<string> {
      const { body } = await announce(state, attributes)
      const { status } = await upload(body.data.attributes["hosted-state-upload-url"], stateFile(state).text)
      expect(status).toBe(204)
      return body.data.id
    },
  }
}

export const detailOf = ({ status, body }: Answer) => [status, body?.errors?.[0]?.detail]
export const faultsOf = ({ body }: Answer) =>
  body.errors.map(({ detail, source }: { readonly detail: string; readonly source?: object }) => [
    Object.values(source ?? {})[0],
    detail,
  ])
