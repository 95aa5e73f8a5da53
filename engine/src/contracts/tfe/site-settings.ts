import { z } from "zod"
import type { SiteSettings } from "../../organizations/site-settings.ts"
import { document, mapped, writable } from "./document.ts"
import { contract, resource } from "./endpoint.ts"

const flat = document("general-settings", {
  id: z.custom<string>(),
  attributes: {
    defaultGlobalRemoteState: writable(z.boolean(), {
      wireName: "default-remote-state-access",
      rule: "global-remote-state of workspaces that are created without it.",
      default: false,
      example: true,
    }),
    engineReleases: writable(z.array(z.string()) as z.ZodType<readonly string[]>, {
      rule: "Releases of the infrastructure tool beyond those that the server knows, as exact versions; at most 1,000.",
      default: [],
      example: ["1.20.0"],
    }),
  },
  relationships: {},
})

export const siteSettings = mapped(flat, {
  from: (settings: SiteSettings) => ({ ...settings, id: "general-settings" }),
  to: ({ id: _, ...settings }) => settings,
})

const path = "/admin/general-settings"
const rights = "Site administrators."

export const siteSettingsContract = contract({
  get: { method: "GET", path, summary: "Returns the settings of the site.", rights, answers: resource(siteSettings) },
  update: {
    method: "PATCH",
    path,
    summary: "Changes the settings of the site. Attributes left out keep their values.",
    rights,
    body: flat.patch,
    answers: resource(siteSettings),
  },
})
