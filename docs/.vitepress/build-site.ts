// Builds the documentation as a website in docs/.vitepress/dist. With `--check`, also looks for accessibility faults on three pages with axe
// in headless Chromium. VitePress itself fails on links to missing pages.
import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import { existsSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { chromium as chromiumProgram } from "../../test/toolchain/chromium.ts"

const folder = import.meta.dirname
const site = join(folder, "dist")
/** A page of prose, one with long tables, and one with a diagram. */
const checkedPages = ["/", "/docs/configuration.html", "/docs/architecture.html"]

if (!isInstalled()) execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" })
execFileSync(process.execPath, [join(folder, "node_modules/vitepress/bin/vitepress.js"), "build", ".."], {
  cwd: folder,
  stdio: "inherit",
})
if (process.argv.includes("--check") && !(await isAccessible())) process.exitCode = 1

/** Returns true if the installed packages are those of the lockfile. */
function isInstalled(): boolean {
  const installed = join(folder, "node_modules/.package-lock.json")
  if (!existsSync(installed)) return false
  const versions = (
    file: string,
  ): Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>> =>
    (JSON.parse(readFileSync(file, "utf8")) as { readonly packages: ReturnType<typeof versions> }).packages
  const present = versions(installed)
  return Object.entries(versions(join(folder, "package-lock.json"))).every(
    ([path, { version, optional }]) => path === "" || optional === true || present[path]?.version === version,
  )
}

async function isAccessible(): Promise<boolean> {
  const program = (await chromiumProgram.find()) ?? fail(chromiumProgram.advice)
  const executablePath = execFileSync("sh", ["-c", 'command -v "$0"', program], { encoding: "utf8" }).trim()
  const { chromium } = await import("playwright-core")
  const axe = readFileSync(join(folder, "node_modules/axe-core/axe.min.js"), "utf8")
  await using server = await serveSite()
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  let faultCount = 0
  try {
    const context = await browser.newContext()
    for (const path of checkedPages) {
      const page = await context.newPage()
      const errors: string[] = []
      page.on("pageerror", (error) => errors.push(error.message))
      await page.goto(server.url + path, { waitUntil: "networkidle" })
      await page.addScriptTag({ content: axe })
      const { violations } = await page.evaluate(() => (globalThis as unknown as AxeWindow).axe.run())
      for (const { id, help, nodes } of violations)
        process.stdout.write(`${path}: ${id}: ${help}\n${nodes.map(({ html }) => `  ${html}\n`).join("")}`)
      for (const error of errors) process.stdout.write(`${path}: ${error}\n`)
      faultCount += violations.length + errors.length
      process.stdout.write(`${path}: ${violations.length} accessibility faults, ${errors.length} script errors\n`)
    }
  } finally {
    await browser.close()
  }
  return faultCount === 0
}

interface AxeWindow {
  readonly axe: {
    run(): Promise<{
      readonly violations: readonly {
        readonly id: string
        readonly help: string
        readonly nodes: readonly { readonly html: string }[]
      }[]
    }>
  }
}

async function serveSite(): Promise<{ readonly url: string } & AsyncDisposable> {
  const types: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname
    const file = join(site, path.endsWith("/") ? `${path}index.html` : path)
    const isFile = file.startsWith(site) && existsSync(file)
    response.writeHead(isFile ? 200 : 404, { "content-type": types[extname(file)] ?? "application/octet-stream" })
    response.end(isFile ? readFileSync(file) : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new TypeError("the server has no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function fail(message: string): never {
  throw new Error(message)
}
