import { describe, expect, test } from "vitest"
import { cliConfiguration } from "./cli-configuration.ts"

const installation = (block: string): string => `disable_checkpoint = true\nprovider_installation {\n${block}}\n`

describe("the CLI configuration", () => {
  test.each([
    { options: {}, text: "disable_checkpoint = true\n" },
    {
      options: { pluginCache: "/var/cache/agent/plugins/a-1" },
      text: 'disable_checkpoint = true\nplugin_cache_dir = "/var/cache/agent/plugins/a-1"\n',
    },
    {
      options: { providerMirror: "https://mirror.example.com/providers" },
      text: installation('  network_mirror {\n    url = "https://mirror.example.com/providers/"\n  }\n'),
    },
    {
      options: { providerMirror: "https://mirror.example.com/providers/" },
      text: installation('  network_mirror {\n    url = "https://mirror.example.com/providers/"\n  }\n'),
    },
    {
      options: { providerMirror: 'https://mirror.example.com/a"\n}\n' },
      text: installation('  network_mirror {\n    url = "https://mirror.example.com/a%22%7D/"\n  }\n'),
    },
    {
      options: { providerMirror: String.raw`/srv/the "best" \ %{ mirror` },
      text: installation(`  filesystem_mirror {\n    path = "/srv/the \\"best\\" \\\\ %{ mirror"\n  }\n`),
    },
  ])("is $text when the options are $options", ({ options, text }) => {
    expect(cliConfiguration(options)).toBe(text)
  })

  test.each([
    { options: { pluginCache: "/srv/$HOME" }, problem: "cache must not contain $" },
    { options: { pluginCache: "/srv/a\n" }, problem: "cache must not contain $ or control characters" },
    { options: { providerMirror: "/srv/${x}" }, problem: "--provider-mirror must not contain $" },
    { options: { providerMirror: "https://mirror.example.com/$a" }, problem: "--provider-mirror must not contain $" },
    { options: { providerMirror: "providers" }, problem: "--provider-mirror must be an https URL" },
    { options: { providerMirror: "http://mirror.example.com" }, problem: "must be an https URL" },
    { options: { providerMirror: "https://mirror.example.com/?a" }, problem: "without a query" },
    { options: { providerMirror: "https://u:secret@mirror.example.com" }, problem: "must not contain a user name" },
  ])("is rejected when the options are $options", ({ options, problem }) => {
    expect(() => cliConfiguration(options)).toThrow(problem)
  })
})
