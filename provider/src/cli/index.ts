// What the command `chancery-pulumi` does: re-exports only.
export { run, type Terminal } from "./program.ts"
