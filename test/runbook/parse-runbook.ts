/** The parts that a section has, in this order: who reads it is in a hurry, and finds them at the same place. */
export const runbookParts = ['See it', 'Ends by itself', 'Do', 'Do not'] as const

export interface RunbookSection {
  readonly page: string
  readonly reason: string
  /** What the section says before its parts. */
  readonly says: string
  readonly parts: ReadonlyMap<string, string>
}

export function parseRunbook(page: string, text: string): RunbookSection[] {
  return text
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [reason = '', ...lines] = section.split('\n')
      const [says = '', ...parts] = lines.join('\n').split(/^- /m)
      return {
        page,
        reason,
        says: says.trim(),
        parts: new Map(parts.map((part) => partOf(part))),
      }
    })
}

function partOf(text: string): [string, string] {
  const found = /^\*\*([^*]+):\*\*\s+(.*)$/s.exec(text)
  return found === null ? [text.trim(), ''] : [found[1] as string, (found[2] as string).trim()]
}
