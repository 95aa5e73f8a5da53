// Three servers of the previous commit's build run on one PostgreSQL, behind a balancer that checks readiness. They are replaced one by one
// with servers of this build, under load. No request fails and no acknowledged change is lost. CHANCERY_UPGRADE_FROM names another commit
// to upgrade from.
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { request } from "undici"
import { expect, test } from "vitest"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { respond } from "../bench/acme-orders.ts"
import { builtChancery, run, serve, type Served, temporaryFolder } from "../cli/chancery.ts"
import { buildOf, commitNamed } from "./previous-build.ts"
import { TcpBalancer } from "./tcp-balancer.ts"
import { prepare, UpgradeLoad } from "./upgrade-load.ts"

const replicaCount = 3
/** Rounds of every kind of client between two replacements. */
const rounds = process.env["CHANCERY_SHORT"] === "1" ? 5 : 50
const readinessCheckMs = 50

const postgres = databaseKinds.find(({ name, available }) => name === "PostgreSQL" && available)
const from = await commitNamed(process.env["CHANCERY_UPGRADE_FROM"] ?? "HEAD~1")

test.skipIf(postgres === undefined || from === undefined)(
  `${replicaCount} servers of ${from?.slice(0, 7)} are replaced by this build and no request fails`,
  async () => {
    if (postgres === undefined || from === undefined) throw new Error("skipped")
    await using previous = await buildOf(from)
    await promisify(execFile)("npm", ["exec", "--", "tsc", "-b", "engine"], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    })
    await using place = await postgres.place({ empty: true })
    await using folder = await temporaryFolder()
    let thumbprint = ""
    await using responder = await respond(() => thumbprint)
    await writeFile(join(folder.path, "seal-key"), randomBytes(32).toString("base64"), { mode: 0o600 })
    const environment = {
      CHANCERY_STORAGE: place.url,
      CHANCERY_SEAL_KEY_FILE: join(folder.path, "seal-key"),
      CHANCERY_RATE_LIMIT: "off",
      CHANCERY_ACCESS_LOG: "off",
      CHANCERY_SHUTDOWN_DELAY: "1s",
      CHANCERY_ACME_HTTP_PORT: String(responder.port),
      CHANCERY_ACME_CHALLENGE_RANGES: "loopback",
    }
    await using running = new AsyncDisposableStack()
    let started = 0
    const replica = async (program: string): Promise<Served> => {
      const data = join(folder.path, `replica-${(started += 1)}`)
      await mkdir(data)
      return running.use(await serve(["serve"], { program, environment: { ...environment, CHANCERY_DATA: data } }))
    }
    const command = async (...words: string[]) => {
      const ended = await run(words, { program: previous.program, environment, folder: folder.path })
      expect([ended.code, ended.stderr]).toEqual([0, ended.stderr])
      return ended.out
    }
    await command("organization", "create", "default", "--email", "upgrade@example.com")
    const token = (await command("token", "create", "--user", "root")).trim()

    const old = await Promise.all(Array.from({ length: replicaCount }, () => replica(previous.program)))
    const balanced = new Set(old)
    await using balancer = new TcpBalancer(old.map(portOf))
    const origin = `http://127.0.0.1:${await balancer.listen()}`
    using checks = checkReadiness(balancer, () => [...balanced])

    await prepare(origin, token)
    await using load = new UpgradeLoad(origin, token)
    await load.begin((text) => (thumbprint = text))
    await load.untilAllHaveGoneOn(rounds)
    for (const leaving of old) {
      const coming = await replica(builtChancery)
      balanced.add(coming)
      await expect.poll(() => balancer.targets, { interval: 20 }).toContain(portOf(coming))
      leaving.child.kill("SIGTERM")
      const { code, stderr } = await leaving.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('"cutRequestCount":0') })
      balanced.delete(leaving)
      await load.untilAllHaveGoneOn(rounds)
      expect(load.failures).toEqual([])
    }
    await load.end()
    expect(load.failures).toEqual([])
    await load.verify()
    expect(checks.sawUnready).toBeGreaterThanOrEqual(replicaCount)
    console.log(`from ${previous.commit}: ${[...load.rounds].map(([kind, count]) => `${kind} ${count}`).join(", ")}`)
  },
  900_000,
)

/** Checks readiness as balancers do, and routes new connections to ready servers only. */
function checkReadiness(
  balancer: TcpBalancer,
  replicas: () => readonly Served[],
): Disposable & { readonly sawUnready: number } {
  const stop = new AbortController()
  let sawUnready = 0
  const check = async () => {
    while (!stop.signal.aborted) {
      const replicasBefore = replicas()
      const ready = await Promise.all(replicasBefore.map(isReady))
      sawUnready += replicasBefore.filter(
        (one, at) => ready[at] === false && balancer.targets.includes(portOf(one)),
      ).length
      balancer.targets = replicasBefore.filter((_, at) => ready[at]).map(portOf)
      await sleep(readinessCheckMs)
    }
  }
  void check()
  return {
    get sawUnready() {
      return sawUnready
    },
    [Symbol.dispose]: () => stop.abort(),
  }
}

const portOf = ({ url }: Served): number => Number(new URL(url).port)

async function isReady({ url }: Served): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`)
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}
