import { expect, test } from "vitest"
import { awaitsSigner } from "./certificate-signing-request.ts"

const condition = (type: string, status = "True") => ({ type, status })
const approved = condition("Approved")

test.each<{ when: string; awaits: boolean; signerName?: string; status?: object; metadata?: object }>([
  { when: "it is approved", awaits: true, status: { conditions: [approved] } },
  {
    when: "its signer is a ClusterIssuer",
    awaits: true,
    signerName: "clusterissuers.chancery.dev/web",
    status: { conditions: [approved] },
  },
  { when: "it has no status", awaits: false },
  { when: "it is denied", awaits: false, status: { conditions: [condition("Denied")] } },
  { when: "it is approved and denied", awaits: false, status: { conditions: [approved, condition("Denied")] } },
  { when: "it has failed", awaits: false, status: { conditions: [approved, condition("Failed")] } },
  { when: "its certificate was issued", awaits: false, status: { conditions: [approved], certificate: "LS0t" } },
  { when: "the approval is false", awaits: false, status: { conditions: [condition("Approved", "False")] } },
  {
    when: "its signer is another",
    awaits: false,
    signerName: "kubernetes.io/kubelet-serving",
    status: { conditions: [approved] },
  },
  {
    when: "it is being deleted",
    awaits: false,
    status: { conditions: [approved] },
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
  },
])("awaitsSigner returns $awaits when $when", ({ awaits, signerName = "chancery.dev/web.ca", status, metadata }) => {
  const object = {
    metadata: { name: "web", ...metadata },
    spec: { signerName },
    ...(status === undefined ? {} : { status }),
  }
  expect(awaitsSigner(object)).toBe(awaits)
})
