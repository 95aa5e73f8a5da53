import { z } from "zod"
import { connectionColumns, connectionMembers, connectionStatus, oneBundle } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { ruled } from "./rules.ts"

const spec = ruled(
  z
    .object(connectionMembers("the namespace of the Connection"))
    .describe("Where an engine is and how the operator shows who it is."),
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
  description: "Connection is the way to a Chancery engine for the objects of one namespace.",
  spec,
  status: connectionStatus,
  columns: connectionColumns,
}
