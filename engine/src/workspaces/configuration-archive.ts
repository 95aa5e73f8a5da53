import type { ConfigurationVersionId } from "../core/ids.ts"

/**
 * Reads, compresses and seals the archive of a configuration, and back. Apart from the store, so that the work is done outside
 * the transaction, where nobody waits for it.
 */
export interface ConfigurationArchive {
  /** Throws `EngineError("unprocessable")` unless the bytes are a tar archive compressed with gzip, `too-large` beyond bounds. */
  inspect(bytes: Uint8Array, workingDirectory: string | null): Promise<InspectedConfiguration>
  pack(id: ConfigurationVersionId, bytes: Uint8Array): Promise<readonly Uint8Array[]>
  unpack(id: ConfigurationVersionId, chunks: readonly Uint8Array[]): Promise<Uint8Array>
}

export interface InspectedConfiguration {
  /** Of the bytes: tells a second sending of them from another configuration. */
  readonly digest: string
  /** Markdown: `README.md` of the working directory, else of the root; null where there is none that can be shown. */
  readonly readme: string | null
}

/** Larger archives are refused; one is held in memory while it is received. */
export const configurationBytesMaximum = 64 * 1024 * 1024
