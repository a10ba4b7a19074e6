import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What the way through it is like: `still` lets nothing pass and ends nothing, `cut` ends connections and refuses others. */
export type Weather = 'fair' | 'still' | 'cut' | { readonly delayMs: number }

export interface ServiceProxy {
  readonly port: number
  setWeather(weather: Weather): void
  close(): Promise<void>
}

/** What a Service is in a cluster: one address, behind it whoever is there just now, in turn. */
export async function startServiceProxy(backends: () => readonly number[]): Promise<ServiceProxy> {
  const open = new Set<Socket>()
  const changes = new EventEmitter().setMaxListeners(0)
  let weather: Weather = 'fair'
  let turn = 0

  const track = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const endAll = () => {
    for (const socket of open) socket.destroy()
  }

  /** Carries bytes one way, in their order, each piece when the weather lets it pass. */
  async function carry(from: Socket, to: Socket): Promise<void> {
    for await (const piece of from) {
      while (weather === 'still') await once(changes, 'weather')
      if (typeof weather === 'object') await pause(weather.delayMs)
      if (to.destroyed) return
      if (!to.write(piece as Buffer)) await Promise.race([once(to, 'drain'), once(to, 'close')])
    }
    to.end()
  }

  const server = createServer((client) => {
    track(client)
    const ports = backends()
    turn += 1
    const port = ports[turn % Math.max(1, ports.length)]
    if (port === undefined || weather === 'cut') return void client.destroy()
    const backend = connect(port, '127.0.0.1')
    track(backend)
    client.once('close', () => backend.destroy())
    backend.once('close', () => client.destroy())
    // A connection that breaks ends here; both sides hear of it.
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const)
      carry(from, to).catch(() => to.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as { port: number }).port,
    setWeather(next) {
      weather = next
      if (next === 'cut') endAll()
      changes.emit('weather')
    },
    async close() {
      weather = 'cut'
      changes.emit('weather')
      endAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
