import { createProgram } from "@chancery/engine/cli"
import { describe, expect, test } from "vitest"
import { certificate } from "../api/certificate.ts"
import { issuer } from "../api/issuer.ts"
import { kinds } from "../api/kinds.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { clusterCommands } from "./cluster-commands.ts"
import { kindNamed, revisionsOf, summaryOf } from "./object-summary.ts"
import { selectionOf } from "./renew-command.ts"
import { renewalState } from "./renewal-request.ts"

const condition = (type: string, status: string, reason: string, message: string) => ({ type, status, reason, message })
const object = (status: object, metadata: object = {}): KubernetesObject => ({
  metadata: { name: "web", namespace: "shop", generation: 1, ...metadata },
  status: { observedGeneration: 1, ...status },
})

describe("a requested renewal", () => {
  const token = "t1"
  const stalled = condition("Stalled", "True", "SecretNameConflict", "The Secret is taken.")
  const issuing = condition("Issuing", "True", "RenewRequested", "It is renewed later.")
  test.each([
    [
      "renewed",
      { lastHandledRenewAt: token, serialNumber: "01", notAfter: "2030" },
      "The new certificate 01 expires at 2030.",
    ],
    ["failed", { lastTriedRenewAt: token, conditions: [issuing] }, "It is renewed later."],
    ["failed", { lastHandledReconcileAt: token, conditions: [stalled] }, "The Secret is taken."],
    ["waiting", { lastHandledReconcileAt: "t0", conditions: [stalled] }, "The operator has not renewed it yet."],
    ["waiting", { lastHandledReconcileAt: token, conditions: [issuing] }, "It is renewed later."],
    ["waiting", { lastHandledRenewAt: "t0" }, "The operator has not renewed it yet."],
    ["failed", { conditions: [condition("Paused", "True", "Paused", "It is paused.")] }, "It is paused."],
  ])("is %s with the status %j", (is, status, message) => {
    expect(renewalState(object(status), token)).toEqual({ is, message })
  })

  test("is failed if the Certificate is gone", () => {
    expect(renewalState(undefined, token)).toEqual({ is: "failed", message: "The Certificate was deleted." })
  })
})

describe("a selection", () => {
  test.each([
    [["web"], {}, { names: ["web"] }],
    [[], { all: true }, { names: [] }],
    [[], { issuer: "ca" }, { names: [], issuer: { kind: "Issuer", name: "ca" } }],
    [[], { issuer: "shop/ca" }, { names: [], issuer: { kind: "Issuer", namespace: "shop", name: "ca" } }],
    [
      ["a"],
      { clusterIssuer: "ca", selector: "x=y" },
      { names: ["a"], selector: "x=y", issuer: { kind: "ClusterIssuer", name: "ca" } },
    ],
  ] as const)("of %j with %j is %j", (names, flags, selection) => {
    expect(selectionOf(names, flags)).toEqual(selection)
  })

  test.each([
    [[], {}],
    [["web"], { all: true }],
    [[], { issuer: "a", clusterIssuer: "b" }],
    [[], { issuer: "/ca" }],
    [[], { issuer: "shop/" }],
    [[], { issuer: "shop/ca/x" }],
    [[], { issuer: "shop/ca", allNamespaces: true }],
    [[], { issuer: "shop/ca", namespace: "other" }],
  ] as const)("of %j with %j is refused", (names, flags) => {
    expect(() => selectionOf(names, flags)).toThrow(/Name|--/)
  })
})

describe("an object", () => {
  const ready = condition("Ready", "True", "Issued", "It is there.")
  test.each([
    [certificate, { conditions: [ready], notAfter: "2030" }, {}, ["True", "Issued", "2030"]],
    [issuer, { conditions: [ready], caNotAfter: "2040" }, {}, ["True", "Issued", "2040"]],
    [certificate, { conditions: [ready] }, { generation: 2 }, ["Unknown", "Pending", ""]],
    [certificate, {}, { deletionTimestamp: "2026" }, ["Unknown", "Deleting", ""]],
  ] as const)("of the kind %o with the status %j is summed up", (kind, status, metadata, expected) => {
    const { ready: is, reason, expires } = summaryOf(kind, object(status, metadata))
    expect([is, reason, expires]).toEqual(expected)
  })

  test("shows the present certificate and the earlier ones", () => {
    const history = [
      { serialNumber: "02", notAfter: "2029", revokedAt: "2028" },
      { serialNumber: "01", notAfter: "2028", discarded: true },
    ]
    expect(revisionsOf(object({ serialNumber: "03", notAfter: "2030", revision: 3, history }))).toEqual([
      ["3", "03", "2030", "in use"],
      ["", "02", "2029", "replaced, revoked at 2028"],
      ["", "01", "2028", "never used"],
    ])
    expect(revisionsOf(object({}))).toEqual([])
  })

  test.each(["Certificate", "certificates", "ecrt", "certificates.chancery.dev"])("has a kind named %s", (word) => {
    expect(kindNamed(kinds, word)).toBe(certificate)
    expect(kindNamed(kinds, "cert")).toBeUndefined()
  })
})

test("the commands are subcommands of a program, with help that fits a terminal", () => {
  const terminal = { out() {}, say() {}, input: async () => "", environment: {} }
  const program = createProgram(terminal, clusterCommands(terminal))
  for (const name of ["status", "renew", "inspect", "events"]) {
    const command = program.commands.find((one) => one.name() === name)
    const help = command?.configureOutput({ getOutHelpWidth: () => 80 }).helpInformation() ?? ""
    expect(help).toContain("--context <name>")
    expect(help.split("\n").filter((line) => line.length > 80)).toEqual([])
  }
})
