// Syslog receivers on real sockets, one for each transport.
import { createSocket } from "node:dgram"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createSecureServer } from "node:tls"
import { expect, onTestFinished, test } from "vitest"
import { systemTimers } from "../core/timers.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import type { SyslogAddress } from "./audit-target.ts"
import { SyslogSink } from "./syslog-sink.ts"

const fixture = (name: string) => readFileSync(new URL(`../../../test/cli/tls/${name}.pem`, import.meta.url), "utf8")

interface Receiver {
  readonly address: SyslogAddress
  /** Complete messages without their framing. */
  readonly messages: readonly string[]
  /** Closes every connection and accepts no more. */
  stop(): Promise<void>
}

/** Splits octet-counted frames (RFC 6587, section 3.4.1) into messages. */
function readFrames(socket: Socket, messages: string[]): void {
  let waiting = Buffer.alloc(0)
  socket.on("error", () => {})
  socket.on("data", (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes])
    for (;;) {
      const space = waiting.indexOf(0x20)
      const length = Number(waiting.subarray(0, space).toString())
      if (space < 0 || waiting.length < space + 1 + length) return
      messages.push(waiting.subarray(space + 1, space + 1 + length).toString())
      waiting = waiting.subarray(space + 1 + length)
    }
  })
}

async function listening(server: Server, where: { port?: number; host?: string; path?: string }) {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(where, resolve))
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(stop)
  return stop
}

async function tcpReceiver(port = 0): Promise<Receiver> {
  const messages: string[] = []
  const server = createServer((socket) => readFrames(socket, messages))
  const stop = await listening(server, { port, host: "127.0.0.1" })
  return {
    address: { transport: "tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port },
    messages,
    stop,
  }
}

async function tlsReceiver(): Promise<Receiver> {
  const messages: string[] = []
  const server = createSecureServer({ cert: fixture("certificate"), key: fixture("key") }, (socket) =>
    readFrames(socket, messages),
  )
  const stop = await listening(server, { port: 0, host: "localhost" })
  return {
    address: { transport: "tls", host: "localhost", port: (server.address() as AddressInfo).port },
    messages,
    stop,
  }
}

async function unixReceiver(): Promise<Receiver> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, "syslog.sock")
  const messages: string[] = []
  const stop = await listening(
    createServer((socket) => readFrames(socket, messages)),
    { path },
  )
  return { address: { transport: "unix", path }, messages, stop }
}

async function udpReceiver(): Promise<Receiver> {
  const messages: string[] = []
  const socket = createSocket("udp4", (bytes) => void messages.push(bytes.toString()))
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  onTestFinished(() => void socket.close())
  return {
    address: { transport: "udp", host: "127.0.0.1", port: socket.address().port },
    messages,
    stop: async () => {},
  }
}

function sinkTo(address: SyslogAddress, authorities?: string) {
  const failures: unknown[] = []
  const onFailure = (error: unknown) => void failures.push(error)
  const sink = new SyslogSink({ address, authorities, clock: manualClock(), timers: systemTimers, onFailure })
  onTestFinished(() => sink.close())
  return { sink, failures }
}

test.each([
  { kind: "UDP", receiver: udpReceiver },
  { kind: "TCP", receiver: tcpReceiver },
  { kind: "TLS", receiver: tlsReceiver, authorities: fixture("certificate") },
  { kind: "a unix socket", receiver: unixReceiver },
])("over $kind each line is one message of RFC 5424, in order", async ({ receiver, authorities }) => {
  const { address, messages } = await receiver()
  const { sink, failures } = sinkTo(address, authorities)
  await sink.open()
  sink.write('{"n":1}\n')
  sink.append('{"n":2}\n{"text":"zwölf\\u0000"}\n')
  await sink.written('{"n":4}\n')
  await sink.synced()
  await expect.poll(() => messages.length).toBe(4)
  const taken = messages.map((message) =>
    /^<110>1 (\S+) (\S+) chancery (\d+) audit - (\{.*\})$/.exec(message)?.slice(1),
  )
  expect(taken.map((parts) => parts?.[3])).toEqual(['{"n":1}', '{"n":2}', '{"text":"zwölf\\u0000"}', '{"n":4}'])
  expect(taken[0]?.[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(taken[0]?.[2]).toBe(String(process.pid))
  expect([sink.failureCount, failures]).toEqual([0, []])
})

test("syslog sink fails at once when no receiver listens", async () => {
  const { address, stop } = await tcpReceiver()
  await stop()
  await expect(sinkTo(address).sink.open()).rejects.toThrow("ECONNREFUSED")
})

test("syslog sink rejects a receiver whose certificate is not trusted", async () => {
  const { address } = await tlsReceiver()
  await expect(sinkTo(address).sink.open()).rejects.toThrow(/self-signed certificate/)
})

test("syslog sink rejects lines while the receiver is down, and reconnects", async () => {
  const first = await tcpReceiver()
  const { sink, failures } = sinkTo(first.address)
  await sink.open()
  await sink.written("{}\n")
  await first.stop()
  await expect.poll(() => sink.failureCount).toBeGreaterThan(0)
  expect(failures.length).toBe(sink.failureCount)
  expect(() => sink.write('{"lost":1}\n')).toThrow("the syslog receiver is not connected")
  await expect(sink.written('{"lost":2}\n')).rejects.toThrow("not connected")
  const counted = sink.failureCount
  sink.append('{"lost":3}\n')
  expect(sink.failureCount).toBe(counted + 1)

  const port = first.address.transport === "tcp" ? first.address.port : 0
  const second = await tcpReceiver(port)
  await expect
    .poll(() =>
      sink.written('{"back":1}\n').then(
        () => "taken",
        () => "refused",
      ),
    )
    .toBe("taken")
  await expect.poll(() => second.messages.at(-1)).toMatch(/\{"back":1\}$/)
  expect(second.messages.join()).not.toContain("lost")
})

test("a message that is too long for a datagram counts as lost", async () => {
  const { address } = await udpReceiver()
  const { sink } = sinkTo(address)
  await sink.open()
  await expect(sink.written(`{"text":"${"x".repeat(70_000)}"}\n`)).rejects.toThrow("EMSGSIZE")
  expect(sink.failureCount).toBe(1)
})

test("syslog sink uses bounded memory when the receiver does not read", async () => {
  const server = createServer((socket) => void socket.pause())
  await listening(server, { port: 0, host: "127.0.0.1" })
  const { sink } = sinkTo({ transport: "tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port })
  await sink.open()
  const line = `{"text":"${"x".repeat(1 << 20)}"}\n`
  expect(() => {
    for (let count = 0; count < 64; count += 1) sink.write(line)
  }).toThrow("accepts no more messages")
  expect(sink.failureCount).toBe(1)
})
