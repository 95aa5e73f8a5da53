import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { expect, test } from "vitest"
import { TcpBalancer } from "./tcp-balancer.ts"

async function greeter(name: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => socket.on("error", () => {}).end(name)).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

const greetingAt = async (port: number): Promise<string> => text(connect({ host: "127.0.0.1", port }))

test("connections are balanced round-robin, skip a target that refuses, and are closed when none is left", async () => {
  const targets = await Promise.all(["a", "b", "c"].map(greeter))
  await using balancer = new TcpBalancer(targets.map(({ port }) => port))
  const port = await balancer.listen()

  const round = [await greetingAt(port), await greetingAt(port), await greetingAt(port)]
  expect(round.toSorted()).toEqual(["a", "b", "c"])

  targets[1]?.server.close()
  const passed = [await greetingAt(port), await greetingAt(port), await greetingAt(port)]
  expect(passed).not.toContain("b")
  expect(passed).toEqual(expect.arrayContaining(["a", "c"]))

  balancer.targets = [targets[2]?.port ?? 0]
  expect(await greetingAt(port)).toBe("c")
  targets[0]?.server.close()
  targets[2]?.server.close()
  expect(await greetingAt(port)).toBe("")
})

test("a target that dies closes its connections", async () => {
  const accepted: Socket[] = []
  const server = createServer((socket) => void accepted.push(socket.on("error", () => {}))).listen(0, "127.0.0.1")
  await once(server, "listening")
  await using balancer = new TcpBalancer([(server.address() as AddressInfo).port])
  const client = connect({ host: "127.0.0.1", port: await balancer.listen() })
  client.on("error", () => {}).write("half a request")
  await expect.poll(() => accepted.length).toBe(1)
  const closed = once(client, "close")
  accepted[0]?.resetAndDestroy()
  await closed
  server.close()
})
