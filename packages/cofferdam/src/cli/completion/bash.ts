import { allWords, type CommandWord, type FlagWord } from './command-tree.ts'

/** Needs nothing but bash itself, whether or not COMP_WORDBREAKS splits words at "=". */
export function bashCompletion(tree: CommandWord): string {
  const places = allWords(tree)
  return `# bash completion for cofferdam; load it with: source <(cofferdam completion bash)
_cofferdam() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" at="" index word words flags
  COMPREPLY=()
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" ]]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for (( index = 1; index < COMP_CWORD; index++ )); do
    word="\${COMP_WORDS[index]}"
    case "$word" in
      ${flagsWithValues(places).join('|')})
        [[ "\${COMP_WORDS[index+1]}" == "=" ]] && (( index++ ))
        (( index++ ))
        continue ;;
    esac
    case "$at/$word" in
${places.flatMap(stepsFrom).join('\n')}
    esac
  done
  case "$at $previous" in
${places.flatMap(valuesAt).join('\n')}
  esac
  case "$at" in
${places.map(candidatesAt).join('\n')}
  esac
  [[ "$current" == -* ]] && words="$flags"
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}
complete -F _cofferdam cofferdam kubectl-cofferdam`
}

function flagsWithValues(places: readonly CommandWord[]): string[] {
  const valued = places.flatMap(({ flags }) => flags.filter(({ takes }) => takes !== 'nothing'))
  return [...new Set(valued.flatMap(({ names }) => names))].sort()
}

function stepsFrom({ path, commands }: CommandWord): string[] {
  return commands.map((inner) => `      "${path}/${inner.name}") at="${inner.path}" ;;`)
}

function valuesAt({ path, flags }: CommandWord): string[] {
  return flags.flatMap(({ names, takes }) => {
    if (takes === 'nothing') return []
    const pattern = names.map((name) => `"${path} ${name}"`).join('|')
    return [`    ${pattern})${replyWith(takes)} return ;;`]
  })
}

function replyWith(takes: FlagWord['takes']): string {
  if (takes === 'file') return ' compopt -o filenames 2>/dev/null; COMPREPLY=( $(compgen -f -- "$current") );'
  return typeof takes === 'string' ? '' : ` COMPREPLY=( $(compgen -W "${takes.join(' ')}" -- "$current") );`
}

function candidatesAt({ path, commands, flags, values }: CommandWord): string {
  const words = [...commands.map(({ name }) => name), ...values]
  return `    "${path}") words="${words.join(' ')}" flags="${flags.flatMap(({ names }) => names).join(' ')}" ;;`
}
