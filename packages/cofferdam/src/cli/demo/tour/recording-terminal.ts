import type { Terminal } from '../../terminal.ts'

/** Keeps all that is printed, and passes it on where it is shown. */
export function recordingTerminal(
  shown: Terminal,
  { isShown }: { readonly isShown: boolean },
): { readonly terminal: Terminal; text(): string } {
  let recorded = ''
  const record = (pass: (text: string) => void) => (text: string) => {
    recorded += `${text}\n`
    if (isShown) pass(text)
  }
  return {
    terminal: {
      paint: shown.paint,
      print: record(shown.print),
      redraw: record(shown.print),
      note: record(shown.note),
      progress: isShown ? shown.progress : () => undefined,
    },
    text: () => recorded,
  }
}
