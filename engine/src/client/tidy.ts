import type { Tidy } from "../pki/tidy/tidy.ts"
import { autoTidyParameters, decodeAutoTidy, decodeTidyStatus, tidyParameters } from "../wire/pki/tidy.ts"
import { type PkiCalls, saying } from "./pki-calls.ts"

export const remoteTidy = (calls: PkiCalls): Tidy => ({
  start: async (input) => (await calls.write("/tidy", saying(tidyParameters, input))).warnings,
  async cancel() {
    const { data, warnings } = await calls.write("/tidy-cancel")
    return { status: decodeTidyStatus(data), warnings }
  },
  getStatus: async () => decodeTidyStatus((await calls.read("/tidy-status")).data),
  getAutomatic: async () => decodeAutoTidy((await calls.read("/config/auto-tidy")).data),
  changeAutomatic: async (patch) =>
    decodeAutoTidy((await calls.write("/config/auto-tidy", saying(autoTidyParameters, patch))).data),
})
