import { expect, test } from "vitest"
import { type PodAgentOptions, podArguments } from "./pod-arguments.ts"

const options: PodAgentOptions = {
  tool: "terraform",
  toolsSignature: "required",
  lease: "60s",
  snapshotInterval: "20s",
  maxLog: "64MiB",
  timeLimit: "2h",
  memoryLimit: "off",
  graceTime: "2m",
}
const limits = [
  ...["--lease", "60s", "--snapshot-interval", "20s", "--max-log", "64MiB"],
  ...["--time-limit", "2h", "--memory-limit", "off", "--grace-time", "2m"],
]
const engineUrl = "https://chancery.example"

test("podArguments returns the options of runs when no other is given", () => {
  expect(podArguments(options, { engineUrl, hasCertificates: false })).toEqual([
    ...["agent", "--engine-url", engineUrl, "--isolation", "none", "--data", "/data"],
    ...["--tool", "terraform", "--tools-signature", "required", ...limits],
  ])
})

test("podArguments names files of the pod when files are given", () => {
  const given = {
    ...options,
    tools: "/opt/tools",
    toolsMirror: "https://tools.example",
    toolsKey: "keys.asc",
    providerMirror: "https://mirror.example",
  }
  expect(podArguments(given, { engineUrl, hasCertificates: true })).toEqual([
    ...["agent", "--engine-url", engineUrl, "--ca-file", "/etc/chancery/claim/ca.crt"],
    ...["--isolation", "none", "--data", "/data", "--tool", "terraform", "--tools", "/opt/tools"],
    ...["--tools-mirror", "https://tools.example", "--tools-key", "/etc/chancery/claim/tools-key"],
    ...["--tools-signature", "required", "--provider-mirror", "https://mirror.example", ...limits],
  ])
})
