import { expect, test } from "vitest"
import { maskText, SecretMask } from "./secret-mask.ts"

function masked(secrets: readonly string[], chunks: readonly string[]): string {
  const mask = new SecretMask(secrets)
  return Buffer.concat([...chunks.map((chunk) => mask.push(Buffer.from(chunk))), mask.flush()]).toString()
}

test.each([
  { secrets: [], chunks: ["plain"], shown: "plain" },
  { secrets: ["hunter2"], chunks: ["a hunter2 b hunter2"], shown: `a ${maskText} b ${maskText}` },
  { secrets: ["hunter2"], chunks: ["a hun", "ter2 b"], shown: `a ${maskText} b` },
  { secrets: ["hunter2"], chunks: "a hunter2 b".split(""), shown: `a ${maskText} b` },
  { secrets: ["hunter2"], chunks: ["hunter", "s"], shown: "hunters" },
  { secrets: ["hunter2"], chunks: ["hunhunter2"], shown: `hun${maskText}` },
  { secrets: ["abab!"], chunks: ["aba", "bab!"], shown: `ab${maskText}` },
  { secrets: ["pass", "passphrase"], chunks: ["passphrase pass"], shown: `${maskText} ${maskText}` },
  { secrets: ["abc"], chunks: ["abc is too short to mask"], shown: "abc is too short to mask" },
  { secrets: ['say "ho"'], chunks: ['{"value":"say \\"ho\\""}'], shown: `{"value":"${maskText}"}` },
  { secrets: ["a<b&c"], chunks: ['"a\\u003cb\\u0026c"'], shown: `"${maskText}"` },
  { secrets: ["first line\nsecond line"], chunks: ["  + second line\n"], shown: `  + ${maskText}\n` },
  { secrets: ["first line\nsecond line"], chunks: ['"first line\\nsecond line"'], shown: `"${maskText}"` },
  { secrets: ["grün und blau"], chunks: ["das ist grün und blau."], shown: `das ist ${maskText}.` },
])("SecretMask shows $shown when the secrets are $secrets and the chunks $chunks", ({ secrets, chunks, shown }) => {
  expect(masked(secrets, chunks)).toBe(shown)
})

test("SecretMask shows what no secret begins with at once", () => {
  expect(new SecretMask(["hunter2"]).push(Buffer.from("progress: 10 %\n")).toString()).toBe("progress: 10 %\n")
})
