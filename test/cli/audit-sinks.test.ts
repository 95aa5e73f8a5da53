// The audit log of a real server with other targets than a file.
import { type AddressInfo, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { freePort } from "../free-port.ts"
import { run, serve, temporaryFolder } from "./chancery.ts"

async function receiver(port = 0) {
  let text = ""
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.setEncoding("utf8").on("data", (data: string) => (text += data))
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(() => void stop())
  return { port: (server.address() as AddressInfo).port, text: () => text, stop }
}

/** Starts a server. `ask` returns the status of a request for its mounts: 200 as long as the request can be recorded. */
async function served(folder: string, auditLog: string) {
  const data = join(folder, "data")
  const running = await serve(["serve", "--data", data, "--rate-limit", "off", "--audit-log", auditLog])
  onTestFinished(() => running[Symbol.asyncDispose]())
  const token = (await run(["token", "create", "--user", "root", "--data", data, "--audit-log", "off"])).out.trim()
  const ask = async () =>
    (await fetch(`${running.url}/v1/sys/mounts`, { headers: { "X-Service-Token": token } })).status
  return { running, ask }
}

test("syslog gets the request before the response; without a receiver requests are rejected", async () => {
  await using folder = await temporaryFolder()
  const first = await receiver()
  const { ask } = await served(folder.path, `syslog+tcp://127.0.0.1:${first.port}`)
  expect(await ask()).toBe(200)
  await expect
    .poll(first.text)
    .toMatch(
      /^\d+ <110>1 \S+ \S+ chancery \d+ audit - \{.*"type":"request".*"path":"sys\/mounts"|"type":"response","request_id".*"status":200/,
    )
  await first.stop()
  await expect.poll(ask).toBe(503)
  const second = await receiver(first.port)
  await expect.poll(ask).toBe(200)
  await expect.poll(second.text).toContain('"status":200')
})

test("standard output contains the audit log and nothing else", async () => {
  await using folder = await temporaryFolder()
  const { running, ask } = await served(folder.path, "stdout")
  expect(await ask()).toBe(200)
  await expect.poll(() => running.out()).toContain('"status":200')
  const entries = running
    .out()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string })
  expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(["request", "response"]))
})

test.each([
  {
    why: "a receiver that does not answer",
    auditLog: async () => `syslog+tcp://127.0.0.1:${await freePort()}`,
    code: 75,
    message:
      /audit log syslog\+tcp:\/\/127.0.0.1:\d+ cannot be opened \(connect ECONNREFUSED.*Check that the receiver is running/,
  },
  {
    why: "an invalid address",
    auditLog: async () => "syslog+tcp://",
    code: 78,
    message: /setting auditLog cannot be "syslog\+tcp:\/\/"/,
  },
])("the server does not start with $why", async ({ auditLog, code, message }) => {
  await using folder = await temporaryFolder()
  const ended = await run(["serve", "--data", join(folder.path, "data"), "--audit-log", await auditLog()])
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)])
})
