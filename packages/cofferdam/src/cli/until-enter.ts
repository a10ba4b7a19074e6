/** Where keys come from: process.stdin. */
export interface Keys {
  readonly isTTY?: boolean
  resume(): unknown
  pause(): unknown
  once(event: 'data' | 'end', listener: () => void): unknown
  off(event: 'data' | 'end', listener: () => void): unknown
}

/** Resolves at the next Enter, when the input ends, or when the signal fires. Without a terminal there is nobody to wait for. */
export function untilEnter(keys: Keys, signal: AbortSignal): Promise<void> {
  if (keys.isTTY !== true || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      keys.off('data', end)
      keys.off('end', end)
      signal.removeEventListener('abort', end)
      keys.pause()
      resolve()
    }
    keys.once('data', end)
    keys.once('end', end)
    signal.addEventListener('abort', end, { once: true })
    keys.resume()
  })
}
