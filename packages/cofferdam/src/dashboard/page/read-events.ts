export interface ServerEvent {
  readonly type: string
  readonly data: string
}

/**
 * The named events of an event stream, one after another. An `EventSource` would read them too, but it cannot carry a token, nor say with
 * which code it was refused.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let line = ''
  let type = ''
  let data = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const [first = '', ...others] = decoder.decode(value, { stream: true }).split('\n')
      line += first
      for (const next of others) {
        if (line === '') {
          if (type !== '') yield { type, data }
          type = ''
          data = ''
        } else if (line.startsWith('event: ')) type = line.slice('event: '.length)
        else if (line.startsWith('data: ')) data += line.slice('data: '.length)
        line = next
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
