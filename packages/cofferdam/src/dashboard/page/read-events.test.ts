import { expect, it } from 'vitest'
import { readEvents } from './read-events.ts'

const sent =
  'retry: 1000\n\nevent: snapshot\ndata: {"says":"grün"}\n\nevent: heartbeat\ndata: {}\n\nevent: cut\ndata: {"'

/** The events of a stream that arrives in pieces of so many bytes. */
async function readInPieces(bytes: number) {
  const all = new TextEncoder().encode(sent)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let from = 0; from < all.length; from += bytes) controller.enqueue(all.slice(from, from + bytes))
      controller.close()
    },
  })
  const events: unknown[] = []
  for await (const event of readEvents(body)) events.push(event)
  return events
}

it('reads every whole event, wherever the network cuts the stream, and nothing of one that was cut off', async () => {
  for (let bytes = 1; bytes <= sent.length; bytes += 1) {
    expect(await readInPieces(bytes), `${bytes} bytes at a time`).toEqual([
      { type: 'snapshot', data: '{"says":"grün"}' },
      { type: 'heartbeat', data: '{}' },
    ])
  }
})
