/** What a terminal would colour. */
const classes: Readonly<Record<string, string>> = {
  '1': 'bold',
  '2': 'soft',
  '31': 'alarm',
  '32': 'calm',
  '33': 'busy',
  '36': 'accent',
}

const controlStart = String.fromCharCode(27)
const codes = new RegExp(`${controlStart}\\[([0-9;]*)m`)

/** A line as the command prints it for a terminal, with its colours. */
export function PaintedText({ text }: { text: string }) {
  const parts = text.split(codes)
  // Text and codes by turns: text stands at the even places.
  return (
    <>
      {parts.map((part, at) => {
        if (at % 2 === 1 || part === '') return null
        const style = classes[parts[at - 1] ?? '']
        return style === undefined ? part : <span class={`painted ${style}`}>{part}</span>
      })}
    </>
  )
}

export function plainText(text: string): string {
  return text.replaceAll(new RegExp(codes, 'g'), '')
}
