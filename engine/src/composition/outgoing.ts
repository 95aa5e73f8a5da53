// Requests to services that users name.
import { guardedFetch } from "../client/outgoing/guarded-fetch.ts"
import type { Fetch } from "../core/fetch.ts"
import { tracedFetch } from "../telemetry/traced-network.ts"
import type { Parts } from "./options.ts"

/** Returns a guarded fetch for services of this name. `propagates` adds the trace headers to requests. */
export type FetchFrom = (name: string, propagates: boolean) => Fetch

export function openOutgoing({ options, runtime, opening }: Parts): FetchFrom {
  const { digest, tracer } = runtime
  const outgoing = opening.use(
    guardedFetch({ permitted: options.outgoing ?? { kinds: ["private"], ranges: [] }, digest }),
  )
  return (name, propagates) =>
    tracer === undefined ? outgoing.fetch : tracedFetch(outgoing.fetch, tracer, { name, propagates })
}
