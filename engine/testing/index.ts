// For tests of what is built on the engine: an engine with its app and no socket, a clock that is moved by hand, and the same
// random bytes at every run.
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
