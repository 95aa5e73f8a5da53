import { defineConfig } from "vitest/config"
import { resolve } from "../../vitest.config.ts"

export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  resolve,
  test: {
    include: ["test/long/**/*.test.ts"],
    globalSetup: ["test/toolchain/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
