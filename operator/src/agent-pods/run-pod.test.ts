import { expect, test } from "vitest"
import type { PodTemplate } from "./pod-template.ts"
import { labelValue, limitsOf, podName, podOf, type PodOptions, podsOfAgent, runOf, secretOf } from "./run-pod.ts"

const run = { claimId: "claim-1", runId: "run-AbC", workspace: "acme/web" }
const options: PodOptions = {
  namespace: "runs",
  agent: "agent-0",
  image: "agent:1",
  args: ["agent", "--isolation", "none"],
  passed: [],
  files: [],
  filesFolder: "/etc/chancery/claim",
  graceMs: 120_000,
}
const name = podName(run)
const made = (template: PodTemplate, other: Partial<PodOptions> = {}) =>
  podOf(template, { ...options, ...other }, run) as unknown as {
    readonly metadata: object
    readonly spec: Readonly<Record<string, unknown>> & {
      readonly containers: readonly [Readonly<Record<string, unknown>>, ...object[]]
    }
  }
const token = { name: "CHANCERY_TOKEN", valueFrom: { secretKeyRef: { name, key: "token" } } }
const mounts = [
  { name: "chancery-data", mountPath: "/data" },
  { name: "chancery-tmp", mountPath: "/tmp" },
]

test("podOf returns a restricted pod when the template is empty", () => {
  expect(made({ spec: {} })).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "runs",
      labels: {
        "app.kubernetes.io/managed-by": "chancery-agent",
        "chancery.dev/agent": "agent-0",
        "chancery.dev/run": "run-AbC",
      },
      annotations: { "chancery.dev/claim": "claim-1", "chancery.dev/workspace": "acme/web" },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 150,
      restartPolicy: "Never",
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "agent",
          image: "agent:1",
          terminationMessagePolicy: "FallbackToLogsOnError",
          command: ["chancery"],
          args: ["agent", "--isolation", "none", "--claim", "claim-1"],
          env: [token],
          volumeMounts: mounts,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
      volumes: [
        { name: "chancery-data", emptyDir: {} },
        { name: "chancery-tmp", emptyDir: {} },
      ],
    },
  })
})

test.each([
  { why: "other members", spec: { nodeSelector: { disk: "ssd" }, tolerations: [{ operator: "Exists" }] } },
  { why: "a service account", spec: { serviceAccountName: "runs", automountServiceAccountToken: true } },
  { why: "a grace period", spec: { terminationGracePeriodSeconds: 7200 } },
])("podOf keeps $why when the template has them", ({ spec }) => {
  expect(made({ spec }).spec).toMatchObject(spec)
})

test("podOf keeps sidecars, their order and volumes when the template has them", () => {
  const proxy = { name: "proxy", image: "proxy:1", command: ["proxy"] }
  const { spec } = made({ spec: { containers: [proxy, { name: "agent" }], volumes: [{ name: "keys", emptyDir: {} }] } })
  expect(spec.containers.slice(1)).toEqual([proxy])
  expect(spec["volumes"]).toEqual([
    { name: "keys", emptyDir: {} },
    ...mounts.map((mount) => ({ name: mount.name, emptyDir: {} })),
  ])
})

test.each([
  { given: { runAsUser: 1000 }, merged: { runAsNonRoot: true, runAsUser: 1000 } },
  { given: { runAsNonRoot: false }, merged: { runAsNonRoot: false } },
])("podOf lets the template set the security context of the pod when it is $given", ({ given, merged }) => {
  expect(made({ spec: { securityContext: given } }).spec["securityContext"]).toEqual({
    seccompProfile: { type: "RuntimeDefault" },
    ...merged,
  })
})

test("podOf merges the container agent when the template has one", () => {
  const container = {
    name: "agent",
    image: "own:1",
    resources: { limits: { memory: "1Gi" } },
    env: [{ name: "TZ", value: "UTC" }],
    volumeMounts: [{ name: "states", mountPath: "/data/" }],
    securityContext: { readOnlyRootFilesystem: false },
  }
  const { spec } = made({ spec: { containers: [container] } })
  expect(spec.containers[0]).toMatchObject({
    image: "agent:1",
    resources: container.resources,
    env: [{ name: "TZ", value: "UTC" }, token],
    volumeMounts: [{ name: "states", mountPath: "/data/" }, mounts[1]],
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: false },
  })
  expect(made({ spec: { containers: [container] } }, { image: undefined }).spec.containers[0]).toMatchObject({
    image: "own:1",
  })
})

test("podOf refers to the Secret when there are variables and files", () => {
  const { spec } = made({ spec: {} }, { passed: ["HTTPS_PROXY"], files: ["ca.crt"] })
  expect(spec.containers[0]).toMatchObject({
    args: ["agent", "--isolation", "none", "--claim", "claim-1", "--pass-env", "HTTPS_PROXY"],
    env: [token, { name: "HTTPS_PROXY", valueFrom: { secretKeyRef: { name, key: "env.HTTPS_PROXY" } } }],
    volumeMounts: [...mounts, { name: "chancery-claim", mountPath: "/etc/chancery/claim", readOnly: true }],
  })
  expect(spec["volumes"]).toContainEqual({
    name: "chancery-claim",
    secret: { secretName: name, defaultMode: 0o444, items: [{ key: "ca.crt", path: "ca.crt" }] },
  })
})

test("podOf sets its own labels when the template has others", () => {
  const { metadata } = made({ metadata: { labels: { team: "a" }, annotations: { b: "c" } }, spec: {} })
  expect(metadata).toMatchObject({ labels: { team: "a", "chancery.dev/run": "run-AbC" }, annotations: { b: "c" } })
})

test("secretOf returns a Secret that the pod owns when the pod is created", () => {
  const pod = podOf({ spec: {} }, options, run)
  const created = { ...pod, metadata: { ...pod.metadata, uid: "u-1" } }
  const content = { token: "secret", passed: { A: "1" }, files: { "ca.crt": "pem" } }
  expect(secretOf(created, content)).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: "runs",
      labels: pod.metadata.labels,
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid: "u-1" }],
    },
    type: "Opaque",
    immutable: true,
    stringData: { token: "secret", "env.A": "1", "ca.crt": "pem" },
  })
  expect(JSON.stringify(pod)).not.toContain('secret"')
})

test("runOf returns the run of a pod when an earlier agent created it", () => {
  expect(runOf(podOf({ spec: {} }, options, run))).toEqual(run)
  expect(runOf({ metadata: { name: "other" } })).toBeUndefined()
})

test("podName differs when ids differ only in case", () => {
  const other = podName({ ...run, claimId: "claim-2", runId: "run-aBc" })
  expect([name, other]).toEqual([expect.stringMatching(/^run-abc-[0-9a-f]{10}$/), expect.stringMatching(/^run-abc-/)])
  expect(other).not.toBe(name)
})

test.each([
  { text: "agent-0", value: /^agent-0$/ },
  { text: "agent 0", value: /^agent-0-[0-9a-f]{10}$/ },
  { text: "-agent", value: /^agent-[0-9a-f]{10}$/ },
  { text: "ä", value: /^[0-9a-f]{10}$/ },
  { text: "", value: /^[0-9a-f]{10}$/ },
  { text: "a".repeat(64), value: /^a{52}-[0-9a-f]{10}$/ },
])("labelValue returns a value of a label when the text is $text", ({ text, value }) => {
  expect(labelValue(text)).toMatch(value)
})

test("podsOfAgent selects the pods of one agent when its name is no label", () => {
  expect(podsOfAgent("a b")).toMatch(
    /^app\.kubernetes\.io\/managed-by=chancery-agent,chancery\.dev\/agent=a-b-[0-9a-f]{10}$/,
  )
})

const memory = "memory of pods is not limited, because the pod template sets no limit"
const cpu = "cpu of pods is not limited, because the pod template sets no limit"
test.each([
  { spec: {}, lines: [memory, cpu] },
  { spec: { containers: [{ name: "agent", resources: { limits: { memory: "1Gi" } } }] }, lines: [cpu] },
  { spec: { containers: [{ name: "proxy", resources: { limits: { memory: "1Gi", cpu: 1 } } }] }, lines: [memory, cpu] },
  { spec: { resources: { limits: { memory: "1Gi", cpu: 1 } } }, lines: [] },
])("limitsOf returns $lines.length lines when the template is $spec", ({ spec, lines }) => {
  expect(limitsOf({ spec })).toEqual(lines)
})
