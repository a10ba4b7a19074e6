import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ClusterConnection } from '../cluster-connection.ts'

/** One end of a WebSocket, as the test writes to it. */
export interface ExecStream {
  readonly request: IncomingMessage
  readonly url: URL
  send(channel: number, text: string): void
  close(): void
  /** Ends the connection without a word. */
  drop(): void
}

/** A server that opens exec streams and lets the test speak; whom it does not admit gets 403. */
export async function startExecServer(
  speak: (stream: ExecStream) => void,
  options: { readonly admits?: (request: IncomingMessage) => boolean } = {},
): Promise<{ connection(more?: Partial<ClusterConnection>): ClusterConnection }> {
  const server = createServer((_, response) => response.writeHead(404).end())
  const sockets = new Set<Socket>()
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    // Whatever the client sends is its goodbye.
    socket.on('data', () => socket.end())
    if (options.admits?.(request) === false) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      return
    }
    const key = String(request.headers['sec-websocket-key'])
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    const protocol = String(request.headers['sec-websocket-protocol']).split(',')[0]?.trim()
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
        `sec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`,
    )
    speak({
      request,
      url: new URL(request.url ?? '/', 'http://exec'),
      send: (channel, text) => socket.write(frame(2, Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))),
      close: () => socket.write(frame(8, Buffer.from([0x03, 0xe8]))),
      drop: () => socket.destroy(),
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    connection: (more = {}) => ({
      source: 'a test',
      namespace: 'default',
      server: `http://127.0.0.1:${port}`,
      insecureSkipTlsVerify: false,
      authentication: { kind: 'none' },
      ...more,
    }),
  }
}

function frame(opcode: number, payload: Buffer): Buffer {
  const head = payload.length < 126 ? Buffer.from([0x80 | opcode, payload.length]) : Buffer.alloc(4)
  if (payload.length >= 126) {
    head[0] = 0x80 | opcode
    head[1] = 126
    head.writeUInt16BE(payload.length, 2)
  }
  return Buffer.concat([head, payload])
}
