// The server logs to standard error once that its database is unreachable, and once that it is back.
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { findPostgresBinaries, postgresInstallation, startOwnPostgres } from "../toolchain/postgres.ts"
import { warnMissing } from "../toolchain/missing.ts"
import { serve, temporaryFolder } from "./chancery.ts"

const binaries = (await findPostgresBinaries()) ?? warnMissing(postgresInstallation)

interface Line {
  readonly level: string
  readonly event: string
}

test.skipIf(binaries === undefined)(
  "a database that restarts twice is logged twice, whichever request meets the outage",
  async () => {
    await using folder = await temporaryFolder()
    const postgres = await startOwnPostgres(binaries!)
    await using closing = new AsyncDisposableStack()
    closing.defer(() => postgres.stop())
    const served = closing.use(
      await serve(["serve", "--storage", postgres.url, "--data", folder.path, "--access-log", "off"], {
        environment: { CHANCERY_SEAL_KEY: Buffer.alloc(32, 7).toString("base64") },
      }),
    )
    const status = async (path: string) => {
      const answer = await fetch(`${served.url}${path}`, { headers: { authorization: "Bearer none" } })
      await answer.body?.cancel()
      return answer.status
    }
    // Every job has started by then.
    await expect.poll(() => served.stderr().split("\n").length).toBeGreaterThan(1)
    for (const mode of ["fast", "immediate"] as const) {
      await postgres.halt(mode)
      // Requests, probes and jobs all notice the failure.
      for (let count = 0; count < 20; count += 1) {
        expect(await status("/api/v2/account/details")).toBe(503)
        expect(await status("/readyz")).toBe(503)
      }
      await sleep(5_000)
      await postgres.start()
      await expect.poll(() => status("/readyz")).toBe(200)
    }
    served.child.kill("SIGTERM")
    const { code, stderr } = await served.ended
    expect(code).toBe(0)
    const lines = stderr.trimEnd().split("\n")
    expect(lines.filter((line) => line.includes("stack"))).toEqual([])
    const events = lines
      .map((line) => JSON.parse(line) as Line)
      .map(({ level, event }) => `${level} ${event}`)
      .filter((line) => !["info serving", "info stopping", "info stopped"].includes(line))
    const outage = ["error database-away", "info database-back"]
    expect(events).toEqual([...outage, ...outage])
  },
)
