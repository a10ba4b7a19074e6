/** What is asked of a connection; a raw socket has it. */
export interface RoomSocket {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

/**
 * The connections of a server, of which there are never more than a number.
 *
 * Guarantees: a new one always gets in by the place of the oldest that never showed to be the API server's; those that did are never
 * cut for it. Whoever holds many connections open loses his own.
 */
export class ConnectionRoom {
  readonly #most: number
  // In the order in which they came.
  readonly #strangers = new Map<string, RoomSocket>()
  readonly #known = new Map<string, RoomSocket>()

  constructor({ most }: { readonly most: number }) {
    this.#most = most
  }

  admit(socket: RoomSocket): void {
    const key = keyOf(socket)
    if (this.size >= this.#most && !this.#cutOldestStranger()) {
      socket.destroy()
      return
    }
    this.#strangers.set(key, socket)
    socket.once('close', () => {
      for (const sockets of [this.#strangers, this.#known]) if (sockets.get(key) === socket) sockets.delete(key)
    })
  }

  /** Something came over it that only the API server can send. The socket may be another one over the same connection. */
  recognise(socket: Pick<RoomSocket, 'remoteAddress' | 'remotePort'>): void {
    const key = keyOf(socket)
    const stranger = this.#strangers.get(key)
    if (stranger === undefined) return
    this.#strangers.delete(key)
    this.#known.set(key, stranger)
  }

  get size(): number {
    return this.#strangers.size + this.#known.size
  }

  #cutOldestStranger(): boolean {
    const [oldest] = this.#strangers
    if (oldest === undefined) return false
    const [key, socket] = oldest
    this.#strangers.delete(key)
    socket.destroy()
    return true
  }
}

/** Where encryption begins, the same connection has another socket; where it comes from stays the same. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Pick<RoomSocket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
