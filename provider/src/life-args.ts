import type * as pulumi from "@pulumi/pulumi"

/** What every resource takes beside what it is. */
export interface LifeArgs {
  /**
   * What `pulumi destroy`, or leaving it out of the program, does. `safe` (unless `chancery:deletionPolicy` says otherwise)
   * refuses where something would be lost with it, `force` does not, `retain` leaves it where it is.
   */
  deletionPolicy?: pulumi.Input<"safe" | "force" | "retain">
  /** How long each may take: `90s`, `10m`. Five minutes when left out. */
  timeouts?: pulumi.Input<{
    create?: pulumi.Input<string>
    update?: pulumi.Input<string>
    delete?: pulumi.Input<string>
  }>
}
