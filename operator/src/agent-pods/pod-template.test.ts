import { expect, test } from "vitest"
import { maxTemplateBytes, parsePodTemplate, templateFaults } from "./pod-template.ts"

const agentWith = (members: object) => ({ spec: { containers: [{ name: "agent", ...members }] } })

test.each([
  { template: { spec: {} } },
  { template: { apiVersion: "v1", kind: "Pod", spec: { restartPolicy: "Never" } } },
  {
    template: { metadata: { labels: { team: "a" }, annotations: { b: "c" } }, spec: { nodeSelector: { disk: "ssd" } } },
  },
  { template: agentWith({ image: "a:1", env: [{ name: "TZ", value: "UTC" }], volumeMounts: [{ name: "work" }] }) },
  {
    template: { spec: { containers: [{ name: "proxy", command: ["proxy"], args: [] }], volumes: [{ name: "work" }] } },
  },
])("templateFaults finds nothing in $template", ({ template }) => {
  expect(templateFaults(template)).toEqual([])
})

test.each([
  { template: null, faults: ["the template must be an object with metadata and spec"] },
  { template: [], faults: ["the template must be an object with metadata and spec"] },
  { template: {}, faults: ["spec must be an object"] },
  { template: { spec: {}, spce: {} }, faults: ["spce is not a member of a pod template"] },
  { template: { kind: "Deployment", spec: {} }, faults: ["kind must be Pod, or absent"] },
  { template: { apiVersion: "v2", spec: {} }, faults: ["apiVersion must be v1, or absent"] },
  { template: { metadata: "a", spec: {} }, faults: ["metadata must be an object"] },
  {
    template: { metadata: { name: "a" }, spec: {} },
    faults: ["metadata.name cannot be set; only labels and annotations can"],
  },
  { template: { metadata: { labels: { a: 1 } }, spec: {} }, faults: ["metadata.labels.a must be a string"] },
  { template: { metadata: { labels: [] }, spec: {} }, faults: ["metadata.labels must be an object"] },
  {
    template: { metadata: { labels: { "chancery.dev/agent": "a" } }, spec: {} },
    faults: ["metadata.labels.chancery.dev/agent is set by the agent"],
  },
  {
    template: { metadata: { labels: { "app.kubernetes.io/managed-by": "a" } }, spec: {} },
    faults: ["metadata.labels.app.kubernetes.io/managed-by is set by the agent"],
  },
  {
    template: { spec: { restartPolicy: "Always" } },
    faults: ["spec.restartPolicy must be Never, because a run is not started twice"],
  },
  { template: { spec: { securityContext: 1 } }, faults: ["spec.securityContext must be an object"] },
  { template: { spec: { containers: {} } }, faults: ["spec.containers must be an array"] },
  { template: { spec: { containers: ["a"] } }, faults: ["spec.containers[0] must be an object"] },
  { template: { spec: { containers: [{}] } }, faults: ["spec.containers[0].name must be a string"] },
  { template: { spec: { volumes: 1 } }, faults: ["spec.volumes must be an array"] },
  {
    template: { spec: { volumes: [{ name: "a" }, { name: "chancery-data" }] } },
    faults: ["spec.volumes[1].name is the name of a volume of the agent"],
  },
  {
    template: agentWith({ command: ["a"], args: [] }),
    faults: [
      "spec.containers[0].command cannot be set; the agent sets the command",
      "spec.containers[0].args cannot be set; the agent sets the command",
    ],
  },
  { template: agentWith({ image: "" }), faults: ["spec.containers[0].image must be a non-empty string"] },
  { template: agentWith({ env: {} }), faults: ["spec.containers[0].env must be an array"] },
  {
    template: agentWith({ env: [{ name: "CHANCERY_TOKEN" }] }),
    faults: ["spec.containers[0].env[0].name cannot begin with CHANCERY_"],
  },
  { template: agentWith({ volumeMounts: [1] }), faults: ["spec.containers[0].volumeMounts[0] must be an object"] },
  { template: agentWith({ securityContext: [] }), faults: ["spec.containers[0].securityContext must be an object"] },
])("templateFaults names $faults in $template", ({ template, faults }) => {
  expect(templateFaults(template)).toEqual(faults)
})

test.each([
  { text: "spec: {}", why: "YAML" },
  { text: '{"spec":{}}', why: "JSON" },
])("parsePodTemplate returns a template when the text is $why", ({ text }) => {
  expect(parsePodTemplate(text)).toEqual({ template: { spec: {} } })
})

test.each([
  { text: "spec: [", fault: /^the template is not valid YAML: /, why: "is not YAML" },
  { text: "", fault: /^the template must be an object/, why: "is empty" },
  { text: "x".repeat(maxTemplateBytes + 1), fault: /^the template is larger than 262144 bytes$/, why: "is too large" },
  {
    text: `a: &a [${"x,".repeat(50)}]\nb: &b [${"*a,".repeat(50)}]\nspec: [${"*b,".repeat(50)}]`,
    fault: /^the template is not valid YAML: Excessive alias count/,
    why: "expands without measure",
  },
])("parsePodTemplate returns a fault when the text $why", ({ text, fault }) => {
  expect(parsePodTemplate(text)).toEqual({ faults: [expect.stringMatching(fault)] })
})
