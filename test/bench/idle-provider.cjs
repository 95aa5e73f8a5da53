// The least that a provider of dynamic resources can do.
module.exports = {
  check: async (_olds, inputs) => ({ inputs, failures: [] }),
  diff: async () => ({ changes: false }),
  create: async (inputs) => ({ id: "idle", outs: inputs }),
  read: async (id, props) => ({ id, props }),
  update: async (_id, _olds, news) => ({ outs: news }),
  delete: async () => undefined,
}
