// Kills the real server (SIGKILL) at random moments while a thousand ACME orders are being completed. Every order ends, either valid or
// with an error that gives the reason, and none has two certificates.
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "undici"
import { expect, test } from "vitest"
import { type AcmeIdentifier, AcmeOrders, csrFor, respond, serveAcme } from "../bench/acme-orders.ts"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const isShort = process.env["CHANCERY_SHORT"] === "1"
const orderCount = isShort ? 100 : 1_000
const kills = isShort ? 2 : 5
const longestRunMs = isShort ? 600 : 3_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

const cluster = "https://acme.test/v1/pki"

test.each(sampleOf(crashKinds, 4))(
  `${orderCount} orders in flight survive ${kills} kills on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    let thumbprint = ""
    const responder = await respond(() => thumbprint)
    const server = await CrashingServer.prepare(store, [
      ...["--acme-http-port", String(responder.port)],
      ...["--acme-challenge-ranges", "127.0.0.0/8"],
    ])
    const dispatcher = new Agent({ connections: 32 })
    try {
      const token = await server.rootToken()
      await server.start()
      await serveAcme(cluster, async (path, document) => {
        const { statusCode, body } = await dispatcher.request({
          origin: server.url,
          path: `/v1${path}`,
          method: "POST",
          headers: { "x-service-token": token, "content-type": "application/json" },
          body: JSON.stringify(document),
        })
        expect([statusCode, await body.text()]).toEqual([expect.toSatisfy((status) => status < 300), expect.anything()])
      })
      const client = await AcmeOrders.registered({
        directory: `${cluster}/acme/directory`,
        origin: server.url,
        dispatcher,
        unanswered: () => sleep(50),
      })
      thumbprint = client.thumbprint
      const identifiers = Array.from({ length: orderCount }, (_, at): AcmeIdentifier => ({
        type: "ip",
        value: `127.1.${Math.floor(at / 250)}.${(at % 250) + 1}`,
      }))
      const killing = (async () => {
        for (let round = 0; round < kills; round += 1) {
          await sleep(random(longestRunMs))
          await server.kill()
          await server.start()
        }
      })()
      const ended = await Promise.all(
        identifiers.map(async (identifier) => {
          const csr = await csrFor(identifier)
          const url = await client.newOrder(identifier)
          const order = await client.finish(url, csr)
          return {
            url,
            order,
            certificate: order.status === "valid" ? await client.certificate(order.certificate) : "",
          }
        }),
      )
      await killing
      const valid = ended.filter(({ order }) => order.status === "valid")
      expect(valid.filter(({ certificate }) => !certificate.includes("BEGIN CERTIFICATE"))).toEqual([])
      const others = ended.filter((one) => !valid.includes(one))
      expect(others.filter(({ order }) => order.status !== "invalid" || (order.error?.detail ?? "") === "")).toEqual([])
      expect(valid.length).toBeGreaterThan(orderCount / 2)
      await server.kill()

      await store.expectWhole()
      const number = async (query: string) => Number(Object.values((await store.rows(query))[0] ?? {})[0])
      const ofOrders = "select serial_number from acme_orders where serial_number is not null"
      expect(await number("select count(*) from acme_orders where state = 'processing'")).toBe(0)
      expect(await number("select count(*) from acme_orders where state = 'valid' and serial_number is null")).toBe(0)
      expect(
        await number(
          `select count(*) from (${ofOrders}) as o where serial_number not in (select serial_number from certificates)`,
        ),
      ).toBe(0)
      // Only the mount's root belongs to no order.
      expect(await number(`select count(*) from certificates where serial_number not in (${ofOrders})`)).toBe(1)
      expect(await number(`select count(*) from (${ofOrders}) as o`)).toBeGreaterThanOrEqual(valid.length)
      console.log(`${kills} kills: ${valid.length} of ${orderCount} orders valid`)
    } finally {
      await server.kill()
      await dispatcher.destroy()
      await responder[Symbol.asyncDispose]()
    }
  },
  1_800_000,
)
