// Finds the public programs that judge what our certificate authority makes, or installs them. The third kind of judge,
// zlint, is a Go program of ours around a public library (go-modules.ts).
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"
import { sayMissing } from "./missing.ts"

interface PublicJudge {
  readonly advice: string
  /** The program, as it is to be called. */
  find(): Promise<string | undefined>
  install(): Promise<void>
}

export const openssl: PublicJudge = {
  advice:
    "OpenSSL 3 was not found, so the suites that have it judge certificates do not run. `npm run toolchain` installs it " +
    "where it can; else put its `openssl` on the PATH.",
  find: () => firstThat(/^OpenSSL [3-9]\./, ["version"], candidates("openssl", "openssl")),
  install: () => install("openssl", ["openssl"], async () => ["usr/bin/openssl"]),
}

/** Its `ocsptool` is in the same package. */
export const certtool: PublicJudge = {
  advice:
    "GnuTLS's certtool was not found, so the suites that have it judge certificates do not run. `npm run toolchain` " +
    "installs it where it can; else put `certtool` and `ocsptool` on the PATH (Debian's package is gnutls-bin).",
  find: () => firstThat(/^certtool 3\./, ["--version"], candidates("gnutls", "certtool")),
  install: () => install("gnutls", ["gnutls-bin"], async () => ["usr/bin/certtool", "usr/bin/ocsptool"]),
}

export const ocsptool = (certtoolProgram: string): string => certtoolProgram.replace(/certtool$/, "ocsptool")

export const java: PublicJudge = {
  advice:
    "No Java 17 or newer with its compiler was found, so the suites that have Java judge certificates do not run. " +
    "`npm run toolchain` installs one where it can; else put a JDK's `java` on the PATH or name its folder in JAVA_HOME.",
  find: () =>
    firstThat(
      /^java\.base@(1[7-9]|[2-9]\d)[^]*^jdk\.compiler@/m,
      ["--list-modules"],
      [
        ...(process.env["JAVA_HOME"] ? [join(process.env["JAVA_HOME"], "bin/java")] : []),
        ...candidates("java", "java"),
      ],
    ),
  install: () =>
    install("java", ["default-jdk-headless"], async (root) => {
      const machines = "usr/lib/jvm"
      const [machine] = (await readdir(join(root, machines))).filter((name) => /^java-\d+-/.test(name))
      if (machine === undefined) throw new Error("the packages held no Java")
      return [join(machines, machine, "bin/java")]
    }),
}

/** Undefined, and said loudly, where there is none; in CI that is an error. */
export const publicJudge = async ({ find, advice }: PublicJudge): Promise<string | undefined> =>
  (await find()) ?? sayMissing(advice)

const candidates = (tool: string, program: string): readonly string[] => [
  program,
  join(cacheFolder(tool), "bin", program),
]

const install = (tool: string, names: readonly string[], programs: (root: string) => Promise<readonly string[]>) =>
  installDebianPackages({ names, folder: cacheFolder(tool), programs })

/** The first program that answers the arguments with what the pattern finds. */
async function firstThat(
  pattern: RegExp,
  args: readonly string[],
  programs: readonly string[],
): Promise<string | undefined> {
  for (const program of programs) {
    if (program.includes("/") && !existsSync(program)) continue
    const answer = await promisify(execFile)(program, args).catch(() => undefined)
    if (answer !== undefined && pattern.test(answer.stdout)) return program
  }
  return undefined
}
