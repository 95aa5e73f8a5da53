import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Agent, request } from "undici"
import { expect, onTestFinished, test } from "vitest"
import { type ConnectionShareOptions, holderOf } from "./connection-share.ts"
import { respond } from "./message.ts"
import { createNodeServer, type NodeServerOptions } from "./node-server.ts"
import { ReloadableIdentity } from "./secure-context.ts"

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const certificate = await pem("certificate")
const tls = new ReloadableIdentity({ certificate, privateKey: await pem("key") })

async function listening(share: Partial<ConnectionShareOptions>, options: NodeServerOptions = {}) {
  const exceeded: string[] = []
  const connectionShare = {
    maxConnections: 3,
    isExempt: () => false,
    onExceeded: (address: string) => void exceeded.push(address),
    ...share,
  }
  const server = createNodeServer(async ({ method }) => respond(method), { ...options, connectionShare })
  onTestFinished(async () => void (await server.close(0)))
  const address = await server.listen({ host: "127.0.0.1", port: 0 })
  return { server, exceeded, port: "port" in address ? address.port : 0 }
}

/** Opens a connection and sends nothing. A refused connection is also accepted by the kernel first; the server then closes it. */
async function idle(port: number, from = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from })
  onTestFinished(() => void socket.destroy())
  await once(socket, "connect")
  return socket
}

const isAnswered = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once("data", () => resolve(true))
    socket.once("error", () => resolve(false))
    socket.once("close", () => resolve(false))
    socket.write("GET / HTTP/1.1\r\nHost: chancery\r\n\r\n")
  })

test("[F-S6] an address above its maximum of connections is rejected, and other addresses are accepted", async () => {
  const { port, exceeded } = await listening({})
  const held = [await idle(port), await idle(port), await idle(port)]
  expect(await Promise.all(held.map(isAnswered))).toEqual([true, true, true])
  expect([await isAnswered(await idle(port)), await isAnswered(await idle(port))]).toEqual([false, false])
  expect(await isAnswered(await idle(port, "127.0.0.2"))).toBe(true)
  expect(exceeded).toEqual(["127.0.0.1"])
  held[0]?.destroy()
  await expect.poll(async () => isAnswered(await idle(port))).toBe(true)
})

test("[F-S6] connections of trusted proxies and of unix sockets are not counted", async () => {
  const { port } = await listening({ isExempt: (address) => address === "127.0.0.1" })
  for (let count = 0; count < 5; count += 1) expect(await isAnswered(await idle(port))).toBe(true)

  const folder = await mkdtemp(join(tmpdir(), "chancery-share-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, "socket")
  const local = createNodeServer(async () => respond("{}"), {
    connectionShare: { maxConnections: 1, isExempt: () => false },
  })
  onTestFinished(async () => void (await local.close(0)))
  await local.listen({ path })
  const sockets = [connect(path), connect(path)]
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  expect(await Promise.all(sockets.map(isAnswered))).toEqual([true, true])
})

test("[F-S6] a TLS connection is counted before its handshake", async () => {
  const { port } = await listening({}, { tls })
  const held = await Promise.all([idle(port), idle(port), idle(port)])
  const dispatcher = new Agent({ connect: { ca: certificate } })
  onTestFinished(() => dispatcher.destroy())
  const outcome = () =>
    request(`https://127.0.0.1:${port}`, { dispatcher }).then(
      ({ statusCode }) => statusCode,
      () => "refused",
    )
  expect(await outcome()).toBe("refused")
  for (const socket of held) socket.destroy()
  await expect.poll(outcome).toBe(200)
})

test("[F-S6] a connection that sends LIST, which a second parser reads, is counted once", async () => {
  const { port } = await listening({ maxConnections: 1 })
  const socket = await idle(port)
  for (let count = 0; count < 3; count += 1) {
    socket.write("LIST / HTTP/1.1\r\nHost: chancery\r\n\r\n")
    const [answer] = (await once(socket, "data")) as [Buffer]
    expect(answer.toString()).toContain("200 OK")
  }
  socket.destroy()
  await expect.poll(async () => isAnswered(await idle(port))).toBe(true)
})

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2::7", "20010db800010002"],
  ["2001:db8:1:2:ffff::9", "20010db800010002"],
  ["fe80::1%eth0", "fe80::1%eth0"],
])("[F-S6] %s is counted as %s", (address, holder) => {
  expect(holderOf(address)).toBe(holder)
})
