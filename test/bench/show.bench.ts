// Showing one workspace over HTTP, relative to a handler on the same server that sends the same SELECTs and returns a constant of the same
// size. Rounds alternate, and the ratio is the median over pairs, so that variations of the machine cancel out.
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { median, report } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const rounds = 7
const seconds = 1.5
const clients = 16

interface Served {
  readonly port: number
  readonly token: string
  readonly showPath: string
  readonly selects: number
  readonly bytes: number
}

const child = fork(fileURLToPath(new URL("show-server.ts", import.meta.url)), { execArgv: [] })
const [served] = (await once(child, "message")) as [Served]
const { port, token } = served

const rate = async (path: string) => {
  const request = rawRequest("GET", path, token)
  const { requestsPerSecond, refused } = await measureLoad({
    port,
    seconds,
    clients: Array.from({ length: clients }, () => [request]),
  })
  if (refused > 0) throw new Error(`${path} was refused ${refused} times`)
  return requestsPerSecond
}

for (const path of [served.showPath, "/selects", "/empty"]) await rate(path)
const shows: number[] = []
const selects: number[] = []
const empties: number[] = []
for (let round = 0; round < rounds; round += 1) {
  shows.push(await rate(served.showPath))
  selects.push(await rate("/selects"))
  empties.push(await rate("/empty"))
}
child.disconnect()

report("show", median(shows), `requests/s (${served.selects} SELECTs, ${served.bytes} bytes)`)
report("same SELECTs with a constant answer", median(selects), "requests/s")
report("empty handler", median(empties), "requests/s")
report("show / same SELECTs", median(shows.map((show, round) => show / (selects[round] ?? Number.NaN))), "")
report("show / empty handler", median(shows.map((show, round) => show / (empties[round] ?? Number.NaN))), "")
