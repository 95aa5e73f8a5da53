import { describe, expect, test } from "vitest"
import { roleDefaults } from "../roles/role.ts"
import {
  defaultEstSettings,
  type EstContext,
  type EstSettings,
  estSettingsFaults,
  formatPathPolicy,
  needsApproval,
  parsePathPolicy,
  pathOfPolicy,
  registeredLabels,
} from "./est-settings.ts"

const context: EstContext = {
  mountPath: "pki",
  roles: new Map([
    ["web", roleDefaults],
    ["unstored", { ...roleDefaults, noStore: true }],
  ]),
  delegatedAuthAccessors: ["auth_userpass_1", "auth_cert_1"],
  typeOf: (accessor) => accessor.split("_")[1],
}
const authenticators = (userpass: string, cert = "") => ({
  authenticators: { userpass: { accessor: userpass }, cert: { accessor: cert, role: "" } },
})

describe("estSettingsFaults", () => {
  test.each<{ settings: Partial<EstSettings>; field: keyof EstSettings; detail: RegExp }>([
    { settings: { defaultMount: true }, field: "defaultPathPolicy", detail: /required if "default_mount" is true/ },
    { settings: { defaultPathPolicy: "forbid" }, field: "defaultPathPolicy", detail: /must be "sign-verbatim"/ },
    { settings: { defaultPathPolicy: "role:" }, field: "defaultPathPolicy", detail: /must be "sign-verbatim"/ },
    {
      settings: { defaultPathPolicy: "role:absent" },
      field: "defaultPathPolicy",
      detail: /role absent, which does not/,
    },
    { settings: { defaultPathPolicy: "role:unstored" }, field: "defaultPathPolicy", detail: /no_store is true/ },
    { settings: { labelToPathPolicy: { "": "sign-verbatim" } }, field: "labelToPathPolicy", detail: /1 to 64 letters/ },
    { settings: { labelToPathPolicy: { "a/b": "sign-verbatim" } }, field: "labelToPathPolicy", detail: /1 to 64/ },
    { settings: { labelToPathPolicy: { cacerts: "sign-verbatim" } }, field: "labelToPathPolicy", detail: /operation/ },
    { settings: { labelToPathPolicy: { fullcmc: "sign-verbatim" } }, field: "labelToPathPolicy", detail: /operation/ },
    { settings: { labelToPathPolicy: { a: "role:absent" } }, field: "labelToPathPolicy", detail: /role absent/ },
    {
      settings: authenticators("auth_cert_1"),
      field: "authenticators",
      detail: /userpass: no auth method of type userpass/,
    },
    { settings: authenticators("auth_userpass_2"), field: "authenticators", detail: /delegated_auth_accessors of pki/ },
    {
      settings: authenticators("", "auth_userpass_1"),
      field: "authenticators",
      detail: /cert: no auth method of type cert/,
    },
    { settings: { manualApproval: ["web"] }, field: "manualApproval", detail: /"web", which is not a path policy/ },
  ])("names $field when the settings are $settings", ({ settings, field, detail }) => {
    const faults = estSettingsFaults({ ...defaultEstSettings, ...settings }, context)
    expect(faults).toEqual([{ field: [field], detail: expect.stringMatching(detail) as string }])
  })

  test("returns nothing when all settings are possible", () => {
    const settings: EstSettings = {
      ...defaultEstSettings,
      enabled: true,
      defaultMount: true,
      defaultPathPolicy: "role:web",
      labelToPathPolicy: { printers: "external-policy:printers", "raw.1": "sign-verbatim" },
      ...authenticators("auth_userpass_1", "auth_cert_1"),
      manualApproval: ["*"],
    }
    expect(estSettingsFaults(settings, context)).toEqual([])
  })

  test("bounds the number of labels", () => {
    const labels = Array.from({ length: 101 }, (_, at) => [`label-${at}`, "sign-verbatim"])
    const faults = estSettingsFaults({ ...defaultEstSettings, labelToPathPolicy: Object.fromEntries(labels) }, context)
    expect(faults.map(({ detail }) => detail)).toEqual(['"label_to_path_policy" has too many labels (maximum is 100)'])
  })
})

test.each([
  { text: "sign-verbatim", path: "est" },
  { text: "role:web", path: "roles/web/est" },
  { text: "external-policy", path: "external-policy/est" },
  { text: "external-policy:printers", path: "external-policy/printers/est" },
])("the path policy $text has the path $path, and is formatted as it was written", ({ text, path }) => {
  const policy = parsePathPolicy(text)
  expect(policy && [pathOfPolicy(policy), formatPathPolicy(policy)]).toEqual([path, text])
})

test.each([
  { manualApproval: [], needs: false },
  { manualApproval: ["*"], needs: true },
  { manualApproval: ["role:web"], needs: true },
  { manualApproval: ["role:we", "sign-verbatim"], needs: false },
])(
  "a request of role:web needs an approval ($needs) when manual_approval is $manualApproval",
  ({ manualApproval, needs }) => {
    expect(needsApproval({ manualApproval }, { kind: "role", role: "web" })).toBe(needs)
  },
)

test.each([
  { enabled: false, defaultMount: true, labels: [] },
  { enabled: true, defaultMount: false, labels: ["printers"] },
  { enabled: true, defaultMount: true, labels: ["", "printers"] },
])(
  "registeredLabels returns $labels when enabled is $enabled and default_mount $defaultMount",
  ({ labels, ...settings }) => {
    const labelToPathPolicy = { printers: "role:web" }
    expect(registeredLabels({ ...defaultEstSettings, ...settings, labelToPathPolicy })).toEqual(labels)
  },
)
