// Finds or downloads Bouncy Castle, a Java library with a public client of EST. Maven downloads it from the repository of its own settings.
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { candidates, firstThat, install, type PublicProgram } from "./public-program.ts"

const version = "1.87"
/** SHA-256 of the archives. The first one depends on the others. */
const archives = {
  "bcpkix-jdk18on": "a44be2660d72ed88673372b8cc2d53a25a5aaf27122fb803ed93f07147536aa1",
  "bcutil-jdk18on": "af46dd381553fdc466cd0c18f8bf2144c7dbcb7337eee3e16cab15e96613ddf0",
  "bcprov-jdk18on": "12d2d3dd82a9ec15e92ec7c7943ee64f6097c6dc12c07e984f1693b77565b9aa",
} as const

const downloader = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"

const folder = () => cacheFolder(join("bouncy-castle", version))
const paths = (parent: string) => Object.keys(archives).map((name) => join(parent, `${name}-${version}.jar`))

/** `find` returns a class path. */
export const bouncyCastle: PublicProgram = {
  advice:
    `Bouncy Castle ${version} was not found, so the suite that enrols with it does not run. \`npm run toolchain\` downloads it ` +
    "with Maven 3, which it installs where it can; else put `mvn` on the PATH.",
  async find() {
    const found = paths(folder())
    return found.every((path) => existsSync(path)) ? found.join(delimiter) : undefined
  },
  async install() {
    const maven = (await findMaven()) ?? (await installMaven())
    const repository = await mkdtemp(join(tmpdir(), "chancery-maven-"))
    const unfinished = `${folder()}.unfinished`
    try {
      const artifact = `-Dartifact=org.bouncycastle:bcpkix-jdk18on:${version}`
      await promisify(execFile)(maven, [
        "--batch-mode",
        "--quiet",
        downloader,
        artifact,
        `-Dmaven.repo.local=${repository}`,
      ])
      await rm(unfinished, { recursive: true, force: true })
      await mkdir(unfinished, { recursive: true })
      for (const [name, digest] of Object.entries(archives)) {
        const file = `${name}-${version}.jar`
        const archive = await readFile(join(repository, "org/bouncycastle", name, version, file))
        if (createHash("sha256").update(archive).digest("hex") !== digest) throw new Error(`${file} has another digest`)
        await writeFile(join(unfinished, file), archive)
      }
      await rm(folder(), { recursive: true, force: true })
      await rename(unfinished, folder())
    } finally {
      for (const each of [repository, unfinished]) await rm(each, { recursive: true, force: true })
    }
  },
}

const findMaven = () => firstThat(/Apache Maven 3\./, ["--version"], candidates("maven", "mvn"))

async function installMaven(): Promise<string> {
  await install("maven", ["maven"], async () => ["usr/share/maven/bin/mvn"])
  const found = await findMaven()
  if (found === undefined) throw new Error("there is no Maven 3")
  return found
}
