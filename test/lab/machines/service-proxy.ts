import { connect, createServer, type Socket } from 'node:net'

export interface ServiceProxy {
  readonly port: number
  close(): Promise<void>
}

/** What a Service is in a cluster: one address, behind it whoever is there just now, in turn. */
export async function startServiceProxy(backends: () => readonly number[]): Promise<ServiceProxy> {
  const open = new Set<Socket>()
  let turn = 0
  const track = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    track(client)
    const ports = backends()
    turn += 1
    const port = ports[turn % Math.max(1, ports.length)]
    if (port === undefined) return void client.destroy()
    const backend = connect(port, '127.0.0.1')
    track(backend)
    client.pipe(backend).pipe(client)
    client.once('close', () => backend.destroy())
    backend.once('close', () => client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
