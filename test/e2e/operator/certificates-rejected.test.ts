// Certificates whose Secret the API server rejects or another field manager changes: their conditions, and how many certificates are
// issued. Also deletions in any order.
import { describe, expect, test } from "vitest"
import { workspace } from "../../../operator/src/api/workspace.ts"
import {
  api,
  apply,
  cluster,
  crt,
  dayMs,
  programs,
  putForward,
  reasons,
  setUp,
  useCertificateFixture,
  text,
  testEngine,
} from "./certificates-fixture.ts"

/** Certificates of the mount that has the name of the namespace. */
const issued = async (namespace: string) =>
  (await testEngine.engine.pki(namespace).certificates.search({ role: "any" })).items

describe.skipIf(programs === undefined)("the Secret of a certificate in a cluster", () => {
  useCertificateFixture()

  const reconcileAgain = (actor: Awaited<ReturnType<typeof setUp>>, name: string) => async () => {
    await actor.ask(crt, name)
    return reasons(await actor.crt(name))
  }

  test("[F-K1] [F-K2] that is immutable is reported with the API server's message, and no certificate is issued for it", async () => {
    const actor = await setUp("immutable")
    const { certificate, wait, kubectl, crt: shown } = actor
    await apply(certificate("web", { duration: "720h" }))
    await wait(crt, "web", "Ready")
    await kubectl(["patch", "secret", "web-tls", "-n", "immutable", "--type=merge", "-p", '{"immutable":true}'])
    putForward(29 * dayMs)
    await expect.poll(reconcileAgain(actor, "web")).toContain("Issuing=True RenewalDue")
    const due = await shown("web")
    expect(reasons(due)).toContain("Ready=True Issued")
    expect(due.status.conditions?.find(({ type }) => type === "Issuing")?.message).toMatch(/immutable/)
    expect(due.status["nextAttemptTime"]).toBeDefined()
    putForward(2 * dayMs)
    await expect.poll(reconcileAgain(actor, "web")).toContain("Ready=False Expired")
    await expect.poll(() => kubectl(["get", "events", "-n", "immutable"])).toMatch(/Warning +SecretRejected/)
    expect(await issued("immutable")).toHaveLength(1)
    // The Secret is written again as soon as it is deleted.
    await kubectl(["delete", "secret", "web-tls", "-n", "immutable"])
    await wait(crt, "web", "Ready")
    expect(await issued("immutable")).toHaveLength(2)
  })

  test("[F-K2] beyond a quota costs no certificate", async () => {
    const actor = await setUp("quota")
    const { certificate, wait, kubectl, crt: shown } = actor
    const hard = { "count/secrets": "1" }
    await apply({
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "few", namespace: "quota" },
      spec: { hard },
    })
    // The control plane runs no quota controller, so the test writes the status.
    const status = JSON.stringify({ status: { hard, used: { "count/secrets": "0" } } })
    await kubectl([
      "patch",
      "resourcequota",
      "few",
      "-n",
      "quota",
      "--subresource=status",
      "--type=merge",
      "-p",
      status,
    ])
    await apply(certificate("web"))
    await wait(crt, "web", "Stalled")
    await actor.ask(crt, "web")
    const stalled = await shown("web")
    expect(reasons(stalled)).toContain("Ready=False SecretRejected")
    expect(stalled.status.conditions?.[0]?.message).toContain("exceeded quota")
    expect(await issued("quota")).toEqual([])
    await kubectl(["delete", "resourcequota", "few", "-n", "quota"])
    await actor.ask(crt, "web")
    await wait(crt, "web", "Ready")
    expect(await issued("quota")).toHaveLength(1)
  })

  test("[F-K2] [F-K12] that a policy rejects costs no certificate; with the labels of secretTemplate it is admitted", async () => {
    const { certificate, wait, crt: shown } = await setUp("policy")
    const policy = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "labelled-secrets" } }
    await apply(
      {
        ...policy,
        kind: "ValidatingAdmissionPolicy",
        spec: {
          failurePolicy: "Fail",
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["secrets"] },
            ],
          },
          validations: [
            {
              expression: "has(object.metadata.labels) && 'team' in object.metadata.labels",
              message: "Secrets must have the label team",
            },
          ],
        },
      },
      {
        ...policy,
        kind: "ValidatingAdmissionPolicyBinding",
        spec: {
          policyName: "labelled-secrets",
          validationActions: ["Deny"],
          matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "policy" } } },
        },
      },
    )
    // The policy takes effect some time after it was written.
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "probe", namespace: "policy" } }
    await expect
      .poll(() =>
        cluster
          .kubectl(["apply", "--dry-run=server", "-f", "-"], JSON.stringify(secret))
          .catch((error) => String(error)),
      )
      .toContain("must have the label team")
    await apply(certificate("web"))
    await wait(crt, "web", "Stalled")
    const stalled = await shown("web")
    expect(reasons(stalled)).toContain("Ready=False SecretRejected")
    expect(stalled.status.conditions?.[0]?.message).toContain("must have the label team")
    expect(await issued("policy")).toEqual([])
    await apply(certificate("web", { secretTemplate: { labels: { team: "web" } } }))
    await wait(crt, "web", "Ready")
    expect(await issued("policy")).toHaveLength(1)
  })

  test("[F-K5] that another field manager writes repeatedly is reported as contested, by name, and costs no certificate", async () => {
    const actor = await setUp("contested")
    const { certificate, wait, secret, kubectl, crt: shown } = actor
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const before = await secret("web-tls")
    const foreign = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "web-tls", namespace: "contested" },
      data: { "tls.key": Buffer.from("their own key").toString("base64") },
    }
    const write = () =>
      kubectl(
        ["apply", "--server-side", "--force-conflicts", "--field-manager=vault-sync", "-f", "-"],
        JSON.stringify(foreign),
      )
    const isOurs = async () => text(await secret("web-tls"), "tls.key") === text(before, "tls.key")
    for (let contest = 0; contest < 3; contest += 1) {
      await write()
      await expect.poll(isOurs).toBe(true)
    }
    await write()
    await wait(crt, "web", "Stalled")
    const contested = await shown("web")
    expect(reasons(contested)).toContain("Ready=False SecretContested")
    expect(contested.status.conditions?.[0]?.message).toContain("vault-sync")
    expect(contested.status["nextAttemptTime"]).toBeDefined()
    expect(await issued("contested")).toHaveLength(1)
    putForward(3_600_000)
    await actor.ask(crt, "web")
    await expect.poll(isOurs).toBe(true)
    await wait(crt, "web", "Ready")
    expect(await issued("contested")).toHaveLength(1)
  })

  test("[F-K1] that the operator may not write is reported, and so is an object that it may not read", async () => {
    const actor = await setUp("rights")
    const { certificate, wait, kubectl, crt: shown } = actor
    const role = JSON.parse(await kubectl(["get", "clusterrole", "chancery-operator", "-o", "json"])) as {
      readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[]
    }
    const rules = role.rules.map((rule) =>
      rule.resources.includes("secrets") ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== "patch") } : rule,
    )
    const put = (each: object) =>
      kubectl(["patch", "clusterrole", "chancery-operator", "--type=merge", "-p", JSON.stringify({ rules: each })])
    await put(rules)
    await apply(certificate("web"))
    await wait(crt, "web", "Stalled")
    const stalled = await shown("web")
    expect(reasons(stalled)).toContain("Ready=False SecretRejected")
    expect(stalled.status.conditions?.[0]?.message).toMatch(/cannot patch resource/)
    expect(await issued("rights")).toEqual([])
    await put(role.rules)
    await actor.ask(crt, "web")
    await wait(crt, "web", "Ready")
  })

  test("[F-K10] is replaced when secretName changes, with the same certificate", async () => {
    const { certificate, wait, secret } = await setUp("renamed")
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const before = await secret("web-tls")
    await apply(certificate("web", { secretName: "other-tls" }))
    await expect.poll(async () => text(await secret("other-tls"), "tls.crt")).toBe(text(before, "tls.crt"))
    expect(await issued("renamed")).toHaveLength(1)
  })
})

describe.skipIf(programs === undefined)("objects that are deleted together in a cluster", () => {
  useCertificateFixture()

  test("[F-K4] go in any order: token, connection, issuer, certificate, workspace", async () => {
    const { certificate, issuer, wait, kubectl, crt: shown } = await setUp("together")
    const namespace = "together"
    await testEngine.engine.organizations.create({ name: "together", email: "ops@example.com" })
    const { baseURL } = (
      JSON.parse(await kubectl(["get", "clusterconnections.chancery.dev", "engine", "-o", "json"])) as {
        readonly spec: { readonly baseURL: string }
      }
    ).spec
    const connectionRef = { kind: "ClusterConnection", name: "own" }
    await apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "own", namespace: "operator" },
        stringData: { token: testEngine.rootToken },
      },
      {
        apiVersion: api,
        kind: "ClusterConnection",
        metadata: { name: "own" },
        spec: {
          baseURL,
          tokenSecretRef: { name: "own" },
          organization: "together",
          allowedNamespaces: { matchNames: [namespace] },
        },
      },
      issuer("own", { connectionRef }),
      certificate("web", { issuerRef: { name: "own" }, revocationPolicy: { onDelete: true } }),
      { apiVersion: api, kind: workspace.kind, metadata: { name: "web", namespace }, spec: { connectionRef } },
    )
    await wait(crt, "web", "Ready")
    await wait("workspaces.chancery.dev", "web", "Ready")
    const serialNumber = String((await shown("web")).status["serialNumber"])
    await kubectl(["delete", "secret", "own", "-n", "operator"])
    await kubectl(["delete", "clusterconnections.chancery.dev", "own", "--wait=false"])
    await kubectl(["delete", "issuers.chancery.dev", "own", "-n", namespace, "--timeout=60s"])
    await kubectl(["delete", crt, "web", "-n", namespace, "--timeout=60s"])
    await kubectl(["delete", "workspaces.chancery.dev", "web", "-n", namespace, "--timeout=60s"])
    await kubectl(["wait", "--for=delete", "clusterconnections.chancery.dev/own", "--timeout=60s"])
    expect((await testEngine.engine.pki(namespace).certificates.get(serialNumber)).revokedAt).not.toBeNull()
    await expect(testEngine.engine.workspaces.get({ organization: "together", name: "web" })).rejects.toThrow(
      /does not exist/,
    )
  })
})
