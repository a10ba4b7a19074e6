import type { IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { acceptWebSocket, chooseProtocol } from './web-socket.ts'

const headers = {
  upgrade: 'WebSocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'chat, v4.channel.k8s.io,v5.channel.k8s.io',
}

function requestWith(changes: Record<string, string | undefined> = {}): IncomingMessage {
  return { headers: { ...headers, ...changes } } as unknown as IncomingMessage
}

function openSocket() {
  const written: Buffer[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      written.push(Buffer.from(chunk))
      done()
    },
  })
  const end = acceptWebSocket(requestWith(), socket, 'v5.channel.k8s.io')
  const say = async (...bytes: number[]) => {
    socket.push(Buffer.from(bytes))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { socket, end, say, said: () => written.map((chunk) => [...chunk]).slice(1), hello: () => String(written[0]) }
}

const known = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

describe('a handshake', () => {
  it('takes the first protocol of the client that is known, and proves that it was read', () => {
    expect(chooseProtocol(requestWith(), known)).toBe('v4.channel.k8s.io')
    expect(openSocket().hello()).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n')
  })

  it.each([
    { upgrade: 'SPDY/3.1' },
    { 'sec-websocket-version': '8' },
    { 'sec-websocket-key': undefined },
    { 'sec-websocket-protocol': undefined },
  ])('with %j is none', (changes) => {
    expect(chooseProtocol(requestWith(changes), known)).toBeUndefined()
  })
})

describe('what a client says', () => {
  it('as a ping is answered, also when it comes byte by byte and masked', async () => {
    const { say, said } = openSocket()
    for (const byte of [0x89, 0x82, 1, 2, 3, 4, 'a'.charCodeAt(0) ^ 1, 'b'.charCodeAt(0) ^ 2]) await say(byte)
    expect(said()).toEqual([[0x8a, 2, ...Buffer.from('ab')]])
  })

  it('as a goodbye ends the stream once, and nothing is sent after', async () => {
    const { say, said, end, socket } = openSocket()
    await say(0x88, 0x80, 0, 0, 0, 0)
    end.close()
    end.send(Buffer.from('late'))
    expect(said()).toEqual([[0x88, 2, 0x03, 0xe8]])
    expect(socket.writable).toBe(false)
  })

  it('at a length that no ping has ends the connection', async () => {
    const { say, socket } = openSocket()
    await say(0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0)
    expect(socket.destroyed).toBe(true)
  })
})
