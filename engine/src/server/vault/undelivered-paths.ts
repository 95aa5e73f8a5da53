/** Explanations for paths of Vault that are not served here, by the first two segments. */
const sentences: Readonly<Record<string, string>> = {
  "sys/audit": "--audit-log configures the audit log",
  "sys/generate-root": 'use "chancery token create", which writes to the store directly',
  "sys/ha-status": "every replica serves all requests; there is no list of peers",
  "sys/init": "the first start of a server initializes its store",
  "sys/key-status": 'use "chancery seal status" to list the keys that seal the store',
  "sys/metrics": "use /metrics, outside this API",
  "sys/namespaces": "namespaces are not supported, except root",
  "sys/plugins": "plugins are not supported; certificate authorities are built in",
  "sys/quotas": "--rate-limit limits the rate of requests",
  "sys/rekey": 'use "chancery seal rotate" to change the key of the store',
  "sys/rotate": 'use "chancery seal rotate" to change the key of the store',
  "sys/seal": "a running server always has the key of its store; stop the server instead",
  "sys/step-down": "every replica serves all requests; there is no leader",
  "sys/storage": 'the store is SQLite or PostgreSQL; use "chancery backup" or the tools of PostgreSQL',
  "sys/unseal": "the server unseals its store at its start (--seal-key-file)",
  "sys/wrapping": "response wrapping is not supported",
}

/** Returns the explanation for a path that is not served. `segments` are those below `/v1`. */
export function elsewhere(segments: readonly string[]): string | undefined {
  const begin = segments.slice(0, 2).join("/")
  return Object.hasOwn(sentences, begin) ? sentences[begin] : undefined
}
