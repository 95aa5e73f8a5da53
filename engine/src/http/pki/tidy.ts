import {
  autoTidyParameters,
  decodeTidyInput,
  encodeAutoTidy,
  encodeTidyStatus,
  tidyParameters,
} from "../../wire/pki/tidy.ts"
import { accepted, answer, type PkiRoute } from "../pki-route.ts"

/** Tidying (https://developer.hashicorp.com/vault/api-docs/secret/pki#tidy). */
export const tidyRoutes: readonly PkiRoute[] = [
  {
    operation: "write",
    path: "/tidy",
    parameters: [tidyParameters],
    handle: async (request) => accepted(await request.pki.tidy.start(decodeTidyInput(request.decode(tidyParameters)))),
  },
  {
    operation: "write",
    path: "/tidy-cancel",
    handle: async ({ pki }) => {
      const { status, warnings } = await pki.tidy.cancel()
      return answer(encodeTidyStatus(status), { warnings })
    },
  },
  {
    operation: "read",
    path: "/tidy-status",
    handle: async ({ pki }) => answer(encodeTidyStatus(await pki.tidy.getStatus())),
  },
  {
    operation: "read",
    path: "/config/auto-tidy",
    handle: async ({ pki }) => answer(encodeAutoTidy(await pki.tidy.getAutomatic())),
  },
  {
    operation: "write",
    path: "/config/auto-tidy",
    parameters: [autoTidyParameters],
    handle: async (request) =>
      answer(
        encodeAutoTidy(await request.pki.tidy.changeAutomatic(decodeTidyInput(request.decode(autoTidyParameters)))),
      ),
  },
]
