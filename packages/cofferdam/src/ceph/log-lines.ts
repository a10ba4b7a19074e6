/** Longer than any line that matters: what follows is cut off. */
const longestLine = 10_000

/** Cuts what a program prints into lines; what never ends in one is given in pieces. */
export function createLineCutter(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (chunk) => {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line.slice(0, longestLine))
    if (rest.length <= longestLine) return
    onLine(rest)
    rest = ''
  }
}

/** The words after `ceph`: first what the cluster is like, then its log as it is written. */
export const watchArguments = ['--watch', '--watch-channel', 'cluster'] as const
