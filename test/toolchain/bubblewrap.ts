import { candidates, firstThat, install, type PublicProgram } from "./public-program.ts"

/** Isolates the commands of runs. */
export const bubblewrap: PublicProgram = {
  advice:
    "No bwrap that can create namespaces was found, so runs in sandboxes are not tested. `npm run toolchain` installs it where it " +
    "can; else put `bwrap` on the PATH (Debian's package is bubblewrap) and allow unprivileged user namespaces.",
  find: async () => {
    const found = await firstThat(/^bubblewrap /, ["--version"], candidates("bubblewrap", "bwrap"))
    const works = ["--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "echo", "works"]
    return found === undefined ? undefined : firstThat(/^works$/m, works, [found])
  },
  install: () => install("bubblewrap", ["bubblewrap"], async () => ["usr/bin/bwrap"]),
}
