import { Argument, type Command } from 'commander'
import type { CliCommand } from '../command.ts'
import { bashCompletion } from './bash.ts'
import { type CommandWord, describeCommandTree } from './command-tree.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const shells: Readonly<Record<string, (tree: CommandWord) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

interface CompletionScript {
  readonly shell: string
  readonly lines: readonly string[]
}

export function createCompletionCommand(): CliCommand<object, CompletionScript> {
  let own: Command | undefined
  return {
    name: 'completion',
    summary: 'print the completion for a shell',
    description:
      'Prints a script by which bash, zsh or fish completes commands, flags and their values. It is for the name cofferdam, so the program must be in the PATH under that name.',
    examples: [
      { line: 'source <(cofferdam completion bash)', says: 'in this shell; in ~/.bashrc for all' },
      { line: 'source <(cofferdam completion zsh)', says: 'in ~/.zshrc, after compinit' },
      {
        line: 'cofferdam completion fish > ~/.config/fish/completions/cofferdam.fish',
        says: 'for every fish from now on',
      },
    ],

    configure(command) {
      own = command.addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(shells)))
    },

    run({ args: [shell = ''] }) {
      let program = own as Command
      while (program.parent !== null) program = program.parent
      const script = shells[shell]?.(describeCommandTree(program)) ?? ''
      return Promise.resolve({ shell, lines: script.split('\n') })
    },

    render: ({ lines }) => lines.join('\n'),
  }
}
