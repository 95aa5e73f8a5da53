import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["engine/src/**/*.test.ts", "test/**/*.test.ts"],
    // These take minutes and have a configuration of their own.
    exclude: ["**/node_modules/**", "test/long/**"],
    globalSetup: ["test/toolchain/global-setup.ts"],
  },
})
