import { execFile, spawn } from "node:child_process"
import { readFile, rm, stat } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { Agent, request } from "undici"
import { expect, test } from "vitest"
import { freePort } from "../free-port.ts"
import { main, run, serve, type Served, temporaryFolder } from "./chancery.ts"

const shell = promisify(execFile)

const tokenIn = async (folder: string) => (await readFile(join(folder, ".chancery", "root-token"), "utf8")).trim()

async function organizationsSeen(url: string, token: string): Promise<readonly string[] | number> {
  const { statusCode, body } = await request(`${url}/api/v2/organizations`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (statusCode !== 200) return statusCode
  const { data } = (await body.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

test("dev creates a store, an organization and a root token that only its owner can read", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["dev"], { folder: folder.path })
  expect(await organizationsSeen(served.url, await tokenIn(folder.path))).toEqual(["default"])
  await expect.poll(served.out).toContain("Ctrl-C")
  const modes = await Promise.all(
    [".chancery", ".chancery/root-token", ".chancery/terraformrc", ".chancery/seal-key", ".chancery/chancery.db"].map(
      async (path) => ((await stat(join(folder.path, path))).mode & 0o777).toString(8),
    ),
  )
  expect(modes).toEqual(["700", "600", "600", "600", "600"])
})

test("the commands that dev prints work as printed", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["dev"], { folder: folder.path })
  await expect.poll(() => served.out()).toContain("Ctrl-C")
  const commands = served
    .out()
    .split("\n")
    .filter((line) => line.startsWith("  curl "))
  expect(commands).toHaveLength(4)
  const answers: unknown[] = []
  for (const command of commands) {
    const { stdout } = await shell("sh", ["-c", command], { cwd: folder.path })
    answers.push(JSON.parse(stdout))
  }
  const network = { type: "workspaces", attributes: { name: "network" } }
  const issued = { private_key_type: "ec", certificate: expect.stringContaining("BEGIN CERTIFICATE") as string }
  expect(answers).toMatchObject([{ data: network }, { data: [network] }, { data: network }, { data: issued }])
})

test("dev serves HTTP and HTTPS, and clients that trust ca.pem trust it under the names of this machine", async () => {
  await using folder = await temporaryFolder()
  const port = await freePort()
  const environment = { CHANCERY_TLS_LISTEN: `127.0.0.1:${port}` }
  await using served = await serve(["dev"], { folder: folder.path, environment })
  const ca = await readFile(join(folder.path, ".chancery", "ca.pem"), "utf8")
  const dispatcher = new Agent({ connect: { ca } })
  for (const host of ["localhost", "127.0.0.1"])
    expect((await request(`https://${host}:${port}/readyz`, { dispatcher })).statusCode).toBe(200)
  await dispatcher.close()
  await expect.poll(() => served.out()).toContain(`and https://127.0.0.1:${port} (trust .chancery/ca.pem)`)

  served.child.kill("SIGTERM")
  expect((await served.ended).code).toBe(0)
  await using again = await serve(["dev"], { folder: folder.path, environment })
  expect(await readFile(join(folder.path, ".chancery", "ca.pem"), "utf8")).toBe(ca)
  again.child.kill("SIGTERM")
  expect((await again.ended).code).toBe(0)
})

test("dev serves without HTTPS when its certificate cannot be issued, and logs the reason", async () => {
  await using folder = await temporaryFolder()
  const stop = async (served: Served) => {
    served.child.kill("SIGTERM")
    return served.ended
  }
  await stop(await serve(["dev"], { folder: folder.path }))
  const role = { token: await tokenIn(folder.path), body: { allowed_domains: "nowhere", key_type: "ec" } }
  await using served = await serve(["dev"], { folder: folder.path })
  const { statusCode } = await request(`${served.url}/v1/pki/roles/local`, {
    method: "POST",
    headers: { "x-service-token": role.token, "content-type": "application/json" },
    body: JSON.stringify({ ...role.body, allow_localhost: false }),
  })
  expect(statusCode).toBe(200)
  await stop(served)
  await using without = await serve(["dev"], { folder: folder.path })
  const { stderr } = await stop(without)
  expect(stderr).toContain('"serving without HTTPS"')
  expect(stderr).toContain("cannot issue itself a certificate from pki under the role local")
})

test("dev keeps its data on restart, and creates a new root token only when the old one is missing or revoked", async () => {
  await using folder = await temporaryFolder()
  const restarted = async (between: () => Promise<unknown>) => {
    await between()
    await using served = await serve(["dev"], { folder: folder.path })
    const token = await tokenIn(folder.path)
    expect(await organizationsSeen(served.url, token)).toEqual(["default"])
    served.child.kill("SIGTERM")
    expect((await served.ended).code).toBe(0)
    return token
  }
  const first = await restarted(async () => undefined)
  expect(await restarted(async () => undefined)).toBe(first)

  const second = await restarted(() => rm(join(folder.path, ".chancery", "root-token")))
  expect(second).not.toBe(first)

  const third = await restarted(async () => {
    const { out } = await run(["token", "list", "--user", "root", "--json"], { folder: folder.path })
    for (const { id } of JSON.parse(out) as { id: string }[]) {
      expect((await run(["token", "revoke", id], { folder: folder.path })).code).toBe(0)
    }
  })
  expect([first, second]).not.toContain(third)
})

test("CHANCERY_DATA and CHANCERY_STORAGE set another folder and another store", async () => {
  await using folder = await temporaryFolder()
  const environment = {
    CHANCERY_DATA: join(folder.path, "elsewhere"),
    CHANCERY_STORAGE: `sqlite:${join(folder.path, "other.db")}`,
  }
  await using served = await serve(["dev"], { folder: folder.path, environment })
  const token = (await readFile(join(folder.path, "elsewhere", "root-token"), "utf8")).trim()
  expect(await organizationsSeen(served.url, token)).toEqual(["default"])
  expect((await stat(join(folder.path, "other.db"))).isFile()).toBe(true)
})

test("dev has no rate limit headers", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["dev"], { folder: folder.path })
  const { headers } = await request(`${served.url}/api/v2/organizations`)
  expect(headers["x-ratelimit-limit"]).toBeUndefined()
})

test("SIGTERM lets a request finish durably whose body is still arriving", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["dev"], { folder: folder.path })
  const { port } = new URL(served.url)
  const body = JSON.stringify({ data: { type: "organizations", attributes: { name: "late", email: "a@example.com" } } })
  const token = await tokenIn(folder.path)
  const socket = connect(Number(port), "127.0.0.1")
  let answer = ""
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text))
  const closed = new Promise((resolve) => socket.on("close", resolve))
  socket.write(
    `POST /api/v2/organizations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/vnd.api+json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
  )
  await expect
    .poll(async () => (await (await request(`${served.url}/metrics`)).body.text()).match(/in_flight (\d)/)?.[1])
    .toBe("2")

  served.child.kill("SIGTERM")
  await expect
    .poll(() =>
      request(`${served.url}/healthz`).then(
        () => "serving",
        () => "refusing",
      ),
    )
    .toBe("refusing")
  socket.write(body.slice(20))
  await closed
  expect(answer).toMatch(/^HTTP\/1.1 201 /)
  expect(answer).toMatch(/^connection: close\r$/im)
  expect((await served.ended).code).toBe(0)

  const { out } = await run(["organization", "list", "--json"], { folder: folder.path })
  expect((JSON.parse(out) as { name: string }[]).map(({ name }) => name)).toEqual(["default", "late"])
})

test("a server that npm started stops when the intermediate shell is stopped", async () => {
  await using folder = await temporaryFolder()
  const port = await freePort()
  const script = `"${process.execPath}" "${main}" dev & wait`
  const shellProcess = spawn("sh", ["-c", script], {
    cwd: folder.path,
    // HTTPS uses the next port by default, which another process may use.
    env: {
      npm_lifecycle_event: "start",
      CHANCERY_LISTEN: `127.0.0.1:${port}`,
      CHANCERY_TLS_LISTEN: "127.0.0.1:0",
    },
    stdio: ["ignore", "pipe", "ignore"],
  })
  await expect
    .poll(() =>
      request(`http://127.0.0.1:${port}/healthz`).then(
        () => "serving",
        () => "refusing",
      ),
    )
    .toBe("serving")
  shellProcess.kill("SIGTERM")
  await expect
    .poll(() =>
      request(`http://127.0.0.1:${port}/healthz`).then(
        () => "serving",
        () => "refusing",
      ),
    )
    .toBe("refusing")
})
