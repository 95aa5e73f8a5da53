import { isEngineError } from "../../core/errors.ts"
import {
  bulkActions,
  encodeBulkDocument,
  encodeBulkFailure,
  encodeBulkLines,
  keyHeader,
  linesMediaType,
} from "../../contracts/tfe/bulk-action.ts"
import { decodeWriter } from "../../contracts/tfe/json-api/writer.ts"
import { decodeQuery } from "./implement.ts"
import { accepts, type ApiRequest, type ApiResponse, param, type Route } from "./route.ts"

const { method, path, query, body: requested } = bulkActions.run

/** Runs one action on every workspace that the list would find (docs/bulk.md). Streams the results as they become available. */
export const bulkActionRoutes: readonly Route[] = [
  {
    method,
    path,
    pointers: requested.pointers,
    handle: async (request) => {
      const body = await request.body()
      const bulkRequest = requested.decode(body)
      const run = await request.engine.bulkActions.run(param(request, "organization_name"), {
        ...bulkRequest,
        query: decodeQuery(query, request.query),
        ...decodeWriter(request.headers, body),
        ...keyOf(request),
      })
      if (accepts(request, linesMediaType)) return streamed(linesMediaType, withFailure(encodeBulkLines(run)))
      return streamed("application/vnd.api+json", encodeBulkDocument(run, bulkRequest))
    },
  },
]

function keyOf({ headers }: ApiRequest): { readonly idempotencyKey?: string } {
  const idempotencyKey = headers.get(keyHeader)
  return idempotencyKey === null ? {} : { idempotencyKey }
}

const streamed = (mediaType: string, text: AsyncIterable<string>): ApiResponse => ({
  status: 200,
  // A proxy that buffers the response would hide its progress.
  headers: { "content-type": mediaType, "x-accel-buffering": "no" },
  stream: octets(text),
})

/** Encodes the text. If the client disconnects, no more text is read: the current batch finishes and no other begins. */
async function* octets(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const piece of text) yield encoder.encode(piece)
}

async function* withFailure(lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines
  } catch (error) {
    if (!isEngineError(error)) throw error
    yield encodeBulkFailure(error)
  }
}
