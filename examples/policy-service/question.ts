/** A request of Chancery; members that this service does not use are left out. */
export interface Question {
  readonly request_version: number
  readonly request_uuid: string
  /** Parameters of the caller, unchecked; `csr` is always present. */
  readonly user_request_key_values: Readonly<Record<string, unknown>> & { readonly csr: string }
  /** Identity of the caller; absent for service tokens. */
  readonly identity_request_key_values?: { readonly entity_id: string }
  /** Facts that Chancery has verified. */
  readonly vault_request_values: {
    readonly policy_name: string
    readonly mount: string
    readonly issuance_mode: "sign" | "issue" | "ica" | "acme"
    readonly vault_generated_private_key: boolean
    readonly requested_issuer_id: string
  }
}

/** The answer, without `request_uuid`. */
export interface Decision {
  readonly error?: string
  readonly certificate?: string
  /** The service decides later. The request is repeated after `retry_after` seconds. */
  readonly decision?: "pending"
  readonly retry_after?: number
  readonly warnings?: readonly string[]
  readonly issuer_ref?: string
  readonly store_certificate?: boolean
}
