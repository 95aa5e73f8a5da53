import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { serve, temporaryFolder } from "../cli/chancery.ts"

const shell = promisify(execFile)
const defaultUrl = "http://127.0.0.1:8420"

/** The shell blocks of the first screen, as they stand there. */
async function firstScreen(): Promise<{ start: string; blocks: readonly string[] }> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
  const [, screen = ""] = readme.split(/^## First screen$/m)
  const [section = ""] = screen.split(/^## /m)
  const [start = "", ...blocks] = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block ?? "")
  return { start, blocks }
}

/** One JSON document after another, as curl leaves them on the terminal. */
const documents = (text: string): unknown[] =>
  text === "" ? [] : text.split(/(?<=\})(?=\{)/).map((document) => JSON.parse(document) as unknown)

test(
  "the first screen, typed as it is written, creates, tags, finds and locks a workspace and shows the conflict",
  {
    timeout: 30_000,
  },
  async () => {
    const { start, blocks } = await firstScreen()
    expect(start).toBe("npm ci && npm start\n")
    await using folder = await temporaryFolder()
    await using served = await serve(["dev"], { folder: folder.path })
    // Only the port differs from what is written: another server may have the usual one.
    const script = blocks.join("\n").replaceAll(defaultUrl, served.url)
    expect(script).not.toBe(blocks.join("\n"))

    const { stdout, stderr } = await shell("sh", ["-e", "-c", script], { cwd: folder.path })

    expect(stderr).toBe("")
    const network = { type: "workspaces", attributes: { name: "network" } }
    expect(documents(stdout)).toMatchObject([
      { data: network },
      { data: [network], meta: { pagination: { "total-count": 1 } } },
      { data: { ...network, attributes: { locked: true, "locked-reason": "moving subnets" } } },
      { errors: [{ status: "409", title: "conflict" }] },
    ])
  },
)

test("npm start runs what the first screen was tried with", async () => {
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>
  }
  expect(manifest.scripts["start"]).toMatch(/cli\/main\.js dev$/)
})
