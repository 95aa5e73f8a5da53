// Events over HTTP. A stream that ends is resumed at its last event, until too many attempts in a row have failed.
import { setTimeout as sleep } from "node:timers/promises"
import { type StreamBlock, streamBlocks } from "../contracts/server-sent-events.ts"
import { event, events, eventStreamType } from "../contracts/tfe/event.ts"
import { webhooks } from "../contracts/tfe/webhook.ts"
import { type EngineError, isEngineError, unavailable } from "../core/errors.ts"
import type { EventQuery, Events, EventView } from "../events/feed/events.ts"
import type { Webhooks } from "../events/webhooks/webhook.ts"
import { filled, parametersOf, remote } from "./remote-contract.ts"
import { queryOf, type Transport } from "./transport.ts"

/** Pause before the first attempt to resume a stream. It doubles with each attempt. */
const firstPauseMs = 500
const longestPauseMs = 30_000
/** Three heartbeat intervals of the server. */
const quietMs = 45_000
/** Maximum consecutive failed attempts. */
const maxAttempts = 20

const { query: parameters, answers } = events.list

export function remoteEvents({ send, stream }: Transport): Events {
  const begin = (organization: string, query: EventQuery, signal: AbortSignal | undefined) =>
    stream({
      method: "GET",
      path: filled(events.list.path, [organization]),
      headers: { accept: eventStreamType },
      quietMs,
      query: queryOf(parametersOf(parameters, query)),
      ...(signal === undefined ? {} : { signal }),
    })

  return {
    async list(organization, query, limit) {
      const size = limit === undefined ? [] : [["page[size]", String(limit)] as const]
      const sought = queryOf([...parametersOf(parameters, query), ...size])
      const answer = await send({ method: "GET", path: filled(events.list.path, [organization]), query: sought })
      return answers.decode(answer)
    },
    async follow(organization, query, { signal } = {}) {
      const first = await begin(organization, query, signal)
      return followed(first, query, (again) => begin(organization, again, signal), signal)
    },
  }
}

async function* followed(
  first: AsyncIterable<Uint8Array>,
  query: EventQuery,
  begin: (query: EventQuery) => Promise<AsyncIterable<Uint8Array>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventView, void, undefined> {
  let coming: AsyncIterable<Uint8Array> | undefined = first
  let since = query.since
  const isAborted = () => signal?.aborted === true
  for (let failures = 0; !isAborted();) {
    try {
      coming ??= await begin({ ...query, ...(since === undefined ? {} : { since }) })
      for await (const { id, data } of streamBlocks(coming)) {
        failures = 0
        if (id !== undefined) since = id
        if (data !== undefined) yield event.decode(documentOf({ id, data }))
      }
    } catch (error) {
      if (isAborted()) return
      if (!isEngineError(error) || !mayComeBack(error)) throw error
      failures += 1
      if (failures >= maxAttempts) throw error
    }
    coming = undefined
    await sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), undefined, signal && { signal }).catch(() => {})
  }
}

const mayComeBack = ({ code }: EngineError): boolean =>
  code === "unavailable" || code === "busy" || code === "rate-limited" || code === "out-of-service"

function documentOf({ data = "" }: StreamBlock): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    throw unavailable("The server's answer cannot be read: an event is not JSON.", error)
  }
}

export const remoteWebhooks = (transport: Transport): Webhooks => remote(webhooks, transport)
