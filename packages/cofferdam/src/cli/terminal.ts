import { styleText } from 'node:util'
import { harmlessText } from '../shared/harmless-text.ts'
import { type Paint, plainPaint } from '../shared/paint.ts'

/** Where a command talks to people. Results go to `print`, all else to `note`, so that a pipe carries only results. */
export interface Terminal {
  readonly paint: Paint
  print(text: string): void
  /** A result in place of the one before: on a terminal the screen is cleared first, a pipe gets one after the other. */
  redraw(text: string): void
  note(text: string): void
  /** One line that replaces itself; undefined takes it away. Shown on a terminal only. */
  progress(text: string | undefined): void
}

interface Stream {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}

const controlStart = '\u001b'
/** What `paint` writes: colours and weights, nothing else. */
const colours = new RegExp(`(${controlStart}\\[[0-9;]*m)`, 'u')

const eraseScreen = `${controlStart}[H${controlStart}[2J`
const eraseLine = `\r${controlStart}[2K`

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
  /** Whatever was overlooked before: nothing but lines, tabs and our own colours reaches the terminal. */
  const harmless = (text: string) =>
    text
      .split(hasColour ? colours : /(?!)/u)
      .map((part) => (hasColour && colours.test(part) ? part : harmlessLines(part)))
      .join('')

  return {
    paint: hasColour ? (style, text) => styleText(style, text, { validateStream: false }) : plainPaint,
    print(text) {
      clear()
      stdout.write(`${harmless(text)}\n`)
    },
    redraw(text) {
      clear()
      const isScreen = stdout.isTTY === true && !isDumb
      stdout.write(`${isScreen ? eraseScreen : ''}${harmless(text)}\n`)
    },
    note(text) {
      clear()
      stderr.write(`${harmless(text)}\n`)
    },
    progress(text) {
      if (!hasProgress || text === shown) return
      clear()
      if (text === undefined) return
      stderr.write(harmlessText(text))
      shown = text
    },
  }
}

function harmlessLines(text: string): string {
  return text
    .split(/([\n\t])/u)
    .map((part) => (part === '\n' || part === '\t' ? part : harmlessText(part)))
    .join('')
}
