import { expect, test } from "vitest"
import { runEnvironment, variableFile } from "./run-inputs.ts"

const variable = (key: string, value: string, more: { hcl?: boolean; category?: "terraform" | "env" } = {}) => ({
  key,
  value,
  category: more.category ?? ("terraform" as const),
  hcl: more.hcl ?? false,
})

test.each([
  { variables: [], run: [], text: "" },
  { variables: [variable("region", "eu")], run: [], text: 'region = "eu"\n' },
  { variables: [variable("list", '["a"]', { hcl: true })], run: [], text: 'list = ["a"]\n' },
  { variables: [variable("t", "${a} %{b} $c")], run: [], text: 't = "$${a} %%{b} $c"\n' },
  { variables: [variable("t", 'line\n"two"\\')], run: [], text: 't = "line\\n\\"two\\"\\\\"\n' },
  { variables: [variable("region", "eu")], run: [{ key: "region", value: '"us"' }], text: 'region = "us"\n' },
  { variables: [variable("HOME", "x", { category: "env" })], run: [], text: "" },
])("variableFile returns $text when the variables are $variables and those of the run $run", (given) => {
  expect(variableFile({ variables: given.run }, given.variables)).toBe(given.text)
})

const paths = {
  home: "/run/home",
  temporary: "/run/tmp",
  cliConfiguration: "/run/terraformrc",
  sshKey: undefined,
  knownHosts: "/run/it's/known_hosts",
}

test("runEnvironment contains only the variables of the run when nothing is passed", () => {
  const own = [variable("AWS_REGION", "eu", { category: "env" }), variable("region", "eu")]
  expect(runEnvironment(own, { workspaceName: "web", paths, passed: {} })).toEqual({
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/run/home",
    TMPDIR: "/run/tmp",
    TF_CLI_CONFIG_FILE: "/run/terraformrc",
    TF_WORKSPACE: "web",
    TF_IN_AUTOMATION: "1",
    TF_INPUT: "0",
    CHECKPOINT_DISABLE: "1",
    AWS_REGION: "eu",
  })
})

test("runEnvironment prefers variables of the workspace to passed ones, and offers TFC_ variables as inputs", () => {
  const own = [variable("PATH", "/own", { category: "env" }), variable("TFC_RUN_ID", "run-1", { category: "env" })]
  const environment = runEnvironment(own, { workspaceName: "web", paths, passed: { PATH: "/agent", PROXY: "p" } })
  expect(environment).toMatchObject({ PATH: "/own", PROXY: "p", TFC_RUN_ID: "run-1", TF_VAR_TFC_RUN_ID: "run-1" })
})

test("runEnvironment quotes the paths of the SSH key", () => {
  const withKey = { ...paths, sshKey: "/run/key" }
  expect(runEnvironment([], { workspaceName: "web", paths: withKey, passed: {} })["GIT_SSH_COMMAND"]).toBe(
    String.raw`ssh -i '/run/key' -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile='/run/it'\''s/known_hosts'`,
  )
})
