import { z } from "zod"
import { policies } from "./connection-policy.ts"
import { connectionColumns, connectionMembers, connectionStatus, oneBundle } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { ruled } from "./rules.ts"

const spec = ruled(
  z
    .object({ ...connectionMembers("the namespace of the Connection"), policies })
    .describe("Address of a Chancery engine, and the operator's credentials for it."),
  oneBundle,
)

export type ConnectionSpec = z.output<typeof spec>

export const connection: Kind<ConnectionSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Connection",
  plural: "connections",
  singular: "connection",
  shortNames: ["econn"],
  scope: "Namespaced",
  description: "Connection configures access to a Chancery engine for the objects of its namespace.",
  spec,
  status: connectionStatus,
  columns: connectionColumns,
}
