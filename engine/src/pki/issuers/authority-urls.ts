// URLs in certificates: of the issuer's certificate, its revocation lists and its OCSP responders. An issuer with any URL of its own
// overrides the mount's whole set. Templates are filled in at issuance
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#set-urls).
import type { Fault } from "../../core/errors.ts"
import type { IssuerId } from "../../core/ids.ts"
import type { ClusterSettings } from "../mounts/mount-settings.ts"
import type { AuthorityUrls } from "./issuer.ts"

/** URLs as they are written into certificates, with templates filled in. */
export type FilledUrls = Omit<AuthorityUrls, "enableTemplating">

const lists = ["issuingCertificates", "crlDistributionPoints", "deltaCrlDistributionPoints", "ocspServers"] as const

export const hasNoUrls = (urls: FilledUrls): boolean => lists.every((list) => urls[list].length === 0)

/** Returns the URLs for certificates of an issuer. A template whose value is not configured is left out, with a warning. */
export function filledUrls(
  issuer: { readonly id: IssuerId; readonly settings: { readonly urls: AuthorityUrls } },
  mount: { readonly urls: AuthorityUrls; readonly cluster: ClusterSettings },
): { readonly urls: FilledUrls; readonly warnings: readonly string[] } {
  const chosen = hasNoUrls(issuer.settings.urls) ? mount.urls : issuer.settings.urls
  if (!chosen.enableTemplating) return { urls: chosen, warnings: [] }
  const values: Readonly<Record<string, string>> = {
    issuer_id: issuer.id,
    cluster_path: mount.cluster.path,
    cluster_aia_path: mount.cluster.aiaPath,
  }
  const warnings = new Set<string>()
  const fill = (template: string): readonly string[] => {
    const missing = [...template.matchAll(placeholder)].find(([, name = ""]) => !values[name])
    if (missing === undefined) return [template.replace(placeholder, (_, name: string) => values[name] ?? "")]
    warnings.add(`"${template}" is left out of certificates, because ${missing[0]} has no value`)
    return []
  }
  const urls = Object.fromEntries(lists.map((list) => [list, chosen[list].flatMap(fill)])) as unknown as FilledUrls
  return { urls, warnings: [...warnings] }
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g
const placeholders = new Set(["issuer_id", "cluster_path", "cluster_aia_path"])
const maxUrls = 32
const maxUrl = 2_048

/** Returns one fault for each list that contains anything other than absolute URLs, or templates of them if templating is enabled. */
export function urlFaults(urls: AuthorityUrls): Fault[] {
  return lists.flatMap((list) => {
    if (urls[list].length > maxUrls) return [{ field: [list], detail: `must not contain more than ${maxUrls} URLs` }]
    const wrong = urls[list].find((url) => !isAllowed(url, urls.enableTemplating))
    return wrong === undefined
      ? []
      : [{ field: [list], detail: `invalid URL found in Authority Information Access (AIA) parameter: ${wrong}` }]
  })
}

function isAllowed(text: string, templating: boolean): boolean {
  if (text.length > maxUrl) return false
  const names = [...text.matchAll(placeholder)].map(([, name = ""]) => name)
  if (names.length > 0 && (!templating || !names.every((name) => placeholders.has(name)))) return false
  // A cluster path is a URL by itself. Any text can replace the other placeholders.
  const sample = text.replace(/^\{\{\s*cluster_(aia_)?path\s*\}\}/, "https://cluster.example").replace(placeholder, "x")
  return isAbsoluteUrl(sample)
}

/** Returns true for an absolute URL in the characters that a certificate can hold (IA5String, RFC 5280 section 4.2.1.6). */
export const isAbsoluteUrl = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/[!-~]+$/i.test(text) && URL.canParse(text)
