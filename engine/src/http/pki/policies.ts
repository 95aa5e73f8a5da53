import type { PolicySubject } from "../../pki/access/policies.ts"
import { encodeOldPolicy, encodePolicy, policyParameters } from "../../wire/pki/policy.ts"
import { answer, listed, nothing, param, type SystemRequest, type SystemRoute } from "../pki-route.ts"

/** For a policy of the greatest length, most of whose characters are escaped. */
const bodyLimitBytes = 256 * 1024

async function write(request: SystemRequest) {
  const { policy, rules } = request.decode(policyParameters)
  await request.engine.policies.put(param(request, "name"), policy ?? rules ?? "")
  return nothing()
}

async function remove(request: SystemRequest) {
  await request.engine.policies.delete(param(request, "name"))
  return nothing()
}

/** What is attached to one kind of subject, whose names the path has. */
const attachmentRoutes = (path: string, subjectOf: (request: SystemRequest) => PolicySubject): SystemRoute[] => [
  {
    operation: "list",
    path: `/sys/policies/attachments/${path}`,
    handle: async (request) => listed(await request.engine.policies.attached(subjectOf(request))),
  },
  {
    operation: "write",
    path: `/sys/policies/attachments/${path}/:policy`,
    handle: async (request) => {
      await request.engine.policies.attach(param(request, "policy"), subjectOf(request))
      return nothing()
    },
  },
  {
    operation: "delete",
    path: `/sys/policies/attachments/${path}/:policy`,
    handle: async (request) => {
      await request.engine.policies.detach(param(request, "policy"), subjectOf(request))
      return nothing()
    },
  },
]

/** Policies under the name they have and under the one they had, and whom they are attached to. */
export const policyRoutes: readonly SystemRoute[] = [
  {
    operation: "list",
    path: "/sys/policies/acl",
    handle: async ({ engine }) => listed(await engine.policies.list()),
  },
  {
    operation: "read",
    path: "/sys/policies/acl/:name",
    handle: async (request) => answer(encodePolicy(await request.engine.policies.get(param(request, "name")))),
  },
  {
    operation: "write",
    path: "/sys/policies/acl/:name",
    bodyLimitBytes,
    parameters: [policyParameters],
    handle: write,
  },
  { operation: "delete", path: "/sys/policies/acl/:name", handle: remove },
  ...(["read", "list"] as const).map((operation): SystemRoute => ({
    operation,
    path: "/sys/policy",
    handle: async ({ engine }) => {
      const policies = await engine.policies.list()
      return { ...answer({ keys: policies, policies }), repeated: true }
    },
  })),
  {
    operation: "read",
    path: "/sys/policy/:name",
    handle: async (request) => {
      const policy = await request.engine.policies.get(param(request, "name"))
      return { ...answer(encodeOldPolicy(policy)), repeated: true }
    },
  },
  { operation: "write", path: "/sys/policy/:name", bodyLimitBytes, parameters: [policyParameters], handle: write },
  { operation: "delete", path: "/sys/policy/:name", handle: remove },
  ...attachmentRoutes("user/:username", (request) => ({ kind: "user", username: param(request, "username") })),
  ...attachmentRoutes("team/:organization/:team", (request) => ({
    kind: "team",
    organization: param(request, "organization"),
    team: param(request, "team"),
  })),
  ...attachmentRoutes("token/:id", (request) => ({ kind: "token", id: param(request, "id") })),
]
