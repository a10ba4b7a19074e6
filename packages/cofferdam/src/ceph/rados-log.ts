import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { LogFollow } from './ceph-commands.ts'
import { cephUnreachable } from './ceph-unreachable.ts'
import type { RadosChild } from './rados-child.ts'

interface Follower {
  readonly id: number
  readonly follow: LogFollow
  readonly end: (error?: Error) => void
}

/** Who follows the cluster log over one connection: the child subscribes once more for each, and tells every line to all. */
export function createRadosLog() {
  const name = 'log'
  const followers = new Set<Follower>()
  /** The child that the lines come from: it is asked once, a second request would double every line. */
  let subscribed: RadosChild | undefined

  return {
    name,
    follow(child: RadosChild, id: number, follow: LogFollow): Promise<void> {
      return new Promise((resolve, reject) => {
        const leave = () => end()
        const end = (error?: Error) => {
          followers.delete(follower)
          follow.signal.removeEventListener('abort', leave)
          if (error === undefined) resolve()
          else reject(error)
        }
        const follower = { id, follow, end }
        if (follow.signal.aborted) return resolve()
        follow.signal.addEventListener('abort', leave, { once: true })
        followers.add(follower)
        if (subscribed === child) return follow.onOpen()
        subscribed = child
        child.send({ id, followLog: 'info' })
      })
    },
    /** Whether that was about the log, and nobody else's answer. */
    hear(header: JsonObject): boolean {
      const { log: line, id, follows, problem } = header
      if (typeof line === 'string') {
        for (const { follow } of followers) follow.onLine(line)
        return true
      }
      const asked = [...followers].find((follower) => follower.id === id)
      if (follows === true) {
        for (const { follow } of followers) follow.onOpen()
        return true
      }
      if (asked === undefined || problem === undefined) return false
      this.end(cephUnreachable(name, `the client failed: ${JSON.stringify(problem)}`))
      return true
    },
    /** The connection ended, or cannot tell the log. */
    end(error: Error): void {
      subscribed = undefined
      for (const { end } of followers) end(error)
    },
  }
}
