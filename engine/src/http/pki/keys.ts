import { invalid } from "../../core/errors.ts"
import {
  encodeGeneratedKey,
  encodeKey,
  encodeKeySummaries,
  keyImportParameters,
  keyRenameParameters,
  keyWireNames,
  newKeyParameters,
} from "../../wire/pki/key.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { answer, listed, nothing, param, type PkiRequest, type PkiRoute } from "../pki-route.ts"
import { keySourceOf } from "./key-source.ts"

const reference = (request: PkiRequest): string => param(request, "key_ref")

/** Keys of issuers. */
export const keyRoutes: readonly PkiRoute[] = [
  {
    operation: "list",
    path: "/keys",
    parameters: [keyPageParameters],
    async handle(request) {
      const keys = await request.pki.keys.list(request.decode(keyPageParameters))
      return listed(
        keys.map(({ id }) => id),
        encodeKeySummaries(keys),
      )
    },
  },
  {
    operation: "write",
    path: "/keys/generate/:type",
    wireNames: keyWireNames,
    parameters: [newKeyParameters],
    async handle(request) {
      const source = keySourceOf(param(request, "type"))
      if (source === "existing")
        throw invalid([{ field: ["type"], detail: '"type" must be "internal", "exported" or "kms"' }])
      const key = await request.pki.keys.generate({ ...request.decode(newKeyParameters), keySource: source })
      return answer(encodeGeneratedKey(key), { warnings: key.warnings })
    },
  },
  {
    operation: "write",
    path: "/keys/import",
    parameters: [keyImportParameters],
    async handle(request) {
      const { pemBundle = "", keyName } = request.decode(keyImportParameters)
      const key = await request.pki.keys.import(pemBundle, keyName)
      return answer(encodeKey(key), { warnings: key.warnings })
    },
  },
  {
    operation: "read",
    path: "/key/:key_ref",
    handle: async (request) => answer(encodeKey(await request.pki.keys.get(reference(request)))),
  },
  {
    operation: "write",
    path: "/key/:key_ref",
    parameters: [keyRenameParameters],
    async handle(request) {
      const { keyName } = request.decode(keyRenameParameters)
      if (keyName === undefined) throw invalid([{ field: ["keyName"], detail: '"key_name" is required' }])
      const key = await request.pki.keys.rename(reference(request), keyName)
      return answer(encodeKey(key), { warnings: key.warnings })
    },
  },
  {
    operation: "delete",
    path: "/key/:key_ref",
    handle: async (request) => nothing(await request.pki.keys.delete(reference(request))),
  },
]
