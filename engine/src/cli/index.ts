// What other packages build their commands from (architecture 0.24). Re-exports only.
export { Command } from "commander"
export { CommandError, exitCodes } from "./exit-code.ts"
export type { ExitCode } from "./exit-code.ts"
export { createProgram } from "./program.ts"
export type { Terminal } from "./terminal.ts"
