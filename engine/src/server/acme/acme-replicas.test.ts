import { describe, expect, onTestFinished, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { AcmeTestClient, newAcmeKey, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster, newAcmeMount, openChallengeServer } from "../../../testing/acme-mount.ts"
import { csrFor, hurriedTime, localhost, readyOrder } from "../../../testing/acme-engine.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const base = `${acmeCluster}/acme`

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "on $name",
  (kind) => {
    async function newServers(jobs: readonly boolean[]) {
      const opened = new AsyncDisposableStack()
      onTestFinished(() => opened.disposeAsync())
      const { url } = opened.use(await kind.place())
      const responder = opened.use(await openChallengeServer())
      const acme = { httpPort: responder.port, permitted: { kinds: ["loopback"], ranges: [] } } as const
      const time = hurriedTime()
      const worlds = []
      for (const one of jobs) worlds.push(opened.use(await openTestEngine({ url, acme, jobs: one, ...time })))
      const [first, second] = worlds
      if (first === undefined || second === undefined) throw new Error("two servers were asked for")
      await newAcmeMount(first)
      return { first, second, responder }
    }

    test("an order that one server leaves unfinished is completed by another", async () => {
      const { first, responder } = await newServers([false, true])
      const client = await AcmeTestClient.registered(first, base)
      const { finalize, url } = await readyOrder(client, responder)
      const finalized = await client.post(finalize, { csr: await csrFor(["localhost"]) })
      expect(finalized.body.status).toBe("processing")
      expect(finalized.headers.get("retry-after")).toBe("1")
      await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("valid")
      expect((await client.post(`${url}/cert`)).body).toContain("BEGIN CERTIFICATE")
    })

    test("an order that is finalized on several servers at once gets one certificate", async () => {
      const { first, second, responder } = await newServers([true, true])
      const client = await AcmeTestClient.registered(first, base)
      const elsewhere = await AcmeTestClient.open(second, base)
      Object.assign(elsewhere, { key: client.key, account: client.account })
      const before = (await first.pki("LIST", "/pki/certs")).body.data.keys.length
      const orders = 8
      for (let count = 0; count < orders; count += 1) {
        const { finalize, url } = await readyOrder(client, responder)
        const [one, other] = [await csrFor(["localhost"]), await csrFor(["localhost"])]
        const answers = await Promise.all([
          client.post(finalize, { csr: one }),
          elsewhere.post(finalize, { csr: other }),
        ])
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]))
        await expect.poll(async () => (await elsewhere.post(url)).body.status, { timeout: 10_000 }).toBe("valid")
      }
      expect((await first.pki("LIST", "/pki/certs")).body.data.keys).toHaveLength(before + orders)
    })

    test("a key change on one server takes effect on another that cached the old key", async () => {
      const { first, second } = await newServers([false, false])
      const client = await AcmeTestClient.registered(first, base)
      const elsewhere = await AcmeTestClient.open(second, base)
      Object.assign(elsewhere, { key: client.key, account: client.account })
      const order = { identifiers: [localhost] }
      expect((await elsewhere.post("/new-order", order)).status).toBe(201)
      const [key, url] = [await newAcmeKey(), `${base}/key-change`]
      const inner = { account: client.account, oldKey: client.key.jwk }
      const changed = await client.post(url, await signedBy(key, { alg: key.alg, jwk: key.jwk, url }, inner))
      expect(changed.status).toBe(200)
      expect(await elsewhere.post("/new-order", order)).toMatchObject({ status: 403, problem: "unauthorized" })
      elsewhere.key = key
      expect((await elsewhere.post("/new-order", order)).status).toBe(201)
    })

    test("an account that is deactivated on one server is rejected by another that cached its key", async () => {
      const { first, second } = await newServers([false, false])
      const client = await AcmeTestClient.registered(first, base)
      const elsewhere = await AcmeTestClient.open(second, base)
      Object.assign(elsewhere, { key: client.key, account: client.account })
      const order = { identifiers: [localhost] }
      expect((await elsewhere.post("/new-order", order)).status).toBe(201)
      expect((await client.post(client.account ?? "", { status: "deactivated" })).status).toBe(200)
      expect(await elsewhere.post("/new-order", order)).toMatchObject({ status: 401, problem: "unauthorized" })
    })
  },
)
