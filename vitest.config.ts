import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["engine/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/toolchain/global-setup.ts"],
  },
})
