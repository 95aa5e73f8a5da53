import { siteSettingsContract } from "../contracts/tfe/site-settings.ts"
import type { SiteSettingsFamily } from "../organizations/site-settings.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export const remoteSiteSettings = (transport: Transport): SiteSettingsFamily => remote(siteSettingsContract, transport)
