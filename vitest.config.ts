import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["engine/src/**/*.test.ts", "test/**/*.test.ts"],
    // These take minutes and have a configuration of their own.
    exclude: ["**/node_modules/**", "test/long/**"],
    globalSetup: ["test/toolchain/global-setup.ts"],
    // Nothing here measures time; a busy machine, or one that stands still for a minute, must not fail what only takes
    // longer there. No test says less for itself.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
