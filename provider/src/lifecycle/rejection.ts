// What an engine throws, known by its shape: the package that defines the class is loaded only when an engine is needed.
import type { EngineError } from "@chancery/engine"

export type Refusal = Pick<EngineError, "code" | "faults" | "message" | "notSent">

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && error.name === "EngineError" && "code" in error && "faults" in error
