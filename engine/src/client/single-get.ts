// One question over a connection of its own, which ends with it. What is kept ready for the next one, to an address that nobody
// asks for again, costs several times what the question does.
import type * as Http from "node:http"
import type * as Net from "node:net"
import { FetchFailure, type OutgoingAnswer } from "../core/fetch.ts"
import type { UnderWay } from "../core/under-way.ts"

export interface Destroyable {
  destroy(): void
}

/** What a signal is, whose making and asking take as long as a small query. */
export interface TimeLimit {
  isOver(): boolean
  /** Called once it is over. The answer takes that back. */
  onEnd(end: () => void): () => void
}

export interface SingleGet {
  /** Of http. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly lookup: Net.LookupFunction
  readonly answerBytesMaximum: number
  /** Ends it, wherever it is. */
  readonly limit: TimeLimit
  /** Has it for as long as it lasts. */
  readonly underWay: UnderWay<Destroyable>
}

// Loaded with the first question: most engines that are opened for a while ask none.
let loading: Promise<[typeof Http, typeof Net]> | undefined

/** Rejects with a `FetchFailure`, what `lookup` says, what the socket or the reader of HTTP says, or that the time is over. */
export async function getOnce(get: SingleGet): Promise<OutgoingAnswer> {
  const { url, headers, lookup, answerBytesMaximum, limit, underWay } = get
  // A module that is there already is looked for nevertheless, which takes half as long as to make the request.
  const [{ request }, { connect }] = await (loading ??= Promise.all([import("node:http"), import("node:net")]))
  if (limit.isOver()) throw new TimeIsOver()
  const { hostname, port, host, pathname, search } = url
  const peer = {
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? 80 : Number(port),
    lookup,
  }
  const asked = request({
    path: `${pathname}${search}`,
    method: "GET",
    // Instead of an agent, which would be made for this one connection.
    createConnection: () => connect(peer),
    setHost: false,
    headers: { host, connection: "close", ...headers },
  })
  const goOnRegardless = limit.onEnd(() => void asked.destroy(new TimeIsOver()))
  const end = underWay.add(asked)
  try {
    return await answerTo(asked, answerBytesMaximum, url.origin)
  } finally {
    goOnRegardless()
    end()
    asked.destroy()
  }
}

class TimeIsOver extends Error {}

function answerTo(asked: Http.ClientRequest, maximum: number, origin: string): Promise<OutgoingAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false
    asked.once("response", (answer) => {
      const pieces: Uint8Array[] = []
      let length = 0
      answer.on("data", (piece: Uint8Array) => {
        length += piece.byteLength
        if (length > maximum) reject(new FetchFailure("too-large", `${origin} answered more than ${maximum} bytes.`))
        else pieces.push(piece)
      })
      answer.once("error", reject)
      answer.once("end", () => {
        isAnswered = true
        resolve({ status: answer.statusCode ?? 0, headers: firstOfEach(answer), body: Buffer.concat(pieces) })
      })
    })
    asked.on("error", reject)
    // Also after an answer that goes over to another protocol, of which nothing else is heard.
    asked.once("close", () => {
      if (!isAnswered) reject(Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" }))
    })
    asked.end()
  })
}

function firstOfEach({ rawHeaders }: Http.IncomingMessage): Record<string, string> {
  const first = new Map<string, string>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ""
    if (!first.has(name)) first.set(name, rawHeaders[index + 1] ?? "")
  }
  return Object.fromEntries(first)
}
