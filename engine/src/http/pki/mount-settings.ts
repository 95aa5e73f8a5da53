import {
  acmeParameters,
  clusterParameters,
  encodeAcme,
  encodeCluster,
  encodeIssuersSettings,
  encodeKeysSettings,
  encodeUrls,
  encodeWrittenAcme,
  issuersSettingsParameters,
  keysSettingsParameters,
  rootReplaceParameters,
  urlsParameters,
} from "../../wire/pki/settings.ts"
import type { Saved } from "../../pki/settings/settings.ts"
import type { Document, ParameterTable } from "../../wire/pki/parameters.ts"
import { answer, type PkiRequest, type PkiResponse, type PkiRoute } from "../pki-route.ts"

/** How a mount's issuers and keys are used, and where they are found (pki-facts 2.6). What is written is answered as it is kept. */
export const mountSettingsRoutes: readonly PkiRoute[] = [
  ...configured("issuers", {
    parameters: issuersSettingsParameters,
    read: ({ pki }) => pki.settings.issuers(),
    write: (request) => request.pki.settings.changeIssuers(request.decode(issuersSettingsParameters)),
    encode: encodeIssuersSettings,
  }),
  {
    operation: "write",
    path: "/root/replace",
    parameters: [rootReplaceParameters],
    async handle(request) {
      const { default: next } = request.decode(rootReplaceParameters)
      const { value, warnings } = await request.pki.settings.replaceRoot(next)
      return answer(encodeIssuersSettings(value), { warnings })
    },
  },
  ...configured("keys", {
    parameters: keysSettingsParameters,
    read: ({ pki }) => pki.settings.keys(),
    write: (request) => request.pki.settings.changeKeys(request.decode(keysSettingsParameters)),
    encode: encodeKeysSettings,
  }),
  ...configured("urls", {
    parameters: urlsParameters,
    read: ({ pki }) => pki.settings.urls(),
    write: (request) => request.pki.settings.changeUrls(request.decode(urlsParameters)),
    encode: encodeUrls,
  }),
  ...configured("cluster", {
    parameters: clusterParameters,
    read: ({ pki }) => pki.settings.cluster(),
    write: (request) => request.pki.settings.changeCluster(request.decode(clusterParameters)),
    encode: encodeCluster,
  }),
  ...configuredApart("acme", {
    parameters: acmeParameters,
    read: ({ pki }) => pki.settings.acme(),
    write: (request) => request.pki.settings.changeAcme(request.decode(acmeParameters)),
    encode: encodeAcme,
    encodeWritten: encodeWrittenAcme,
  }),
]

interface Part<T, Written> {
  readonly parameters: ParameterTable
  readonly read: (request: PkiRequest) => Promise<T>
  readonly write: (request: PkiRequest) => Promise<Saved<Written>>
  readonly encode: (value: T) => Document
  readonly encodeWritten: (value: Written) => Document
}

function configured<T>(name: string, { encode, ...part }: Omit<Part<T, T>, "encodeWritten">): readonly PkiRoute[] {
  return configuredApart(name, { ...part, encode, encodeWritten: encode })
}

/** Where a write answers something else than a read. */
function configuredApart<T, Written>(
  name: string,
  { parameters, read, write, encode, encodeWritten }: Part<T, Written>,
): readonly PkiRoute[] {
  const path = `/config/${name}`
  return [
    { operation: "read", path, handle: async (request): Promise<PkiResponse> => answer(encode(await read(request))) },
    {
      operation: "write",
      path,
      parameters: [parameters],
      async handle(request) {
        const { value, warnings } = await write(request)
        return answer(encodeWritten(value), { warnings })
      },
    },
  ]
}
