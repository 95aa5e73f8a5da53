import type * as pulumi from "@pulumi/pulumi"

/** Arguments of every resource. */
export interface LifecycleArgs {
  /**
   * Effect of `pulumi destroy` and of removal from the program. `safe` refuses if data would be lost, `force` deletes anyway,
   * `retain` leaves the resource on the server. Default: `chancery:deletionPolicy`, else `safe`.
   */
  deletionPolicy?: pulumi.Input<"safe" | "force" | "retain">
  /** Time limit of each operation, such as `90s` or `10m`. Default: five minutes. */
  timeouts?: pulumi.Input<{
    create?: pulumi.Input<string>
    update?: pulumi.Input<string>
    delete?: pulumi.Input<string>
  }>
}

export interface Adopted {
  /** The resource existed before and was adopted with `adopt: true`. */
  readonly adopted: boolean
}
