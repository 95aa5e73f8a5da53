// Behaviour that every implementation of `Engine` shares: the same values and the same errors.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { accessCases } from "./access-cases.ts"
import { acmeCases } from "./acme-cases.ts"
import { appRoleCases } from "./app-role-cases.ts"
import { certificateCases } from "./certificate-cases.ts"
import { enrolmentCases } from "./enrolment-cases.ts"
import { estCases } from "./est-cases.ts"
import { eventCases } from "./event-cases.ts"
import { externalCases } from "./external-cases.ts"
import { identityCases } from "./identity-cases.ts"
import { issuerCases } from "./issuer-cases.ts"
import { certificateLoginCases } from "./certificate-login-cases.ts"
import { kubernetesLoginCases } from "./kubernetes-login-cases.ts"
import { leaseCases } from "./lease-cases.ts"
import { methodCases } from "./method-cases.ts"
import type { OpenedEngine } from "./engines.ts"
import { methodsOf } from "./methods.ts"
import { loginCases } from "./login-cases.ts"
import { pkiCases } from "./pki-cases.ts"
import { recordCases } from "./record-cases.ts"
import { runCases } from "./run-cases.ts"
import { revocationCases } from "./revocation-cases.ts"
import { stateCases } from "./state-cases.ts"
import { tidyCases } from "./tidy-cases.ts"
import { tagCases } from "./tag-cases.ts"
import { userpassCases } from "./userpass-cases.ts"
import { workspaceCases } from "./workspace-cases.ts"

export function engineContract(open: () => Promise<OpenedEngine>): void {
  let opened: OpenedEngine | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const engine = (): OpenedEngine => {
    if (opened === undefined) throw new Error("the engine did not open")
    return opened
  }

  describe("organizations, users and permissions:", () => {
    identityCases(engine)
  })
  describe("workspaces:", () => {
    workspaceCases(engine)
  })
  describe("tags:", () => {
    tagCases(engine)
  })
  describe("state versions and runs:", () => {
    stateCases(engine)
  })
  describe("runs and their executors:", () => {
    runCases(engine)
  })
  describe("variables, connections, keys, pools and assessments:", () => {
    recordCases(engine)
  })
  describe("events:", () => {
    eventCases(engine)
  })
  describe("mounts and roles:", () => {
    pkiCases(engine)
  })
  describe("policies and service tokens:", () => {
    accessCases(engine)
  })
  describe("logins:", () => {
    loginCases(engine)
  })
  describe("AppRole logins:", () => {
    appRoleCases(engine)
  })
  describe("Certificate logins:", () => {
    certificateLoginCases(engine)
  })

  describe("Kubernetes logins:", () => {
    kubernetesLoginCases(engine)
  })
  describe("userpass:", () => {
    userpassCases(engine)
  })
  describe("issuers and keys:", () => {
    issuerCases(engine)
  })
  describe("certificates:", () => {
    certificateCases(engine)
  })
  describe("OCSP and external policy services:", () => {
    externalCases(engine)
  })
  describe("enrolments:", () => {
    enrolmentCases(engine)
  })
  describe("EST:", () => {
    estCases(engine)
  })
  describe("revocations and CRLs:", () => {
    revocationCases(engine)
  })
  describe("expired records:", () => {
    tidyCases(engine)
  })
  describe("leases:", () => {
    leaseCases(engine)
  })
  describe("ACME accounts and bindings:", () => {
    acmeCases(engine)
  })
  describe("every method", () => {
    methodCases(engine)
  })

  // Runs last: the cases above have recorded their calls by now.
  test("every method has one case that succeeds and one that is rejected", () => {
    const { root, answered, refused } = engine()
    const methods = methodsOf(root)
    expect(methods.length).toBeGreaterThan(100)
    expect(methods.filter((method) => !answered.has(method))).toEqual([])
    // `discovery.apiVersion` needs no permission and takes no argument, so no call to it can fail.
    expect(methods.filter((method) => !refused.has(method))).toEqual(["discovery.apiVersion"])
  })
}
