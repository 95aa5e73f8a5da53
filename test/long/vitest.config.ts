import { defineConfig } from "vitest/config"

export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  test: {
    include: ["test/long/**/*.test.ts"],
    globalSetup: ["test/toolchain/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
