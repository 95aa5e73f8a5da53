import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["engine/src/**/*.test.ts", "test/**/*.test.ts"],
    // These take minutes and have a configuration of their own.
    exclude: ["**/node_modules/**", "test/long/**"],
    globalSetup: ["test/toolchain/global-setup.ts"],
    // Nothing here measures time; a busy machine must not fail what only takes longer there.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
