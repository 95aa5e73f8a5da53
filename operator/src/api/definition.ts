// Builds the CustomResourceDefinition for the API server from the schema that the operator parses with.
import { z } from "zod"
import { apiVersionOf, type Resource } from "../kube/kubernetes-object.ts"
import { celOf, type Rule } from "./rules.ts"

/** Kind as users see it. One schema serves both parsing in the operator and admission by the API server. */
export interface Kind<Spec> extends Resource {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly scope: "Cluster" | "Namespaced"
  /** Categories in addition to `engine`, which every kind has. */
  readonly categories?: readonly string[]
  readonly description: string
  readonly spec: z.ZodType<Spec>
  /** Rules on the whole object. CEL sees only its name of the metadata; the reconciler checks what CEL cannot. */
  readonly objectRules?: readonly { readonly rule: string; readonly message: string; readonly fieldPath: string }[]
  /** Additional members of the status. All are optional, because a new object has none of them. */
  readonly status?: z.ZodRawShape
  /** True if objects have the condition `Synced` and a column for it. */
  readonly synced?: boolean
  readonly columns: readonly Column[]
  /** Fields for `kubectl get --field-selector`, such as `.spec.connectionRef.name`. */
  readonly selectable?: readonly string[]
}

export interface Column {
  readonly name: string
  readonly type: "string" | "date" | "integer" | "boolean"
  readonly jsonPath: string
  readonly description: string
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number
}

const condition = z
  .object({
    type: z.string().max(316).describe("Type of the condition, for example Ready."),
    status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition: True, False or Unknown."),
    observedGeneration: z.int().min(0).describe("Generation of the object that the condition is based on."),
    lastTransitionTime: z
      .string()
      .max(64)
      .meta({ format: "date-time" })
      .describe("Time of the last change of the status."),
    reason: z.string().min(1).max(1_024).describe("Reason in CamelCase, for programs. Example: Connected."),
    message: z.string().max(32_768).describe("Details for people, as a sentence."),
  })
  .describe("Condition of the object.")

const statusOf = (own: z.ZodRawShape) =>
  z
    .object({
      observedGeneration: z.int().min(0).optional().describe("Generation of the last reconciliation."),
      lastHandledReconcileAt: z
        .string()
        .max(1_024)
        .optional()
        .describe("Last value of the annotation chancery.dev/reconcile-requested-at that the operator handled."),
      nextAttemptTime: z
        .string()
        .max(64)
        .optional()
        .describe("Time of the next attempt.")
        .meta({ format: "date-time" }),
      ...own,
      conditions: z
        .array(condition)
        .max(16)
        .optional()
        .describe(
          "Conditions of the object. Ready is always present; Reconciling, Stalled and Paused only while they are true.",
        )
        .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    })
    .describe("Observed state of the object, written by the operator.")

export function definitionOf<Spec>(kind: Kind<Spec>): Readonly<Record<string, unknown>> {
  const { group, version, plural, singular, shortNames, scope, description, columns } = kind
  const { categories = [], selectable = [], synced = false } = kind
  const wide = ({ priority = 0 }: Column) => priority > 0
  const conditionColumn = (type: string, member: string) => `.status.conditions[?(@.type=="${type}")].${member}`
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames,
        categories: ["engine", ...categories],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            ...columns.filter((column) => !wide(column)),
            { name: "Ready", type: "string", jsonPath: conditionColumn("Ready", "status") },
            ...(synced ? [{ name: "Synced", type: "string", jsonPath: conditionColumn("Synced", "status") }] : []),
            { name: "Reason", type: "string", jsonPath: conditionColumn("Ready", "reason") },
            ...columns.filter(wide),
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
          ...(selectable.length === 0 ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
          schema: {
            openAPIV3Schema: {
              type: "object",
              description,
              required: ["spec"],
              ...(kind.objectRules === undefined ? {} : { "x-kubernetes-validations": kind.objectRules }),
              properties: {
                apiVersion: { type: "string", description: apiVersionOf(kind) },
                kind: { type: "string", description: kind.kind },
                metadata: { type: "object" },
                spec: schemaOf(kind.spec),
                // Without the default, kstatus would consider an object finished before any operator has seen it.
                status: { ...schemaOf(statusOf(kind.status ?? {})), default: { observedGeneration: 0 } },
              },
            },
          },
        },
      ],
    },
  }
}

const schemaOf = (schema: z.ZodType): Readonly<Record<string, unknown>> =>
  structural(
    z.toJSONSchema(schema, {
      target: "openapi-3.0",
      io: "input",
      override({ jsonSchema }) {
        const members: Record<string, unknown> = jsonSchema
        const rules = members["x-kubernetes-validations"] as readonly Rule<unknown>[] | undefined
        if (rules !== undefined) members["x-kubernetes-validations"] = celOf(rules)
      },
    }),
  ) as Readonly<Record<string, unknown>>

/** Removes what the API server rejects in a structural schema. It drops unknown members itself and cannot restrict names of properties. */
function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(
        ([name, value]) =>
          name !== "$schema" &&
          name !== "propertyNames" &&
          !(
            name === "additionalProperties" &&
            (typeof value === "boolean" || Object.keys(value as object).length === 0)
          ),
      )
      .map(([name, value]) => [name, structural(value)]),
  )
}
