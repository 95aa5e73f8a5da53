// The engine over HTTP: each family turns its verbs into requests and the answers back into values, with the codecs that the
// server uses the other way round.
import type { Engine } from "../engine.ts"
import { createTransport, type TransportOptions } from "./transport.ts"
import { remoteWorkspaces } from "./workspaces.ts"

export type RemoteEngine = Pick<Engine, "workspaces"> & AsyncDisposable

/** `url` is the server's address, with or without the version prefix. Nothing is sent before the first call. */
export function openRemote(url: string, options: TransportOptions): RemoteEngine {
  const transport = createTransport(url, options)
  return {
    workspaces: remoteWorkspaces(transport),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
