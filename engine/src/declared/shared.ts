// Common part of all kinds, for programs that load kinds only when needed: re-exports only.
export {
  type Changes,
  type Created,
  type Declarant,
  type Definition,
  type Known,
  type DeclaredResource,
  type Origin,
  maxOrigin,
  PartlyCreated,
  type Removal,
  type Values,
} from "./declared-resource.ts"
export { defaultTextOf, describe } from "./description.ts"
export { maxOwner } from "../core/owner.ts"
export { systemRuntime } from "../core/runtime.ts"
