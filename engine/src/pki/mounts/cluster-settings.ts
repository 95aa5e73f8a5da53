import type { Fault } from "../../core/errors.ts"
import { isAbsoluteUrl } from "../issuers/authority-urls.ts"
import type { ClusterSettings } from "./mount-settings.ts"

export const withoutSlashes = ({ path, aiaPath }: ClusterSettings): ClusterSettings => ({
  path: withoutSlash(path),
  aiaPath: withoutSlash(aiaPath),
})

const withoutSlash = (url: string): string => url.replace(/\/+$/, "")

export function clusterFaults({ path, aiaPath }: ClusterSettings): Fault[] {
  const faults: Fault[] = []
  if (path !== "" && !(isAbsoluteUrl(path) && /^https:/i.test(path)))
    faults.push({ field: ["path"], detail: `"path" must be an https URL` })
  if (aiaPath !== "" && !(isAbsoluteUrl(aiaPath) && /^https?:/i.test(aiaPath)))
    faults.push({ field: ["aiaPath"], detail: `"aia_path" must be an http or https URL` })
  return faults
}
