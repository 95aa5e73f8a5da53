export interface Edit {
  readonly file: string
  /** Replaced at every occurrence. */
  readonly find: string
  readonly replacement: string
}

const updateSubscription = "func (b *organizationSubscriptionUpdater) Update(t *testing.T) {"
const newRandomString = "func randomString(t *testing.T) string {\n\tv, err := uuid.GenerateUUID()\n"
const inOrder =
  '\tcreated := fmt.Sprintf("%016x", time.Now().UnixNano())\n\tv = created[:8] + "-" + created[8:12] + "-" + created[12:] + v[18:]\n'

/** Edits of the copied tests, with their reasons. They change no assertion. */
export const edits: readonly Edit[] = [
  // Upgrades the organization's plan at HashiCorp's own endpoints. Here every organization has every feature.
  { file: "subscription_updater_test.go", find: updateSubscription, replacement: `${updateSubscription}\n\treturn\n` },
  // Makes names sort in the order of their creation. TestWorkspacesList expects that order without requesting it; HCP Terraform's default
  // order is arbitrary, and here it is by name.
  { file: "helper_test.go", find: newRandomString, replacement: `${newRandomString}${inOrder}` },
  // Polls twice a second: the runs are simulated and take no time.
  {
    file: "helper_test.go",
    find: "time.NewTicker(2 * time.Second)",
    replacement: "time.NewTicker(500 * time.Millisecond)",
  },
  // Waits less long for a status that no run reaches here.
  { file: "helper_test.go", find: "timeout := 2 * time.Minute", replacement: "timeout := 30 * time.Second" },
]
