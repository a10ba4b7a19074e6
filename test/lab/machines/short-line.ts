const longest = 300

/** A line of a log in short: time of day, level and message of a structured one, any other as it is. */
export function shortLine(line: string): string {
  const entry = parseEntry(line)
  const text =
    entry === undefined ? line : [entry.time?.slice(11, 23), entry.level, entry.msg].filter(Boolean).join(' ')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

interface Entry {
  readonly time?: string
  readonly level?: string
  readonly msg: string
}

function parseEntry(line: string): Entry | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const { time, level, msg } = JSON.parse(line) as Record<string, unknown>
    if (typeof msg !== 'string') return undefined
    return {
      msg,
      ...(typeof time === 'string' ? { time } : {}),
      ...(typeof level === 'string' ? { level } : {}),
    }
  } catch {
    return undefined
  }
}
