import { expect, test } from "vitest"
import { type RequestStep, stepOf } from "./certificate-request.ts"

const condition = (type: string, status = "True", reason = "Any") => ({ type, status, reason, message: "" })
const approved = condition("Approved")
const denied = condition("Denied")
const ready = (status: string, reason: string) => condition("Ready", status, reason)
const own = { group: "chancery.dev", kind: "Issuer", name: "web" }

test.each<{ step: RequestStep; when: string; issuerRef?: object; conditions?: readonly object[]; metadata?: object }>([
  { step: "ignore", when: "it has no condition" },
  { step: "sign", when: "it is approved", conditions: [approved] },
  { step: "sign", when: "it is pending", conditions: [approved, ready("False", "Pending")] },
  { step: "sign", when: "it is initializing", conditions: [approved, ready("Unknown", "Initializing")] },
  { step: "ignore", when: "it is issued", conditions: [approved, ready("True", "Issued")] },
  { step: "ignore", when: "it has failed", conditions: [approved, ready("False", "Failed")] },
  { step: "deny", when: "it is denied", conditions: [denied] },
  { step: "deny", when: "it is denied and approved", conditions: [approved, denied] },
  { step: "ignore", when: "its denial is recorded", conditions: [denied, ready("False", "Denied")] },
  { step: "ignore", when: "the approval is withdrawn", conditions: [condition("Approved", "False")] },
  {
    step: "ignore",
    when: "it is being deleted",
    conditions: [approved],
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
  },
  { step: "sign", when: "its issuer has no kind", conditions: [approved], issuerRef: { ...own, kind: undefined } },
  {
    step: "sign",
    when: "its issuer is a ClusterIssuer",
    conditions: [approved],
    issuerRef: { ...own, kind: "ClusterIssuer" },
  },
  {
    step: "ignore",
    when: "its issuer is of cert-manager",
    conditions: [approved],
    issuerRef: { ...own, group: "cert-manager.io" },
  },
  { step: "ignore", when: "its issuer has no group", conditions: [approved], issuerRef: { ...own, group: undefined } },
  {
    step: "ignore",
    when: "its issuer is of another kind",
    conditions: [approved],
    issuerRef: { ...own, kind: "Certificate" },
  },
])("stepOf returns $step when $when", ({ step, issuerRef = own, conditions, metadata }) => {
  const object = {
    metadata: { name: "web-1", namespace: "web", ...metadata },
    spec: { issuerRef, request: "" },
    ...(conditions === undefined ? {} : { status: { conditions } }),
  }
  expect(stepOf(object)).toBe(step)
})
