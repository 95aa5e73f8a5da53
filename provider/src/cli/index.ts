// Exports for the executable `chancery-pulumi`. Re-exports only.
export { run, type Terminal } from "./program.ts"
