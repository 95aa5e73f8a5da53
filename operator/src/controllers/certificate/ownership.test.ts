import { expect, test } from "vitest"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { annotations } from "./annotations.ts"
import { claimOf } from "./ownership.ts"

const named = (name: string, minute: number, uid = name): KubernetesObject => ({
  metadata: { name, uid, creationTimestamp: `2026-01-01T00:0${minute}:00Z` },
})
const secret = (owner?: string): KubernetesObject => ({
  metadata: { name: "tls", annotations: owner === undefined ? {} : { [annotations.certificateName]: owner } },
})
const [old, young] = [named("old", 1), named("young", 2)]

test.each<{
  why: string
  certificate: KubernetesObject
  claimants?: KubernetesObject[]
  secret?: KubernetesObject
  mayAdopt?: boolean
  is: object
}>([
  { why: "there is no other claimant and no Secret", certificate: old, is: { is: "granted" } },
  {
    why: "it is written in the Secret",
    certificate: young,
    claimants: [old],
    secret: secret("young"),
    is: { is: "granted" },
  },
  { why: "it came first", certificate: old, claimants: [old, young], is: { is: "granted" } },
  { why: "another came first", certificate: young, claimants: [young, old], is: { is: "taken", by: "old" } },
  {
    why: "of two of one second the name of the object decides",
    certificate: named("b", 1),
    claimants: [named("a", 1)],
    is: { is: "taken", by: "a" },
  },
  {
    why: "another is written in the Secret",
    certificate: old,
    claimants: [young],
    secret: secret("young"),
    is: { is: "taken", by: "young" },
  },
  {
    why: "the Certificate in its annotation was deleted",
    certificate: old,
    secret: secret("gone"),
    is: { is: "granted" },
  },
  {
    why: "the Certificate in its annotation was deleted, and another is older",
    certificate: young,
    claimants: [old],
    secret: secret("gone"),
    is: { is: "taken", by: "old" },
  },
  { why: "the Secret has no owner", certificate: old, secret: secret(), is: { is: "foreign" } },
  {
    why: "the Secret has no owner and may be taken over",
    certificate: old,
    secret: secret(),
    mayAdopt: true,
    is: { is: "granted" },
  },
  {
    why: "another Certificate may take over a Secret without owner",
    certificate: young,
    claimants: [old],
    secret: secret(),
    mayAdopt: true,
    is: { is: "taken", by: "old" },
  },
])("a Secret is $is if $why", ({ certificate, claimants = [], secret, mayAdopt = false, is }) => {
  expect(claimOf({ certificate, claimants, secret, mayAdopt })).toEqual(is)
})
