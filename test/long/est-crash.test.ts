// Kills the real server (SIGKILL) at random moments while devices enrol by EST and their requests are approved. Each device repeats its
// request until it has a certificate, and then once more. An approval counts once: no device has two certificates.
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "undici"
import { expect, test } from "vitest"
import { certificatesIn, deviceRequest } from "../../engine/testing/est-mount.ts"
import { cheapPasswordHash } from "../../engine/testing/cheap-password.ts"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"
import { sampleOf } from "./sample.ts"

const isShort = process.env["CHANCERY_SHORT"] === "1"
const devices = isShort ? 40 : 400
const kills = isShort ? 2 : 8
const longestRunMs = isShort ? 600 : 3_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

interface Sent {
  readonly status: number
  readonly text: string
}

test.each(sampleOf(crashKinds, 5))(
  `${devices} devices that wait for an approval survive ${kills} kills on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    const dispatcher = new Agent({ connections: 32 })
    const basic = `Basic ${Buffer.from("printer:password").toString("base64")}`
    /** Repeats a request that got no answer, or that the server could not serve. */
    const send = async (
      method: "GET" | "POST",
      path: string,
      headers: Record<string, string>,
      body?: string,
    ): Promise<Sent> => {
      for (;;) {
        try {
          const sent = { origin: server.url, path, method, headers, ...(body === undefined ? {} : { body }) }
          const answer = await dispatcher.request(sent)
          const text = await answer.body.text()
          if (answer.statusCode < 500) return { status: answer.statusCode, text }
        } catch {
          // The server is down.
        }
        await sleep(50)
      }
    }
    try {
      const token = await server.rootToken()
      await server.start()
      const administer = async (method: "GET" | "POST", path: string, document?: object): Promise<Sent> => {
        const headers = { "x-service-token": token, "content-type": "application/json" }
        return send(method, `/v1${path}`, headers, document && JSON.stringify(document))
      }
      await administer("POST", "/sys/mounts/pki", { type: "pki" })
      await administer("POST", "/pki/root/generate/internal", { common_name: "Root", key_type: "ec", ttl: "700h" })
      await administer("POST", "/pki/roles/web", { allow_any_name: true, key_type: "ec", ttl: "1h" })
      await administer("POST", "/sys/policies/acl/devices", {
        policy: 'path "pki/roles/web/est/*" { capabilities = ["update"] }',
      })
      await administer("POST", "/sys/auth/devices", { type: "userpass" })
      await administer("POST", "/auth/devices/users/printer", {
        password_hash: cheapPasswordHash,
        token_policies: "devices",
      })
      const { data } = JSON.parse((await administer("GET", "/sys/auth/devices")).text) as { data: { accessor: string } }
      await administer("POST", "/sys/mounts/pki/tune", { delegated_auth_accessors: data.accessor })
      const configured = await administer("POST", "/pki/config/est", {
        enabled: true,
        default_path_policy: "role:web",
        authenticators: { userpass: { accessor: data.accessor } },
        manual_approval: "*",
      })
      expect(configured.status).toBe(200)

      const enroll = async (body: string): Promise<Sent> => {
        for (;;) {
          const headers = { authorization: basic, "content-type": "application/pkcs10" }
          const answer = await send("POST", "/v1/pki/est/simpleenroll", headers, body)
          if (answer.status === 200) return answer
          // 429: one user has at most 100 requests in the queue.
          expect(answer).toMatchObject({ status: expect.toSatisfy((status) => status === 202 || status === 429) })
          await sleep(20)
        }
      }
      const allIssued = new AbortController()
      const approving = (async () => {
        while (!allIssued.signal.aborted) {
          const listed = await administer("GET", "/pki/enrolments?list=true&state=pending")
          const { keys = [] } = (JSON.parse(listed.text) as { data?: { keys?: readonly string[] } }).data ?? {}
          for (const id of keys) await administer("POST", `/pki/enrolments/${id}/approve`, {})
          await sleep(20)
        }
      })()
      const killing = (async () => {
        for (let round = 0; round < kills; round += 1) {
          await sleep(random(longestRunMs))
          await server.kill()
          await server.start()
        }
      })()
      const waiting = Array.from({ length: devices }, (_, at) => at)
      const enrolled: string[] = []
      const enrolOthers = async (): Promise<void> => {
        for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
          const body = Buffer.from((await deviceRequest(`printer-${at}.example.com`)).der).toString("base64")
          const first = (await enroll(body)).text
          expect((await enroll(body)).text).toBe(first)
          enrolled.push(first)
        }
      }
      await Promise.all(Array.from({ length: 24 }, enrolOthers))
      await killing
      allIssued.abort()
      await approving
      await server.kill()

      expect(new Set(enrolled).size).toBe(devices)
      const [bundle = ""] = enrolled
      expect(certificatesIn({ status: 200, headers: new Headers(), text: bundle })).toHaveLength(1)
      await store.expectWhole()
      const number = async (query: string) => Number(Object.values((await store.rows(query))[0] ?? {})[0])
      // Besides those of the devices there is the root's own.
      expect(await number("select count(*) from certificates")).toBe(devices + 1)
      expect(await number("select count(*) from enrolments where state = 'issued'")).toBe(devices)
      expect(
        await number(
          "select count(*) from enrolments where serial_number is null or serial_number not in (select serial_number from certificates)",
        ),
      ).toBe(0)
      console.log(`${kills} kills: ${devices} devices have one certificate each`)
    } finally {
      await server.kill()
      await dispatcher.destroy()
    }
  },
  1_800_000,
)
