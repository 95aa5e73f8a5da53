// Finds or installs the public ACME clients, and the program that answers challenges for them.
import { join } from "node:path"
import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"
import { findPythonProgram, installPythonProgram } from "./python-programs.ts"
import { candidates, firstThat, install, type PublicProgram } from "./public-program.ts"

export const certbot = client("certbot", /^certbot [2-9]\./)
export const lego = client("lego", /^lego version/)
export const dehydrated = client("dehydrated", /^Dehydrated version: 0\.[7-9]/m)

const certbotFolder = join(import.meta.dirname, "certbot")

/** Debian's certbot lacks renewal information, profiles and IP addresses. */
export const newerCertbot: PublicProgram = {
  advice:
    "certbot 5 was not found, so the suite that gets certificates by it does not run. `npm run toolchain` installs it " +
    "where there is Python 3.10 or newer.",
  find: () => findPythonProgram(certbotFolder),
  install: () => installPythonProgram(certbotFolder),
}

/** A web server that obtains its certificates itself. */
export const caddy: PublicProgram = {
  advice:
    "Caddy was not found, so the suite that has it get its certificate does not run. `npm run toolchain` fetches it where " +
    "it can; else put `caddy` on the PATH (Debian's package is caddy).",
  find: () => firstThat(/^v?2\./m, ["version"], candidates("caddy", "caddy")),
  install: () =>
    installDebianPackages({
      names: ["caddy"],
      folder: cacheFolder("caddy"),
      programs: async () => ["usr/bin/caddy"],
      isService: true,
    }),
}

/** A web server that obtains its certificates with mod_md. */
export const apache: PublicProgram = {
  advice:
    "Apache was not found, so the suite that has it get its certificate does not run. `npm run toolchain` installs it where it " +
    "can; else put `apache2` on the PATH (Debian's package is apache2-bin).",
  find: () => firstThat(/Apache\/2\.4/, ["-v"], [...candidates("apache", "apache2"), join(systemPrograms, "apache2")]),
  install: () => install("apache", ["apache2-bin"], async () => ["usr/sbin/apache2"]),
}
/** Not on every user's PATH. */
const systemPrograms = "/usr/sbin"
export const apacheModules = (program: string): string =>
  join(program.startsWith(cacheFolder("apache")) ? join(cacheFolder("apache"), "root") : "/", "usr/lib/apache2/modules")

/** Answers DNS, HTTP and TLS as tests configure it. Part of the package of the ACME server Pebble. */
export const challengeResponder: PublicProgram = {
  advice:
    "pebble-challtestsrv was not found, so the suites of ACME clients do not run. `npm run toolchain` installs it where it " +
    "can; else put it on the PATH (Debian's package is pebble).",
  find: () => firstThat(/-tlsalpn01/, ["-help"], candidates("pebble", "pebble-challtestsrv")),
  install: () => install("pebble", ["pebble"], async () => ["usr/bin/pebble-challtestsrv", "usr/bin/pebble"]),
}

/** The ACME server of the same package, with which others are compared. */
export const pebble: PublicProgram = {
  ...challengeResponder,
  advice:
    "pebble was not found, so nothing is compared with it. `npm run toolchain` installs it where it can; else put it on the " +
    "PATH (Debian's package is pebble).",
  find: () => firstThat(/-dnsserver/, ["-help"], candidates("pebble", "pebble")),
}

function client(name: string, pattern: RegExp): PublicProgram {
  return {
    advice:
      `${name} was not found, so the suite that gets certificates by it does not run. \`npm run toolchain\` installs it ` +
      `where it can; else put it on the PATH (Debian's package is ${name}).`,
    find: () => firstThat(pattern, ["--version"], candidates(name, name)),
    install: () => install(name, [name], async () => [`usr/bin/${name}`]),
  }
}
