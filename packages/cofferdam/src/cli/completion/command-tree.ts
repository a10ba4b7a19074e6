import type { Command, Option } from 'commander'

/** What can be typed after one word of the command line. */
export interface CommandWord {
  /** The words so far, without the program's own: `plan osd-update`; empty for the program. */
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly commands: readonly CommandWord[]
  readonly flags: readonly FlagWord[]
  /** Values that its arguments may have, where they are known. */
  readonly values: readonly string[]
}

export interface FlagWord {
  /** `--output`, and `-o` where there is one. */
  readonly names: readonly string[]
  readonly summary: string
  /** What follows it: nothing, one of these words, a file, or anything. */
  readonly takes: 'nothing' | 'file' | 'anything' | readonly string[]
}

/** The whole command line as it is defined, so that completions cannot name what is not there. */
export function describeCommandTree(program: Command): CommandWord {
  const global = flagsOf(program.options)
  return describeWord(program, [], global)
}

/** Every word of the tree that something can follow, the program first. */
export function allWords(tree: CommandWord): readonly CommandWord[] {
  return [tree, ...tree.commands.flatMap(allWords)]
}

function describeWord(command: Command, path: readonly string[], global: readonly FlagWord[]): CommandWord {
  const own = path.length === 0 ? [] : flagsOf(command.options)
  return {
    path: path.join(' '),
    name: command.name(),
    summary: command.summary() === '' ? command.description() : command.summary(),
    commands: command.commands.map((inner) => describeWord(inner, [...path, inner.name()], global)),
    flags: [...own, ...global, { names: ['--help', '-h'], summary: 'show this help', takes: 'nothing' }],
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }
}

function flagsOf(options: readonly Option[]): FlagWord[] {
  return options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({
      names: [option.long, option.short].filter((name) => name !== undefined),
      summary: option.description,
      takes: whatFollows(option),
    }))
}

function whatFollows({ required, argChoices, flags }: Option): FlagWord['takes'] {
  // A value that may be left out is written with =, and no word follows the flag.
  if (!required) return 'nothing'
  if (argChoices !== undefined) return argChoices
  return /<(?:file|dir)>/.test(flags) ? 'file' : 'anything'
}
