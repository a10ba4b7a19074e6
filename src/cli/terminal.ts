import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'cyan' | 'green' | 'yellow' | 'red'
export type Paint = (style: Style, text: string) => string

const plainPaint: Paint = (_style, text) => text

/** Where a command talks to people. Results go to `print`, all else to `note`, so that a pipe carries only results. */
export interface Terminal {
  readonly paint: Paint
  print(text: string): void
  note(text: string): void
  /** One line that replaces itself; undefined takes it away. Shown on a terminal only. */
  progress(text: string | undefined): void
}

interface Stream {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}

const eraseLine = '\r\u001b[2K'

export function createTerminal(options: {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly environment: Readonly<Record<string, string | undefined>>
}): Terminal {
  const { stdout, stderr, environment } = options
  const isDumb = environment['TERM'] === 'dumb'
  const hasColour = stdout.isTTY === true && !isDumb && !environment['NO_COLOR']
  const hasProgress = stderr.isTTY === true && !isDumb
  let shown: string | undefined

  const clear = () => {
    if (shown !== undefined) stderr.write(eraseLine)
    shown = undefined
  }
  return {
    paint: hasColour ? (style, text) => styleText(style, text, { validateStream: false }) : plainPaint,
    print(text) {
      clear()
      stdout.write(`${text}\n`)
    },
    note(text) {
      clear()
      stderr.write(`${text}\n`)
    },
    progress(text) {
      if (!hasProgress || text === shown) return
      clear()
      if (text === undefined) return
      stderr.write(text)
      shown = text
    },
  }
}
