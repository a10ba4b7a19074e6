import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** The server's end of a WebSocket (RFC 6455) that only sends. */
export interface WebSocketEnd {
  send(payload: Buffer): void
  /** Says goodbye and ends the connection when all is written. */
  close(): void
}

const acceptSalt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 }
const normalClosure = Buffer.from([0x03, 0xe8])
/** What a client says on a stream that takes no input: pings, and its goodbye. */
const longestFrame = 64 * 1024

/** The first protocol of the client's list that the server knows; undefined where this is no such handshake. */
export function chooseProtocol({ headers }: IncomingMessage, known: readonly string[]): string | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket' || headers['sec-websocket-version'] !== '13') return undefined
  if (headers['sec-websocket-key'] === undefined) return undefined
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => known.includes(name))
}

export function acceptWebSocket(request: IncomingMessage, socket: Duplex, protocol: string): WebSocketEnd {
  const key = String(request.headers['sec-websocket-key'])
  const accept = createHash('sha1').update(`${key}${acceptSalt}`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  )
  const write = (opcode: number, payload: Buffer) => {
    if (socket.writable) socket.write(Buffer.concat([headOf(opcode, payload.length), payload]))
  }
  let isClosing = false
  const close = () => {
    if (isClosing) return
    isClosing = true
    write(opcodes.close, normalClosure)
    socket.end()
  }
  let unread: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk])
    for (let frame = readFrame(unread); frame !== undefined; frame = readFrame(unread)) {
      if (frame === 'too long') {
        socket.destroy()
        return
      }
      unread = unread.subarray(frame.length)
      if (frame.opcode === opcodes.close) close()
      else if (frame.opcode === opcodes.ping) write(opcodes.pong, frame.payload)
    }
  })
  return { send: (payload) => write(opcodes.binary, payload), close }
}

function headOf(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | opcode, length])
  if (length < 0x10000) {
    const head = Buffer.from([0x80 | opcode, 126, 0, 0])
    head.writeUInt16BE(length, 2)
    return head
  }
  const head = Buffer.alloc(10)
  head[0] = 0x80 | opcode
  head[1] = 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  /** Length of the whole frame. */
  readonly length: number
}

/** Undefined until all of it is there. */
function readFrame(bytes: Buffer): Frame | 'too long' | undefined {
  const [first = 0, second = 0] = bytes
  const short = second & 0x7f
  if (bytes.length < 2 || (short === 126 && bytes.length < 4)) return undefined
  if (short === 127) return 'too long'
  const size = short === 126 ? bytes.readUInt16BE(2) : short
  if (size > longestFrame) return 'too long'
  const maskAt = short === 126 ? 4 : 2
  const isMasked = (second & 0x80) !== 0
  const from = maskAt + (isMasked ? 4 : 0)
  if (bytes.length < from + size) return undefined
  const payload = Buffer.from(bytes.subarray(from, from + size))
  if (isMasked)
    for (let at = 0; at < size; at += 1) payload[at] = (payload[at] as number) ^ (bytes[maskAt + (at % 4)] as number)
  return { opcode: first & 0x0f, payload, length: from + size }
}
