import { createServer } from "node:http"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Command, runProgram } from "@chancery/engine/cli"
import { afterAll, beforeAll, expect, test } from "vitest"
import { clusterCommands } from "./cluster-commands.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-kubectl-"))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a command with a kubeconfig for the server. */
async function run(server: string, ...words: readonly string[]) {
  const kubeconfig = join(folder, "kubeconfig")
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "one", cluster: { server } }],
    users: [{ name: "one", user: {} }],
    contexts: [{ name: "one", context: { cluster: "one", user: "one" } }],
    "current-context": "one",
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  const [out, said]: [string[], string[]] = [[], []]
  const terminal = {
    out: (text: string) => void out.push(text),
    say: (text: string) => void said.push(text),
    input: async () => "",
    environment: {},
  }
  const program = new Command("kubectl chancery")
  for (const command of clusterCommands(terminal)) program.addCommand(command)
  const code = await runProgram(program, [...words, "--kubeconfig", kubeconfig], terminal)
  return { code, out: out.join("\n"), said: said.join("\n") }
}

test("a command ends with 69 when the API server does not answer", async () => {
  const { code, said } = await run("http://127.0.0.1:1", "renew", "--all")
  expect([code, said]).toEqual([
    69,
    expect.stringMatching(/^kubectl chancery: The API server of the cluster does not answer: .*ECONNREFUSED/),
  ])
})

test.each([
  ["renew --all", 1, /does not have the kinds of chancery\.dev; install the CustomResourceDefinitions/],
  ["status certificate", 1, /does not have the kinds of chancery\.dev/],
  ["status", 0, /^certificates are not installed in this cluster\.$/m],
])("%s ends with %i in a cluster without the definitions", async (words, expected, message) => {
  const server = createServer((_request, response) => void response.writeHead(404).end("404 page not found\n"))
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  try {
    const { port } = server.address() as AddressInfo
    const { code, said } = await run(`http://127.0.0.1:${port}`, ...words.split(" "))
    expect([code, said]).toEqual([expected, expect.stringMatching(message)])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test("a command ends with 78 when the kubeconfig cannot be read", async () => {
  const terminal = { out() {}, say: (text: string) => void said.push(text), input: async () => "", environment: {} }
  const said: string[] = []
  const program = new Command("kubectl chancery")
  for (const command of clusterCommands(terminal)) program.addCommand(command)
  expect(await runProgram(program, ["events", "--kubeconfig", join(folder, "none")], terminal)).toBe(78)
  expect(said.join("")).toContain("The kubeconfig cannot be read")
})
