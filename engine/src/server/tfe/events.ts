import { encodeFeedItem, events, eventStreamType, streamBeginning } from "../../contracts/tfe/event.ts"
import { decodePage } from "../../contracts/tfe/json-api/query.ts"
import { badRequest } from "../../core/errors.ts"
import type { EventQuery, EventView, FeedItem } from "../../events/feed/events.ts"
import { decodeQuery } from "./implement.ts"
import { accepts, type ApiRequest, type ApiResponse, ok, param, type Route } from "./route.ts"

const { method, path, query: parameters, answers } = events.list

/** Returns a page or a stream, depending on `Accept`. */
export const eventRoutes: readonly Route[] = [
  {
    method,
    path,
    handle: async (request) => {
      const organization = param(request, "organization_name")
      const query: EventQuery = decodeQuery(parameters, request.query)
      if (!accepts(request, eventStreamType)) {
        const { number, size } = decodePage(request.query)
        if (number !== 1)
          throw badRequest("The page is not valid.", [
            { detail: "page[number] must be 1; use since to continue", parameter: "page[number]" },
          ])
        return ok(answers.encode(await request.engine.events.list(organization, query, size), request))
      }
      return streamed(await request.engine.eventStreams.open(organization, continued(request, query)))
    },
  },
]

/** Returns the query of a stream. A client that reconnects repeats its URL and sends its position in `Last-Event-ID`. */
function continued({ headers }: ApiRequest, query: EventQuery): EventQuery {
  const last = headers.get("last-event-id") ?? ""
  return last === "" ? query : { ...query, since: last }
}

const streamed = (items: AsyncIterable<FeedItem>): ApiResponse => ({
  status: 200,
  stream: bytesOf(items),
  headers: {
    "content-type": eventStreamType,
    "cache-control": "no-store",
    // A proxy that buffers the response would delay events.
    "x-accel-buffering": "no",
  },
})

const text = new TextEncoder()
/** Encoded events, so that an event sent to many clients is encoded once. */
const written = new WeakMap<EventView, Uint8Array>()

function bytesFor(item: FeedItem): Uint8Array {
  if (!("event" in item)) return text.encode(encodeFeedItem(item))
  const known = written.get(item.event)
  if (known !== undefined) return known
  const bytes = text.encode(encodeFeedItem(item))
  written.set(item.event, bytes)
  return bytes
}

/** Encodes a stream. An error ends it, because the head was already sent; the client gets the error when it reconnects. */
function bytesOf(items: AsyncIterable<FeedItem>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = items[Symbol.asyncIterator]()
      let begun = false
      return {
        async next() {
          if (!begun) {
            begun = true
            return { done: false, value: text.encode(streamBeginning) }
          }
          try {
            const { done, value } = await source.next()
            return done === true ? { done, value: undefined } : { done: false, value: bytesFor(value) }
          } catch {
            return { done: true, value: undefined }
          }
        },
        async return() {
          await source.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
