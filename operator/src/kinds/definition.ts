// From a schema that the operator parses with to a definition that the apiserver admits with.
import { z } from "zod"
import { apiVersionOf, type Resource } from "../kubernetes-object.ts"

/** One kind as users see it; its schema is what `parse` takes and what the apiserver admits. */
export interface Kind<Spec> extends Resource {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly scope: "Cluster" | "Namespaced"
  readonly description: string
  readonly spec: z.ZodType<Spec>
  readonly columns: readonly Column[]
}

export interface Column {
  readonly name: string
  readonly type: "string" | "date" | "integer"
  readonly jsonPath: string
  readonly description: string
  /** 0 is shown always, 1 with `-o wide`. */
  readonly priority?: number
}

/** A rule that one value alone cannot break; `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string
  readonly message: string
}

export const rules = (...list: readonly Rule[]) => ({ "x-kubernetes-validations": list })

const condition = z
  .object({
    type: z.string().max(316).describe("What is told of, such as Ready."),
    status: z.enum(["True", "False", "Unknown"]).describe("Whether it is so."),
    observedGeneration: z.int().min(0).describe("The generation of the object that was looked at."),
    lastTransitionTime: z.string().max(64).meta({ format: "date-time" }).describe("When the status last changed."),
    reason: z.string().min(1).max(1_024).describe("One word for programs."),
    message: z.string().max(32_768).describe("A sentence for people."),
  })
  .describe("One thing that is known of the object.")

const status = z
  .object({
    observedGeneration: z.int().min(0).optional().describe("The generation that the operator looked at last."),
    lastHandledReconcileAt: z
      .string()
      .max(1_024)
      .optional()
      .describe("The last value of chancery.dev/reconcile-requested-at that was acted on."),
    conditions: z
      .array(condition)
      .max(16)
      .optional()
      .describe("Ready always; Reconciling, Stalled and Paused only while they are true.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  })
  .describe("What the operator found.")

export function definitionOf<Spec>(kind: Kind<Spec>): Readonly<Record<string, unknown>> {
  const { group, version, plural, singular, shortNames, scope, description, columns } = kind
  const conditionColumn = (type: string, member: string) => `.status.conditions[?(@.type=="${type}")].${member}`
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind: kind.kind, listKind: `${kind.kind}List`, plural, singular, shortNames, categories: ["engine"] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            ...columns,
            { name: "Ready", type: "string", jsonPath: conditionColumn("Ready", "status") },
            { name: "Reason", type: "string", jsonPath: conditionColumn("Ready", "reason") },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
          schema: {
            openAPIV3Schema: {
              type: "object",
              description,
              required: ["spec"],
              properties: {
                apiVersion: { type: "string", description: apiVersionOf(kind) },
                kind: { type: "string", description: kind.kind },
                metadata: { type: "object" },
                spec: schemaOf(kind.spec),
                // Without it an object that no operator has seen yet would pass for finished (kstatus).
                status: { ...schemaOf(status), default: { observedGeneration: 0 } },
              },
            },
          },
        },
      ],
    },
  }
}

const schemaOf = (schema: z.ZodType): Readonly<Record<string, unknown>> =>
  structural(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" })) as Readonly<Record<string, unknown>>

/** What the apiserver refuses in a structural schema: it drops unknown members by itself. */
function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => name !== "$schema" && name !== "additionalProperties")
      .map(([name, value]) => [name, structural(value)]),
  )
}
