import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"
import { candidates, firstThat, type PublicProgram } from "./public-program.ts"

/** Checks rules and expressions of Prometheus, and evaluates them on recorded series. */
export const promtool: PublicProgram = {
  advice:
    "promtool was not found, so alerts and dashboards are not checked. `npm run toolchain` fetches it where it can; else put " +
    "`promtool` on the PATH (Debian's package is prometheus).",
  find: () => firstThat(/^promtool, version [2-9]\./m, ["--version"], candidates("prometheus", "promtool")),
  install: () =>
    installDebianPackages({
      names: ["prometheus"],
      folder: cacheFolder("prometheus"),
      programs: async () => ["usr/bin/promtool"],
      isService: true,
    }),
}
