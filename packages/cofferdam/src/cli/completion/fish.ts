import { allWords, type CommandWord, type FlagWord } from './command-tree.ts'

/** For `~/.config/fish/completions/cofferdam.fish`, or to be sourced. */
export function fishCompletion(tree: CommandWord): string {
  const places = allWords(tree)
  const valued = places.flatMap(({ flags }) => flags.filter(({ takes }) => takes !== 'nothing'))
  const names = [...new Set(valued.flatMap((flag) => flag.names))].sort()
  return `# fish completion for cofferdam; load it with: cofferdam completion fish | source
function __cofferdam_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l at
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word ${names.join(' ')}
            set skip 1
            continue
        end
        contains -- (string join ' ' $at $word) ${paths(places).join(' ')}; and set -a at $word
    end
    test "$at" = "$argv[1]"
end
complete -c cofferdam -f
${places.flatMap(linesAt).join('\n')}
complete -c kubectl-cofferdam -w cofferdam`
}

function paths(places: readonly CommandWord[]): string[] {
  return places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
}

function linesAt({ path, commands, flags, values }: CommandWord): string[] {
  const here = `complete -c cofferdam -n ${quoted(`__cofferdam_at '${path}'`)}`
  return [
    ...commands.map(({ name, summary }) => `${here} -a ${name} -d ${quoted(summary)}`),
    ...(values.length === 0 ? [] : [`${here} -a ${quoted(values.join(' '))}`]),
    ...flags.map((flag) => `${here} ${flagText(flag)}`),
  ]
}

function flagText({ names, summary, takes }: FlagWord): string {
  const named = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const value =
    takes === 'nothing'
      ? []
      : takes === 'file'
        ? ['-rF']
        : typeof takes === 'string'
          ? ['-x']
          : [`-xa ${quoted(takes.join(' '))}`]
  return [...named, ...value, `-d ${quoted(summary)}`].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
