import type { ListenAddress } from "../server/http/listen-address.ts"
import { configurationError } from "./exit-code.ts"
import type { Settings } from "./settings.ts"

/** Returns the address of HTTPS if it is served in addition to HTTP. `next` needs a TCP port: for a unix socket, it means none. */
export function tlsAddressOf({ listen, tlsListen }: Pick<Settings, "listen" | "tlsListen">): ListenAddress | undefined {
  if (tlsListen === "off") return undefined
  if (tlsListen !== "next") return tlsListen
  if ("path" in listen) return undefined
  if (listen.port === 65_535) {
    throw configurationError("No port follows 65535 for HTTPS; set one with --tls-listen or CHANCERY_TLS_LISTEN.")
  }
  return { host: listen.host, port: listen.port === 0 ? 0 : listen.port + 1 }
}
