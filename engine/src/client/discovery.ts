import { isEngineError } from "../core/errors.ts"
import type { Discovery } from "../core/discovery.ts"
import type { Transport } from "./transport.ts"

export const remoteDiscovery = ({ header }: Pick<Transport, "header">): Discovery => ({
  async apiVersion() {
    try {
      return (await header("/ping", "tfp-api-version")) ?? ""
    } catch (error) {
      if (isEngineError(error, "not-found")) return ""
      throw error
    }
  },
})
