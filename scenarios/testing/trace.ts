import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** What happened, one line each, with the seconds since it was opened. */
export interface Trace {
  readonly lines: readonly string[]
  tell(line: string): void
  /** A line of its own for what somebody sets out to do. */
  chapter(title: string): void
  text(): string
}

export function openTrace(clock: Clock): Trace {
  const start = clock.now()
  const lines: string[] = []
  const tell = (line: string) => {
    const seconds = Math.round((clock.now() - start) / 1_000)
    lines.push(`t+${`${seconds}s`.padEnd(6)} ${line}`)
  }
  return {
    lines,
    tell,
    chapter(title) {
      lines.push('', `# ${title}`)
    },
    text: () => `${lines.join('\n').trimStart()}\n`,
  }
}
