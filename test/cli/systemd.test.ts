// The systemd unit: systemd accepts it, it is as restricted as intended, and its settings, exit codes and folders exist.
import { execFile } from "node:child_process"
import { chmod, copyFile, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { exitCodes } from "../../engine/src/cli/exit-code.ts"
import { environmentNameOf, settingNames, settings } from "../../engine/src/cli/settings.ts"
import { parseDuration } from "../../engine/src/core/time.ts"
import { typedPage } from "../documents/typed-page.ts"
import { printNotice } from "../toolchain/missing.ts"
import { main, run, temporaryFolder } from "./chancery.ts"

const execute = promisify(execFile)
const folder = fileURLToPath(new URL("../../engine/deploy/systemd", import.meta.url))
const unitFile = join(folder, "chancery.service")
const guide = typedPage(import.meta.url, "docs/operations.md")
const dropIns = (await readdir(`${unitFile}.d`)).map((name) => join(`${unitFile}.d`, name))

const answers = await execute("systemd-analyze", ["--version"]).then(
  () => true,
  () => false,
)
if (!answers)
  printNotice("There is no systemd-analyze (Debian's package systemd), so that systemd is not asked about its unit.")

/** Returns all values of each directive, in order. */
async function directivesIn(file: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const directives = new Map<string, string[]>()
  for (const line of (await readFile(file, "utf8")).split("\n")) {
    const [, name = "", value = ""] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? []
    if (name !== "") directives.set(name, [...(directives.get(name) ?? []), value])
  }
  return directives
}

async function only(name: string): Promise<string> {
  const values = (await directivesIn(unitFile)).get(name) ?? []
  expect([name, values.length]).toEqual([name, 1])
  return values[0] ?? ""
}

test("starts an existing command with existing settings", async () => {
  const [program, ...words] = (await only("ExecStart")).split(" ")
  expect(program).toBe("/usr/local/bin/chancery")
  expect(await run([...words, "--help"])).toMatchObject({ code: 0, stderr: "" })
  const known = settingNames.map(environmentNameOf)
  for (const file of [unitFile, ...dropIns])
    for (const assignment of (await directivesIn(file)).get("Environment") ?? []) {
      const [name = ""] = assignment.split("=")
      expect(["NODE_ENV", ...known]).toContain(name)
    }
})

test("writes only to folders that systemd creates", async () => {
  const unit = await directivesIn(unitFile)
  const made = [`/var/lib/${await only("StateDirectory")}`, `/var/log/${await only("LogsDirectory")}`]
  const paths = (unit.get("Environment") ?? []).flatMap((assignment) => assignment.split("=/")[1] ?? [])
  expect(paths).toHaveLength(2)
  for (const path of paths)
    expect(made.some((folder) => `/${path}` === folder || `/${path}`.startsWith(`${folder}/`))).toBe(true)
  expect(unit.get("ProtectSystem")).toEqual(["strict"])
})

test("is restarted after failures, but not with invalid settings, and has time to stop", async () => {
  expect(await only("Restart")).toBe("on-failure")
  expect(await only("RestartPreventExitStatus")).toBe(String(exitCodes.configuration))
  const { shutdownDelay, shutdownGrace } = settings
  const endingMs = [shutdownDelay, shutdownGrace].reduce((sum, each) => sum + (parseDuration(each.default) ?? NaN), 0)
  expect(Number(await only("TimeoutStopSec")) * 1000).toBeGreaterThanOrEqual(endingMs + 10_000)
})

describe.skipIf(!answers)("systemd", () => {
  test.each([["alone"], ["with postgres.conf"], ["with port-443.conf"]])("accepts the unit %s", async (which) => {
    await using place = await temporaryFolder()
    const unit = join(place.path, "chancery.service")
    // Neither the command nor its user exists on this machine.
    const text = await readFile(unitFile, "utf8")
    const program = join(place.path, "chancery")
    await writeFile(program, "#!/bin/sh\n")
    await chmod(program, 0o755)
    await writeFile(
      unit,
      text.replace("/usr/local/bin/chancery", program).replace(/^(User|Group)=chancery$/gm, "$1=root"),
    )
    const dropIn = dropIns.find((file) => which.endsWith(file.split("/").at(-1) ?? ""))
    expect(dropIn === undefined).toBe(which === "alone")
    if (dropIn !== undefined) {
      await mkdir(`${unit}.d`)
      await copyFile(dropIn, join(`${unit}.d`, "drop-in.conf"))
    }
    const { stderr } = await execute("systemd-analyze", ["verify", "--man=no", unit])
    expect(stderr.split("\n").filter((line) => line.includes(place.path) || line.includes("chancery"))).toEqual([])
  })

  test("reports an invalid unit", async () => {
    await using place = await temporaryFolder()
    const unit = join(place.path, "chancery.service")
    await writeFile(unit, "[Service]\nExecStart=/bin/true\nProtectSytem=strict\n")
    const { stderr } = await execute("systemd-analyze", ["verify", "--man=no", unit])
    expect(stderr).toContain("ProtectSytem")
  })

  test("reports a low exposure of the unit", async () => {
    await using place = await temporaryFolder()
    const unit = join(place.path, "chancery.service")
    await copyFile(unitFile, unit)
    const analyze = (threshold: number) =>
      execute("systemd-analyze", ["security", "--offline=true", `--threshold=${threshold}`, "--no-pager", unit])
    expect((await analyze(20)).stdout).toMatch(/Overall exposure level for chancery\.service: 1\.\d OK/)
    await expect(analyze(1)).rejects.toThrow("--threshold=1 ")
  })

  test("accepts the commands of the guide, typed as written, for a machine in a folder", async () => {
    await using place = await temporaryFolder()
    const block = guide.block("systemd")
    const enabling = block.only(/^systemctl enable/).commands.join("")
    // A folder has no running systemd, so nothing is started or reloaded there, and the groups of the guide do not exist.
    await block.without(/^systemctl /).type({
      folder: fileURLToPath(new URL("../..", import.meta.url)),
      environment: process.env,
      placed: (script) =>
        script
          .replaceAll("/etc/", `${place.path}/etc/`)
          .replace(/^systemd-sysusers$/m, `systemd-sysusers --root=${place.path}`)
          .replace(" -g chancery", ""),
      after: enabling.replace("systemctl enable --now", `systemctl --root=${place.path} enable`),
    })
    const text = (path: string) => readFile(join(place.path, "etc", path), "utf8")
    expect(await text("passwd")).toMatch(/^chancery:.*:\/var\/lib\/chancery:/m)
    expect(await text("systemd/system/chancery.service")).toBe(await readFile(unitFile, "utf8"))
    const enabled = join(place.path, "etc/systemd/system/multi-user.target.wants/chancery.service")
    expect(await readlink(enabled)).toMatch(/systemd\/system\/chancery\.service$/)
    expect(await text("chancery/environment")).toBe("CHANCERY_PUBLIC_URL=https://chancery.example\n")
  })

  test("gives commands its user and its folders, typed as written", async () => {
    await using place = await temporaryFolder()
    const program = join(place.path, "chancery")
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
    for (const folder of ["lib", "log"]) await mkdir(`${place.path}/var/${folder}/chancery`, { recursive: true })
    const out = await guide.block("systemd", 1).type({
      folder: place.path,
      environment: { ...process.env, PATH: [place.path, process.env["PATH"]].join(delimiter) },
      // The server's user does not exist.
      placed: (script) => script.replaceAll("/var/", `${place.path}/var/`).replace("runuser -u chancery -- ", ""),
    })
    expect(out.trim().split("\n").at(-1)).toMatch(/\S{20}/)
    const [command = ""] = guide.block("systemd", 1).commands
    const environment = (await directivesIn(unitFile)).get("Environment") ?? []
    for (const assignment of environment.filter((each) => each.startsWith("CHANCERY_")))
      expect(command).toContain(` ${assignment} `)
  })

  test("creates the user", async () => {
    const { stdout, stderr } = await execute("systemd-sysusers", ["--dry-run", join(folder, "chancery.sysusers")])
    expect(`${stdout}${stderr}`).toMatch(/[Cc]reat.*chancery/)
  })
})
