/** Explanations for paths of Vault that are not served here, by the first two segments. */
const sentences: Readonly<Record<string, string>> = {
  "sys/audit": "the server's own settings say where its audit log goes (--audit-log)",
  "sys/generate-root": 'a root token is made by "chancery token create", directly in the store',
  "sys/ha-status": "every replica answers everything, so there is no list of peers",
  "sys/init": "the first start of a server initializes its store",
  "sys/key-status": 'the keys that seal the store are listed by "chancery seal status"',
  "sys/metrics": "metrics are at /metrics, outside this API",
  "sys/namespaces": "there are no namespaces but root",
  "sys/plugins": "there are no plugins; certificate authorities are built in",
  "sys/quotas": "the server's own settings bound its requests (--rate-limit)",
  "sys/rekey": 'the store gets another key by "chancery seal rotate"',
  "sys/rotate": 'the store gets another key by "chancery seal rotate"',
  "sys/seal": "a server holds the key of its store as long as it runs; stop it in place of sealing it",
  "sys/step-down": "every replica answers everything, so there is no leader to step down",
  "sys/storage": 'the store is SQLite or PostgreSQL, and is saved by "chancery backup" or with the tools of PostgreSQL',
  "sys/unseal": "a server unseals its store by its own settings (--seal-key-file)",
  "sys/wrapping": "responses are not wrapped",
}

/** Returns the explanation for a path that is not served. `segments` are those below `/v1`. */
export function elsewhere(segments: readonly string[]): string | undefined {
  const begin = segments.slice(0, 2).join("/")
  return Object.hasOwn(sentences, begin) ? sentences[begin] : undefined
}
