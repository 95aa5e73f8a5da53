// For tests of packages that use the engine: an engine with its HTTP app but no socket, a manual clock, and reproducible random bytes.
export { manualClock, type ManualClock } from "./manual-clock.ts"
export { stateFile } from "./state-file.ts"
export { seededRandom } from "./seeded-random.ts"
export {
  type Answer,
  openTestEngine,
  type RequestOptions,
  type TestEngine,
  type TestEngineOptions,
} from "./test-engine.ts"
