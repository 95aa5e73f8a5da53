// Shell completion. The script that the shell loads runs `chancery complete -- WORDS` at every Tab.
import { Argument, Command } from "commander"

const shells = ["bash", "zsh", "fish", "powershell"]

export const completionCommand = (): Command =>
  new Command("completion")
    .description("Print a shell script that enables completion of commands and options with Tab.")
    .addArgument(new Argument("<shell>", "shell to print the script for").choices(shells))
    .addHelpText("after", '\nIn bash, add this line to ~/.bashrc: eval "$(chancery completion bash)"')
    .action(async (shell: string) => {
      // Loaded on demand, so that other commands start without it.
      const { script } = await import("@bomb.sh/tab")
      script(shell, "chancery", "chancery")
    })

export const asksForCompletion = (words: readonly string[]): boolean => words[0] === "complete" && words[1] === "--"

/** Adds the command that the completion script runs. It prints the candidates to standard output. */
export async function addCompletion(program: Command): Promise<Command> {
  const { default: tab } = await import("@bomb.sh/tab/commander")
  tab(program)
  return program
}
