import { describe } from "vitest"
import { engineContract } from "./engine-contract.ts"
import { implementations } from "./engines.ts"

for (const { name, available, open } of implementations)
  describe.skipIf(!available)(`the engine, ${name},`, () => {
    engineContract(open)
  })
