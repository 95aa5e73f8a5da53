// Finds or installs the public programs that validate the output of our certificate authority. The third kind of validator, zlint, is a Go
// program of ours around a public library (go-modules.ts).
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { candidates, firstThat, install, type PublicProgram } from "./public-program.ts"

export const openssl: PublicProgram = {
  advice:
    "OpenSSL 3 was not found, so the suites that validate certificates with it do not run. `npm run toolchain` installs it " +
    "where it can; else put its `openssl` on the PATH.",
  find: () => firstThat(/^OpenSSL [3-9]\./, ["version"], candidates("openssl", "openssl")),
  install: () => install("openssl", ["openssl"], async () => ["usr/bin/openssl"]),
}

/** The same package contains `ocsptool`. */
export const certtool: PublicProgram = {
  advice:
    "GnuTLS's certtool was not found, so the suites that validate certificates with it do not run. `npm run toolchain` " +
    "installs it where it can; else put `certtool` and `ocsptool` on the PATH (Debian's package is gnutls-bin).",
  find: () => firstThat(/^certtool 3\./, ["--version"], candidates("gnutls", "certtool")),
  install: () => install("gnutls", ["gnutls-bin"], async () => ["usr/bin/certtool", "usr/bin/ocsptool"]),
}

export const ocsptool = (certtoolProgram: string): string => certtoolProgram.replace(/certtool$/, "ocsptool")

export const java: PublicProgram = {
  advice:
    "No Java 17 or newer with its compiler was found, so the suites that validate certificates with Java do not run. " +
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
      return [join(machines, machine, "bin/java"), join(machines, machine, "bin/keytool")]
    }),
}

/** The same package contains `keytool`. */
export const keytool = (javaProgram: string): string => javaProgram.replace(/java$/, "keytool")
