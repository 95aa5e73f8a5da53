// All columns of sealed values. Values in a column missing here would stay under old seal keys after a rotation. A test compares this list
// with the schema.
import { sql, type RawBuilder } from "kysely"
import { chunkPath, streamChunkPath } from "./key-sealing.ts"
import { sealPaths } from "./seal-paths.ts"
import type { Tables } from "../schema/tables.ts"

export interface SealedColumn {
  readonly table: keyof Tables
  readonly column: string
  /** Columns of the primary key. */
  readonly key: readonly string[]
  /** Number of values per transaction, which must be short. */
  readonly batch: number
  /** Expression that the path needs, selected as `extra`. */
  readonly extra?: RawBuilder<unknown>
  readonly path: (row: Readonly<Record<string, string | number>>) => string
}

const small = 200
/** Batch size of values of up to 1 MiB each. */
const large = 4

export const sealedPlaces: readonly SealedColumn[] = [
  {
    table: "ca_keys",
    column: "private_key_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.caKey(String(id)),
  },
  {
    table: "mount_secrets",
    column: "value_sealed",
    key: ["mount_id", "name"],
    batch: small,
    path: ({ mount_id, name }) => sealPaths.mountSecret(String(mount_id), String(name)),
  },
  {
    table: "kubernetes_clusters",
    column: "reviewer_token_sealed",
    key: ["auth_method_id"],
    batch: small,
    path: ({ auth_method_id }) => sealPaths.kubernetesReviewer(String(auth_method_id)),
  },
  {
    table: "acme_bindings",
    column: "key_sealed",
    key: ["mount_id", "id"],
    batch: small,
    path: ({ mount_id, id }) => sealPaths.acmeBinding(String(mount_id), String(id)),
  },
  {
    table: "ssh_keys",
    column: "value_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.sshKey(String(id)),
  },
  {
    table: "oauth_clients",
    column: "secret_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.oauthClientSecret(String(id)),
  },
  {
    table: "oauth_tokens",
    column: "value_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.oauthToken(String(id)),
  },
  {
    table: "oauth_tokens",
    column: "ssh_key_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.oauthTokenSshKey(String(id)),
  },
  {
    table: "webhooks",
    column: "secret_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.webhookSecret(String(id)),
  },
  {
    table: "variables",
    column: "value_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.variable(String(id)),
  },
  {
    table: "runs",
    column: "variables_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.runVariables(String(id)),
  },
  {
    table: "run_logs",
    column: "sealed",
    key: ["run_id", "stage", "start"],
    batch: large,
    path: ({ run_id, stage, start }) => sealPaths.runLog(String(run_id), String(stage), Number(start)),
  },
  {
    table: "run_documents",
    column: "sealed",
    key: ["run_id", "document", "chunk"],
    batch: large,
    extra: sql`(select count(*) from run_documents as whole
      where whole.run_id = run_documents.run_id and whole.document = run_documents.document)`,
    path: ({ run_id, document, chunk, extra }) =>
      chunkPath(sealPaths.runDocument(String(run_id), String(document)), Number(chunk), Number(extra)),
  },
  {
    table: "state_version_outputs",
    column: "value_sealed",
    key: ["id"],
    batch: small,
    path: ({ id }) => sealPaths.stateVersionOutput(String(id)),
  },
  {
    table: "state_contents",
    column: "sealed",
    key: ["state_version_id", "document", "chunk"],
    batch: large,
    extra: sql`(select count(*) from state_contents as whole
      where whole.state_version_id = state_contents.state_version_id and whole.document = state_contents.document)`,
    path: ({ state_version_id, document, chunk, extra }) =>
      chunkPath(sealPaths.stateDocument(String(state_version_id), String(document)), Number(chunk), Number(extra)),
  },
  {
    table: "state_chunks",
    column: "sealed",
    key: ["document_id", "chunk"],
    batch: large,
    extra: sql`(select state_version_id || '/' || document || '/' || coalesce(cast(chunk_count as text), '')
      from state_documents where id = state_chunks.document_id)`,
    path: ({ document_id, chunk, extra }) => {
      const [versionId = "", document = "", count = ""] = String(extra).split("/")
      const isLast = count !== "" && Number(chunk) === Number(count) - 1
      return streamChunkPath(sealPaths.sentDocument(versionId, document, String(document_id)), Number(chunk), isLast)
    },
  },
  {
    table: "configuration_contents",
    column: "sealed",
    key: ["configuration_version_id", "chunk"],
    batch: large,
    extra: sql`(select count(*) from configuration_contents as whole
      where whole.configuration_version_id = configuration_contents.configuration_version_id)`,
    path: ({ configuration_version_id, chunk, extra }) =>
      chunkPath(sealPaths.configuration(String(configuration_version_id)), Number(chunk), Number(extra)),
  },
]
