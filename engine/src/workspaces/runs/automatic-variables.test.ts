import { expect, test } from "vitest"
import { automaticVariables } from "./automatic-variables.ts"

const place = { runId: "run-1", workspaceName: "web", organizationName: "acme", projectName: "Shop", ingress: null }

test.each([
  { ingress: null, git: ["", "", ""] },
  { ingress: { branch: "main", commitSha: "2f1a", tag: null }, git: ["main", "2f1a", ""] },
  { ingress: { branch: null, commitSha: null, tag: "v1" }, git: ["", "", "v1"] },
])("the automatic variables of a run with the origin $ingress contain $git", ({ ingress, git }) => {
  const variables = automaticVariables({ ...place, ingress })
  expect(variables.map(({ key, value }) => [key, value])).toEqual([
    ["TFC_RUN_ID", "run-1"],
    ["TFC_WORKSPACE_NAME", "web"],
    ["TFC_WORKSPACE_SLUG", "acme/web"],
    ["TFC_PROJECT_NAME", "Shop"],
    ["TFC_CONFIGURATION_VERSION_GIT_BRANCH", git[0]],
    ["TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA", git[1]],
    ["TFC_CONFIGURATION_VERSION_GIT_TAG", git[2]],
  ])
  expect(variables.every(({ category, sensitive, hcl }) => category === "env" && !sensitive && !hcl)).toBe(true)
})
