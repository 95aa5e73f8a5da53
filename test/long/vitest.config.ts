import { defineConfig } from "vitest/config"
import { availableParallelism } from "node:os"
import { resolve } from "../../vitest.config.ts"

export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  resolve,
  test: {
    // Many suites wait for servers that restart: two at once take little more than half of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    include: ["test/long/**/*.test.ts"],
    globalSetup: ["test/toolchain/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
