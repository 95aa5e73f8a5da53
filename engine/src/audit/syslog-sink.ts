// Sends the audit log as syslog messages (RFC 5424). Over TCP and TLS, each is preceded by its length (RFC 6587 3.4.1, RFC 5425 4.3); over
// UDP, each is one datagram (RFC 5426). Syslog has no acknowledgements: synced messages are in this machine's network stack. A broken
// connection accepts no lines and is opened again.
import { createSocket } from "node:dgram"
import { connect as connectPlain, type Socket } from "node:net"
import { hostname } from "node:os"
import { setImmediate as nextTurn } from "node:timers/promises"
import { connect as connectSecurely } from "node:tls"
import { type Clock, formatInstant, secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import type { AuditSink } from "./audit-sink.ts"
import type { SyslogAddress } from "./audit-target.ts"

export interface SyslogSinkOptions {
  readonly address: SyslogAddress
  /** Certificates to trust over TLS instead of Node's default ones, in PEM. */
  readonly authorities?: string | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly onFailure: (error: unknown) => void
}

/** Facility 13 (log audit), severity 6 (informational). */
const priority = 13 * 8 + 6
const connectTimeoutMs = 5 * secondMs
const redialMs = secondMs
/** Unsent bytes at which a receiver counts as failed, because it reads nothing. */
const maxWaitingBytes = 4 * 2 ** 20

/** An open connection to the receiver. */
interface Wire {
  /** Calls `taken` when the network stack has accepted the message. */
  send(message: Buffer, taken: (error?: Error | null) => void): void
  readonly waitingBytes: () => number
  /** Closes the connection after the messages sent so far. */
  end(): Promise<void>
  destroy(): void
}

export class SyslogSink implements AuditSink {
  readonly #options: SyslogSinkOptions
  readonly #header: string
  #wire: Wire | undefined
  #dialling: Promise<void> | undefined
  #cancelRedial: (() => void) | undefined
  /** Settles with the last message sent. */
  #last: Promise<void> = Promise.resolve()
  #failureCount = 0
  #closed = false

  constructor(options: SyslogSinkOptions) {
    this.#options = options
    const host =
      hostname()
        .replace(/[^\x21-\x7e]/g, "-")
        .slice(0, 255) || "-"
    this.#header = `${host} chancery ${process.pid} audit -`
  }

  get failureCount(): number {
    return this.#failureCount
  }

  async open(): Promise<void> {
    if (this.#wire === undefined) await (this.#dialling ??= this.#dial())
  }

  write(lines: string): void {
    const wire = this.#wire
    if (wire === undefined) {
      this.#redialSoon(0)
      const error = new Error("the syslog receiver is not connected")
      this.#fail(error)
      throw error
    }
    if (wire.waitingBytes() > maxWaitingBytes) {
      const error = new Error("the syslog receiver accepts no more messages")
      this.#lose(wire, error)
      throw error
    }
    for (const line of lines.split("\n")) if (line !== "") this.#send(wire, line)
  }

  async written(lines: string): Promise<void> {
    this.write(lines)
    await this.#last
  }

  append(lines: string): void {
    try {
      this.write(lines)
    } catch {
      // The failure is counted. Callers that depend on these lines detect the loss at the next sync.
    }
  }

  synced(): Promise<void> {
    return this.#last
  }

  leave(): void {}

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelRedial?.()
    await this.#dialling?.catch(() => {})
    await this.#last.catch(() => {})
    await this.#wire?.end()
    this.#wire = undefined
  }

  #send(wire: Wire, line: string): void {
    const time = formatInstant(this.#options.clock.now())
    const message = Buffer.from(`<${priority}>1 ${time} ${this.#header} ${line}`)
    const before = this.#last
    const taken = new Promise<void>((resolve, reject) => {
      wire.send(message, (error) => {
        if (error === undefined || error === null) return resolve()
        this.#lose(wire, error)
        reject(error)
      })
    })
    this.#last = before.catch(() => {}).then(() => taken)
    // Callers that wait for the message get the error.
    this.#last.catch(() => {})
  }

  async #dial(): Promise<void> {
    try {
      const wire = await openWire(this.#options, (error) => this.#lose(wire, error))
      if (this.#closed) wire.destroy()
      else this.#wire = wire
    } finally {
      this.#dialling = undefined
    }
  }

  /** Drops a broken connection. Messages in transit may be lost. */
  #lose(wire: Wire, error: unknown): void {
    if (this.#wire !== wire) return
    this.#wire = undefined
    wire.destroy()
    if (this.#closed) return
    this.#fail(error)
    this.#redialSoon(0)
  }

  #redialSoon(delayMs: number): void {
    if (this.#closed || this.#wire !== undefined || this.#dialling !== undefined || this.#cancelRedial !== undefined)
      return
    this.#cancelRedial = this.#options.timers.after(delayMs, () => {
      this.#cancelRedial = undefined
      this.#dialling = this.#dial().catch(() => this.#redialSoon(redialMs))
    })
  }

  #fail(error: unknown): void {
    this.#failureCount += 1
    this.#options.onFailure(error)
  }
}

const openWire = (options: SyslogSinkOptions, onLoss: (error: unknown) => void): Promise<Wire> =>
  options.address.transport === "udp" ? openDatagrams(options.address, onLoss) : openStream(options, onLoss)

async function openDatagrams(
  { host, port }: { readonly host: string; readonly port: number },
  onLoss: (error: unknown) => void,
): Promise<Wire> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4")
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject)
    socket.connect(port, host, () => {
      socket.off("error", reject)
      resolve()
    })
  })
  // If no receiver listens on the port, its host reports that with an error on the socket.
  socket.on("error", onLoss)
  socket.unref()
  return {
    send: (message, taken) => socket.send(message, taken),
    waitingBytes: () => socket.getSendQueueSize(),
    async end() {
      await nextTurn()
      socket.close()
    },
    destroy: () => void socket.close(),
  }
}

async function openStream(
  { address, authorities, timers }: SyslogSinkOptions,
  onLoss: (error: unknown) => void,
): Promise<Wire> {
  const socket = dialled(address, authorities)
  const ready = address.transport === "tls" ? "secureConnect" : "connect"
  await new Promise<void>((resolve, reject) => {
    const cancel = timers.after(connectTimeoutMs, () =>
      socket.destroy(new Error(`the syslog receiver did not answer within ${connectTimeoutMs / secondMs} seconds`)),
    )
    socket.once("error", reject)
    socket.once(ready, () => {
      cancel()
      socket.off("error", reject)
      resolve()
    })
  })
  socket.setKeepAlive(true, 30 * secondMs)
  socket.on("error", onLoss)
  socket.on("close", () => onLoss(new Error("the syslog receiver closed the connection")))
  // Syslog is one-way, so input is ignored. It must be read, or the end of the connection would not be noticed.
  socket.resume()
  socket.unref()
  return {
    send: (message, taken) => void socket.write(Buffer.concat([Buffer.from(`${message.length} `), message]), taken),
    waitingBytes: () => socket.writableLength,
    end: () => new Promise((resolve) => socket.end(() => resolve(void socket.destroy()))),
    destroy: () => void socket.destroy(),
  }
}

function dialled(address: Exclude<SyslogAddress, { transport: "udp" }>, authorities: string | undefined): Socket {
  if (address.transport === "unix") return connectPlain({ path: address.path })
  const { host, port } = address
  if (address.transport === "tcp") return connectPlain({ host, port })
  return connectSecurely({ host, port, minVersion: "TLSv1.2", ...(authorities !== undefined && { ca: authorities }) })
}
