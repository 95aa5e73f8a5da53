// Finds or installs a Python with hvac, the public client of the certificate API.
import { join } from "node:path"
import { findPythonProgram, installPythonProgram } from "./python-programs.ts"
import type { PublicProgram } from "./public-program.ts"

const folder = join(import.meta.dirname, "hvac")

export const pythonWithHvac: PublicProgram = {
  advice:
    "A Python with hvac was not found, so the suite that asks by it does not run. `npm run toolchain` installs it where there is " +
    "Python 3.10 or newer.",
  find: () => findPythonProgram(folder, "python"),
  install: () => installPythonProgram(folder),
}
