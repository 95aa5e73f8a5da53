// Label selector of the Kubernetes API (`metav1.LabelSelector`), bounded.
import { z } from "zod"
import { type Rule, ruled } from "./rules.ts"

const labelKey = z.string().min(1).max(317)
const labelValue = z.string().max(63)

const needsValues: Rule<{ readonly operator: string; readonly values?: readonly string[] | undefined }> = {
  rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
  message: "values is required for In and NotIn, and not allowed for Exists and DoesNotExist",
  fieldPath: ".values",
  holds: ({ operator, values = [] }) => (operator === "In" || operator === "NotIn") === values.length > 0,
}

export const labelSelector = z.object({
  matchLabels: z
    .record(labelKey, labelValue)
    .optional()
    .meta({ maxProperties: 20 })
    .describe("Labels that a namespace must have, with their values."),
  matchExpressions: z
    .array(
      ruled(
        z.object({
          key: labelKey.describe("Key of the label."),
          operator: z
            .enum(["In", "NotIn", "Exists", "DoesNotExist"])
            .describe("Comparison with the label: In, NotIn, Exists or DoesNotExist."),
          values: z
            .array(labelValue)
            .max(100)
            .optional()
            .describe("Values for In and NotIn. Required with them, not allowed with Exists and DoesNotExist."),
        }),
        needsValues,
      ),
    )
    .max(20)
    .optional()
    .describe("Requirements on the labels of a namespace. All must hold."),
})
