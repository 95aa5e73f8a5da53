// A load generator with a low cost: prepared bytes on keep-alive sockets, one request in flight on each. It runs in a separate process
// (`measureLoad`), so that it takes no time from the server's.
import { fork } from "node:child_process"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { fileURLToPath } from "node:url"

export interface Load {
  readonly port: number
  /** Requests of each client, sent in a cycle; each character is one byte. */
  readonly clients: readonly (readonly string[])[]
  readonly seconds: number
  /** Rate of all clients together, evenly spaced. Default: as fast as answers arrive. */
  readonly ratePerSecond?: number
}

export interface LoadResult {
  readonly requestsPerSecond: number
  /**
   * From sending to the end of the answer; with a rate, from the scheduled time. The first half second is left out, because this client
   * connects and its code is compiled then.
   */
  readonly p99Ms: number
  /** Answers whose status was not 2xx. */
  readonly refused: number
}

const settlingMs = 500

export async function measureLoad(load: Load): Promise<LoadResult> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] })
  child.send(load)
  const [result] = (await once(child, "message")) as [LoadResult]
  child.disconnect()
  return result
}

/** Returns the bytes of one request. */
export function rawRequest(method: string, path: string, token: string, body?: string): string {
  const headers = [
    `${method} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    ...(body === undefined
      ? ["Content-Length: 0"]
      : ["Content-Type: application/vnd.api+json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return `${headers.join("\r\n")}\r\n\r\n${body ?? ""}`
}

async function run({ port, clients, seconds, ratePerSecond }: Load): Promise<LoadResult> {
  const spacingMs = ratePerSecond === undefined ? 0 : (1000 * clients.length) / ratePerSecond
  const latencies: number[] = []
  let completed = 0
  let refused = 0
  let running = true
  const start = performance.now()
  const sockets = clients.map((requests, index) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    let next = 0
    let due = start + (spacingMs * index) / clients.length
    const send = () => {
      if (!running) return
      if (spacingMs === 0) due = performance.now()
      // One byte per character, because bodies can be binary.
      socket.write(requests[next % requests.length] ?? "", "latin1")
      next += 1
    }
    const sendWhenDue = () => {
      const waitMs = due - performance.now()
      if (spacingMs === 0 || waitMs <= 0) send()
      else setTimeout(send, waitMs)
    }
    socket.once("connect", sendWhenDue)
    onAnswer(socket, (status) => {
      completed += 1
      const now = performance.now()
      if (now - start > settlingMs) latencies.push(now - due)
      if (status < 200 || status >= 300) refused += 1
      due += spacingMs
      if (running) sendWhenDue()
    })
    return socket
  })
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  running = false
  const elapsed = (performance.now() - began) / 1000
  latencies.sort((a, b) => a - b)
  const p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN
  const result = { requestsPerSecond: completed / elapsed, p99Ms, refused }
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const socket of sockets) socket.destroy()
  return result
}

/** Parses answers. Every answer of these servers has a Content-Length, or no body. */
function onAnswer(socket: Socket, answered: (status: number) => void): void {
  let pending: Buffer = Buffer.alloc(0)
  socket.on("data", (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf("\r\n\r\n")
      if (end < 0) return
      const head = pending.toString("latin1", 0, end)
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      const total = end + 4 + length
      if (pending.length < total) return
      pending = pending.subarray(total)
      answered(Number(head.slice(9, 12)))
    }
  })
}

if (process.send !== undefined) {
  process.once("message", (load) => {
    void run(load as Load).then((result) => process.send?.(result))
  })
}
