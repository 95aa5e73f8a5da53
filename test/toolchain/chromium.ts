import { candidates, firstThat, install, type PublicProgram } from "./public-program.ts"

/** Shows pages of the documentation as readers see them. */
export const chromium: PublicProgram = {
  advice:
    "Chromium was not found, so web pages are not checked in a browser. `npm run toolchain` installs it where it can; else put " +
    "`chromium` on the PATH (Debian's package is chromium).",
  find: () => firstThat(/^Chromium \d+/m, ["--version"], candidates("chromium", "chromium")),
  install: () => install("chromium", ["chromium"], async () => ["usr/bin/chromium"]),
}
