import { nothing, type PreparePki } from "./prepared-request.ts"

export const tidyRequests: Readonly<Record<string, PreparePki>> = {
  "POST /:mount/tidy": () => ({ body: { tidy_cert_store: true } }),
  "POST /:mount/tidy-cancel": nothing,
  "GET /:mount/tidy-status": nothing,
  "GET /:mount/config/auto-tidy": nothing,
  "POST /:mount/config/auto-tidy": () => ({ body: { interval_duration: "24h" } }),
}
