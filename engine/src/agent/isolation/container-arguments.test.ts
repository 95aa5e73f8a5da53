import { describe, expect, test } from "vitest"
import {
  clientEnvironment,
  type ContainerArguments,
  containerArguments,
  containerEnvironment,
} from "./container-arguments.ts"

const command = {
  program: "/opt/tools/terraform",
  args: ["plan", "-input=false"],
  root: "/var/agent/runs/run-1",
  cwd: "/var/agent/runs/run-1/configuration",
  readable: ["/opt/tools"],
  writable: ["/var/cache/plugins"],
}
const options: ContainerArguments = {
  image: "registry.example/terraform:1",
  network: undefined,
  processLimit: 100,
  limits: { memoryBytes: null },
  hasCgroups: true,
  isRootlessPodman: false,
  agent: "agent-1",
  name: "chancery-container-x",
  owner: { uid: 1000, gid: 1001 },
  environmentFile: "/tmp/e/environment",
  passedVariables: [],
}

test("container arguments are complete when no option is set", () => {
  expect(containerArguments(command, options)).toEqual([
    ...["run", "--rm", "--pull", "never", "--name", "chancery-container-x"],
    ...["--label", "chancery.agent=agent-1", "--label", "chancery.run=run-1"],
    ...["--log-driver", "none", "--read-only", "--tmpfs", "/tmp"],
    ...["--cap-drop", "all", "--security-opt", "no-new-privileges", "--user", "1000:1001", "--pids-limit", "100"],
    ...["--env-file", "/tmp/e/environment"],
    ...["--volume", "/opt/tools:/opt/tools:ro", "--volume", "/var/cache/plugins:/var/cache/plugins:rw"],
    ...["--volume", "/var/agent/runs/run-1:/var/agent/runs/run-1:rw"],
    ...["--workdir", "/var/agent/runs/run-1/configuration", "--entrypoint", "/opt/tools/terraform"],
    ...["registry.example/terraform:1", "plan", "-input=false"],
  ])
})

test.each<[string, Partial<ContainerArguments>, string]>([
  ["a network is set", { network: "none" }, "--network none --pids-limit"],
  ["memory is limited", { limits: { memoryBytes: 1024 } }, "--memory 1024 --memory-swap 1024 --env-file"],
  ["podman has no root", { isRootlessPodman: true }, "--user 1000:1001 --userns keep-id"],
  ["there are no cgroups", { hasCgroups: false, limits: { memoryBytes: 1024 } }, "--user 1000:1001 --env-file"],
  ["variables are passed on", { passedVariables: ["TF_VAR_key"] }, "environment --env TF_VAR_key --volume"],
])("container arguments differ when %s", (_condition, changes, expected) => {
  expect(containerArguments(command, { ...options, ...changes }).join(" ")).toContain(expected)
})

test("container arguments are rejected when a path has a colon", () => {
  expect(() => containerArguments({ ...command, root: "/a:b" }, options)).toThrow("/a:b must not contain a colon")
})

describe("environment of a container", () => {
  test("is one line for each variable", () => {
    expect(containerEnvironment({ A: "b c=#d", E: "" })).toEqual({ file: "A=b c=#d\nE=\n", passed: {} })
  })

  test("passes values with line breaks through the client when no client reads the name", () => {
    expect(containerEnvironment({ TF_VAR_key: "a\nb", GOOGLE_CREDENTIALS: "{\n}" })).toEqual({
      file: "",
      passed: { TF_VAR_key: "a\nb", GOOGLE_CREDENTIALS: "{\n}" },
    })
  })

  test.each([
    ["LD_PRELOAD", "/a\n.so", "LD_PRELOAD has line breaks"],
    ["A", "x".repeat(65_001), "A has line breaks or more than 65000 bytes"],
    ["A\nB", "c", String.raw`the name "A\nB"`],
    ["#A", "c", 'the name "#A"'],
  ])("is rejected when it has %j", (name, value, problem) => {
    expect(() => containerEnvironment({ [name]: value })).toThrow(problem)
  })
})

test("environment of the client contains the engine's variables and no token", () => {
  const agent = {
    PATH: "/bin",
    DOCKER_HOST: "unix:///a",
    CONTAINERS_CONF: "/c",
    CHANCERY_TOKEN: "secret",
    AWS_PROFILE: "a",
  }
  expect(clientEnvironment(agent)).toEqual({ PATH: "/bin", DOCKER_HOST: "unix:///a", CONTAINERS_CONF: "/c" })
})
