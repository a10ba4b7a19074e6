import { allWords, type CommandWord, type FlagWord } from './command-tree.ts'

/** For a file `_cofferdam` in $fpath, or to be sourced after compinit. */
export function zshCompletion(tree: CommandWord): string {
  const [program, ...inner] = allWords(tree).map(functionOf)
  return `#compdef cofferdam kubectl-cofferdam
# zsh completion for cofferdam; load it with: source <(cofferdam completion zsh)
${[...inner, program].join('\n\n')}

if [[ "$funcstack[1]" == "_cofferdam" ]]; then
  _cofferdam "$@"
else
  compdef _cofferdam cofferdam kubectl-cofferdam
fi`
}

function nameOf(path: string): string {
  return ['_cofferdam', ...path.split(/[ -]/).filter((word) => word !== '')].join('_')
}

function functionOf({ path, commands, flags, values }: CommandWord): string {
  const specs = flags.map(specOf)
  const rest =
    commands.length > 0
      ? ["'(-): :->command'", "'(-)*:: :->rest'"]
      : [`'*: :${values.length === 0 ? ' ' : `(${values.join(' ')})`}'`]
  const head = `${nameOf(path)}() {
  local curcontext="$curcontext" state line
  _arguments -C \\
    ${[...specs, ...rest].join(' \\\n    ')}`
  if (commands.length === 0) return `${head}\n}`
  return `${head}
  case "$state" in
    command)
      local -a commands=(
${commands.map(({ name, summary }) => `        ${quoted(`${name}:${summary}`)}`).join('\n')}
      )
      _describe command commands ;;
    rest)
      case "$line[1]" in
${commands.map((inner) => `        ${inner.name}) ${nameOf(inner.path)} ;;`).join('\n')}
      esac ;;
  esac
}`
}

function specOf({ names, summary, takes }: FlagWord): string {
  const said = `[${summary.replaceAll(/[[\]:]/g, (mark) => `\\${mark}`)}]`
  const value = takes === 'nothing' ? '' : takes === 'file' ? ':file:_files' : `:value:${wordsOf(takes)}`
  const [first = '', ...others] = names
  if (others.length === 0) return quoted(`*${first}${said}${value}`)
  return `{${names.map((name) => `'*${name}'`).join(',')}}${quoted(`${said}${value}`)}`
}

function wordsOf(takes: Exclude<FlagWord['takes'], 'nothing' | 'file'>): string {
  return typeof takes === 'string' ? ' ' : `(${takes.join(' ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
