// Recognizes errors of the engine by their shape, because the package that defines the class is loaded on demand.
import type { EngineError } from "@chancery/engine"

export type Rejection = Pick<EngineError, "code" | "faults" | "message" | "notSent">

export const isRejection = (error: unknown): error is Rejection =>
  error instanceof Error && error.name === "EngineError" && "code" in error && "faults" in error
