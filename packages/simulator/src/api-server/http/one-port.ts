import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'

/** The first byte of a TLS connection, with which no HTTP request begins. */
const handshake = 0x16

/** Serves HTTP and HTTPS on one port: each connection is passed to the server that its first byte asks for. Neither of the two listens itself. */
export function onOnePort(plain: HttpServer, secure: HttpServer): Server & { closeAllConnections(): void } {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    const drop = () => socket.destroy()
    socket.on('error', drop)
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.off('error', drop)
      socket.unshift(first)
      ;(first[0] === handshake ? secure : plain).emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
  return Object.assign(server, {
    closeAllConnections() {
      for (const socket of open) socket.destroy()
    },
  })
}
