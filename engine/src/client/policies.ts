import type { Policies, PolicySubject } from "../pki/access/policies.ts"
import { decodePolicy, policyParameters } from "../wire/pki/policy.ts"
import { type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remotePolicies = (calls: PkiCalls): Policies => ({
  list: async () => (await calls.list("/sys/policies/acl")).keys,
  get: async (name) => decodePolicy((await calls.read(path`/sys/policies/acl/${name}`)).data),
  async put(name, text) {
    await calls.write(path`/sys/policies/acl/${name}`, saying(policyParameters, { policy: text }))
  },
  async delete(name) {
    await calls.delete(path`/sys/policies/acl/${name}`)
  },
  attached: async (subject) => (await calls.list(pathOf(subject))).keys,
  async attach(name, subject) {
    await calls.write(`${pathOf(subject)}${path`/${name}`}`)
  },
  async detach(name, subject) {
    await calls.delete(`${pathOf(subject)}${path`/${name}`}`)
  },
})

function pathOf(subject: PolicySubject): string {
  switch (subject.kind) {
    case "user":
      return path`/sys/policies/attachments/user/${subject.username}`
    case "team":
      return path`/sys/policies/attachments/team/${subject.organization}/${subject.team}`
    case "token":
      return path`/sys/policies/attachments/token/${subject.id}`
    default:
      return subject satisfies never
  }
}
