/** One command of a document, with what the document says about it. */
export interface DocumentedCommand {
  readonly section: string
  /** Where it begins, from 1. */
  readonly line: number
  readonly text: string
  /** As a comment behind the command promises it: `# exit code 4`. 0 otherwise. */
  readonly exitCode: number
}

/** The commands of one ```sh block, and the ```text block behind it: what they print, all of it, in this order. */
export interface DocumentedBlock {
  readonly section: string
  readonly commands: readonly DocumentedCommand[]
  readonly promised?: string
}

interface Fence {
  readonly section: string
  readonly language: string
  /** The line of its first line of text. */
  readonly line: number
  readonly lines: readonly string[]
}

/** Every block of commands in a Markdown document. Text that is no output of a command has no language of its own or another one. */
export function parseDocument(markdown: string): DocumentedBlock[] {
  const blocks: DocumentedBlock[] = []
  for (const fence of fencesOf(markdown)) {
    if (fence.language === 'sh') {
      blocks.push({ section: fence.section, commands: commandsOf(fence) })
    } else if (fence.language === 'text') {
      const before = blocks.pop()
      if (before?.section !== fence.section || before.promised !== undefined) {
        throw new Error(
          `line ${fence.line}: a text block promises what the commands before it print, and there are none`,
        )
      }
      blocks.push({ ...before, promised: fence.lines.join('\n') })
    }
  }
  return blocks
}

/** A file that a document says to write: a ```yaml block whose first line is a comment with its path. */
export interface DocumentedFile {
  readonly section: string
  readonly path: string
  readonly text: string
}

export function parseFiles(markdown: string): DocumentedFile[] {
  return fencesOf(markdown).flatMap(({ section, language, lines }) => {
    const path = /^# (\S+\.yaml)$/.exec(lines[0] ?? '')?.[1]
    return language === 'yaml' && path !== undefined ? [{ section, path, text: lines.join('\n') }] : []
  })
}

function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = []
  let section = ''
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    if (open !== undefined && text.startsWith('```')) {
      fences.push({ section, ...open })
      open = undefined
    } else if (open !== undefined) open.lines.push(text)
    else if (text.startsWith('```')) open = { language: text.slice(3).trim(), line: index + 2, lines: [] }
    else if (text.startsWith('## ')) section = text.slice(3).trim()
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block has no end`)
  return fences
}

function commandsOf({ section, line, lines }: Fence): DocumentedCommand[] {
  const commands: DocumentedCommand[] = []
  let pending: string[] = []
  for (const [index, text] of lines.entries()) {
    pending.push(text)
    if (goesOn(pending)) continue
    const whole = pending.join('\n')
    const begins = line + index - pending.length + 1
    pending = []
    if (whole.trim() === '' || whole.trimStart().startsWith('#')) continue
    const exitCode = Number(/#.*\bexit code (\d+)/.exec(whole)?.[1] ?? 0)
    commands.push({ section, line: begins, text: whole, exitCode })
  }
  if (pending.length > 0) throw new Error(`line ${line}: the last command of the block has no end`)
  return commands
}

/** Whether the shell would want another line. */
function goesOn(lines: readonly string[]): boolean {
  const opened = lines.filter((line) => /^\s*(for|while|until)\b/.test(line)).length
  const closed = lines.filter((line) => /^\s*done\b/.test(line)).length
  return opened > closed || /(\\|\||&&)$/.test(lines.at(-1) ?? '')
}
