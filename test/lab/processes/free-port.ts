import { createServer, type Server } from 'node:net'

/** What was handed out is bound only later, so another caller could be given it too. */
const handedOut = new Set<number>()

/** Ports of the loopback interface that nobody listens on just now, and that were not handed out before. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = []
  const ports: number[] = []
  while (ports.length < count) {
    const server = await listen()
    servers.push(server)
    const { port } = server.address() as { readonly port: number }
    if (handedOut.has(port)) continue
    handedOut.add(port)
    ports.push(port)
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}
