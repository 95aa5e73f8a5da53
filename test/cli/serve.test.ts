import { access, copyFile, readFile, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Agent, request } from "undici"
import { expect, test } from "vitest"
import { defaultOf } from "../../engine/src/cli/setting-options.ts"
import { environmentNameOf, flagOf, type Setting, settingNames, settings } from "../../engine/src/cli/settings.ts"
import { freePort } from "../free-port.ts"
import { run, serve, start, temporaryFolder } from "./chancery.ts"

test("--help documents every setting: flag, environment, file and default", async () => {
  const { code, out } = await run(["serve", "--help"])
  expect(code).toBe(0)
  const text = out.replaceAll(/\s+/g, " ")
  for (const name of settingNames) {
    const { secret, placeholder, summary }: Setting = settings[name]
    expect(text).toContain(environmentNameOf(name))
    expect(text).toContain(summary)
    const documented = `${flagOf(name)} ${placeholder} ${summary}`
    expect(text.includes(documented)).toBe(secret !== true)
    const sources = `(environment ${environmentNameOf(name)}, file "${name}"; default: ${defaultOf(name, false)})`
    expect(text.includes(sources)).toBe(secret !== true)
  }
})

test("a server on a store logs JSON, answers probes and metrics, and stops at SIGTERM with exit code 0", async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, "chancery.json")
  await writeFile(file, JSON.stringify({ data: join(folder.path, "data"), rateLimit: 7 }))
  await using served = await serve(["serve", "--config", file])

  const unknown = await request(`${served.url}/api/v2/organizations/nobody/workspaces/none`)
  expect(unknown.statusCode).toBe(401)
  expect(unknown.headers["x-ratelimit-limit"]).toBe("7")
  const metrics = await request(`${served.url}/metrics`)
  expect(await metrics.body.text()).toContain(
    'route="/api/v2/organizations/:organization_name/workspaces/:name",status="401"',
  )

  served.child.kill("SIGTERM")
  const { code, stderr } = await served.ended
  expect(code).toBe(0)
  const events = stderr
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event)
  expect(events).toContain("serving")
  expect(events.slice(-2)).toEqual(["stopping", "stopped"])
})

test("a second signal ends the process without waiting for requests in flight", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path, "--shutdown-delay", "30s"])
  served.child.kill("SIGTERM")
  await expect.poll(() => served.stderr()).toContain('"stopping"')
  served.child.kill("SIGTERM")
  const { code, stderr } = await served.ended
  expect(code).toBe(1)
  expect(stderr).toContain('"stopped without waiting"')
})

test("the server stops when its log is no longer read", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path])
  served.child.stderr?.destroy()
  expect((await request(`${served.url}/api/v2/nothing`)).statusCode).toBe(404)
  served.child.kill("SIGTERM")
  expect((await served.ended).code).toBe(0)
})

test("the server serves only HTTPS with a certificate and its key", async () => {
  await using folder = await temporaryFolder()
  const [certificate, key] = ["certificate", "key"].map((name) =>
    fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url)),
  )
  const port = await freePort()
  const words = ["serve", "--data", folder.path, "--listen", `127.0.0.1:${port}`]
  await using running = start(words, {
    environment: { CHANCERY_TLS_CERT: certificate ?? "", CHANCERY_TLS_KEY: key ?? "" },
  })
  await expect.poll(running.stderr).toContain(`"url":"https://127.0.0.1:${port}"`)
  const dispatcher = new Agent({ connect: { ca: await readFile(certificate ?? "", "utf8") } })
  const { statusCode } = await request(`https://localhost:${port}/readyz`, { dispatcher })
  expect(statusCode).toBe(200)
  await dispatcher.close()
  await expect(request(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow(/socket|closed/)
  running.child.kill("SIGTERM")
  expect((await running.ended).code).toBe(0)
})

test("a renewed certificate is served without a restart, and open connections stay", async () => {
  await using folder = await temporaryFolder()
  const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url))
  const [certificate, key] = [join(folder.path, "tls.crt"), join(folder.path, "tls.key")]
  await copyFile(fixture("certificate"), certificate)
  await copyFile(fixture("key"), key)
  const ports = [await freePort(), await freePort()]
  const words = ["serve", "--data", folder.path, "--tls-cert", certificate, "--tls-key", key]
  await using running = start([...words, "--listen", `127.0.0.1:${ports[0]}`, "--tls-listen", `127.0.0.1:${ports[1]}`])
  await expect.poll(running.stderr).toContain(`"httpsUrl":"https://127.0.0.1:${ports[1]}"`)

  const ready = async (ca: string) => {
    const dispatcher = new Agent({ connect: { ca: await readFile(fixture(ca), "utf8") }, connections: 1 })
    const ask = async () => (await request(`https://localhost:${ports[1]}/readyz`, { dispatcher })).statusCode
    return { ask, [Symbol.asyncDispose]: () => dispatcher.close() }
  }
  await using before = await ready("certificate")
  await using after = await ready("renewed-certificate")
  expect(await before.ask()).toBe(200)
  await expect(after.ask()).rejects.toThrow("self-signed certificate")

  await copyFile(fixture("renewed-key"), key)
  await expect.poll(running.stderr).toContain('"tls certificate not replaced"')
  await copyFile(fixture("renewed-certificate"), certificate)
  await expect.poll(running.stderr).toContain('"tls certificate replaced"')
  expect([await before.ask(), await after.ask()]).toEqual([200, 200])
  expect((await request(`http://127.0.0.1:${ports[0]}/readyz`)).statusCode).toBe(200)

  running.child.kill("SIGTERM")
  expect((await running.ended).code).toBe(0)
})

test("invalid HTTP does not stop the server", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path])
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1", () => socket.write("\u0000\u0001\r\n\r\n"))
    socket.setEncoding("utf8").on("data", resolve).on("error", reject)
  })
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect((await request(`${served.url}/healthz`)).statusCode).toBe(200)
})

test("[F-C3] a port in use ends with one sentence and exit code 75, and leaves no data folder", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path])
  const { host } = new URL(served.url)
  const data = join(folder.path, "second")
  const second = await run(["serve", "--data", data, "--listen", host])
  await expect(access(data)).rejects.toMatchObject({ code: "ENOENT" })
  expect(second).toEqual({
    code: 75,
    out: "",
    stderr: `chancery: ${host} is already in use; stop the process that listens there, or set another address with --listen.\n`,
  })
})

test.each([
  {
    why: "an invalid setting",
    words: ["serve"],
    environment: { CHANCERY_LISTEN: "nowhere" },
    code: 78,
    stderr: /^chancery: The setting listen cannot be "nowhere" \(from CHANCERY_LISTEN\); it must be host:port.*\n$/,
  },
  {
    why: "a missing configuration file",
    words: ["serve", "--config", "absent.json"],
    code: 78,
    stderr: /^chancery: The configuration file absent.json does not exist; correct --config or CHANCERY_CONFIG.\n$/,
  },
  {
    why: "a missing certificate",
    words: ["serve", "--tls-cert", "absent.pem", "--tls-key", "absent.pem"],
    code: 78,
    stderr: /^chancery: The TLS certificate absent.pem cannot be read; check that the file exists and is readable.\n$/,
  },
  {
    why: "an invalid certificate",
    words: ["serve", "--tls-cert", "/dev/null", "--tls-key", "/dev/null"],
    code: 78,
    stderr: /^chancery: The TLS certificate \/dev\/null does not contain PEM; check the path.\n$/,
  },
  {
    why: "a store in an impossible folder",
    words: ["serve", "--storage", "sqlite:/dev/null/chancery.db"],
    code: 78,
    stderr: /^chancery: The store sqlite:\/dev\/null\/chancery.db cannot be opened \(.*\); check .*\n$/,
  },
  {
    why: "an unavailable database server",
    words: ["serve", "--storage", "postgres://chancery:hunter2@127.0.0.1:1/chancery"],
    code: 75,
    stderr: /^chancery: The store postgres:\/\/chancery@127.0.0.1:1\/chancery is not available \(.*ECONNREFUSED.*\n$/,
  },
  { why: "an unknown command", words: ["frobnicate"], code: 64, stderr: /^error: unknown command 'frobnicate'\n$/ },
  { why: "an unknown flag", words: ["serve", "--fast"], code: 64, stderr: /^error: unknown option '--fast'\n$/ },
])("$why ends with exit code $code and one sentence", async ({ words, environment, code, stderr }) => {
  await using folder = await temporaryFolder()
  const ended = await run(words, { folder: folder.path, ...(environment === undefined ? {} : { environment }) })
  expect(ended.code).toBe(code)
  expect(ended.stderr).toMatch(stderr)
  expect(ended.stderr).not.toContain("hunter2")
})

test("--version prints the version of the package", async () => {
  const { code, out } = await start(["--version"]).ended
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
})
