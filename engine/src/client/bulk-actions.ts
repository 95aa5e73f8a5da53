import { unavailable } from "../core/errors.ts"
import { bulkActions, decodeBulkHead, decodeBulkLine, keyHeader, linesMediaType } from "../contracts/tfe/bulk-action.ts"
import { encodeWriter } from "../contracts/tfe/json-api/writer.ts"
import type { BulkActions, BulkResult } from "../workspaces/bulk/bulk-action.ts"
import { queryOf, type Transport } from "./transport.ts"
import { filled, parametersOf } from "./remote-contract.ts"

const { method, path, query, body } = bulkActions.run

export const remoteBulkActions = ({ stream }: Transport): BulkActions => ({
  async run(organization, request) {
    const { idempotencyKey: key } = request
    const lines = linesOf(
      await stream({
        method,
        path: filled(path, [organization]),
        query: queryOf(parametersOf(query, request.query ?? {})),
        document: encodeWriter(body.encode(request) as object, request),
        headers: { accept: linesMediaType, ...(key === undefined ? {} : { [keyHeader]: key }) },
      }),
    )
    const head = await lines.next()
    if (head.done === true) throw cutOff()
    return { ...decodeBulkHead(head.value), results: resultsIn(lines) }
  },
})

async function* resultsIn(lines: AsyncIterable<string>): AsyncGenerator<readonly BulkResult[]> {
  for await (const line of lines) {
    const results = decodeBulkLine(line)
    if (results === undefined) return
    yield results
  }
  throw cutOff()
}

const cutOff = () => unavailable("The server's response ended early; more actions may have been executed.")

/** A line of the largest request is far shorter. */
const longestLine = 16 * 1024 * 1024

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > longestLine) throw unavailable("The server's answer cannot be read: a line is too long.")
    const lines = text.split("\n")
    text = lines.pop() ?? ""
    yield* lines
  }
}
