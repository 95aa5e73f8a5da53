// Every kind that users see, in the order in which they are written.
import { clusterConnection } from "./cluster-connection.ts"
import { connection } from "./connection.ts"
import type { Kind } from "./definition.ts"

export const kinds: readonly Kind<unknown>[] = [connection, clusterConnection]
