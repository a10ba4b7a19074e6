import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { LogFollow } from './ceph-commands.ts'

/** Ceph's cluster log, as `ceph -w` prints it to whoever follows. Nothing is kept: who comes later hears only what comes later. */
export class ClusterLog {
  readonly #followers = new Set<{ readonly follow: LogFollow; readonly end: (error?: Error) => void }>()
  #isRefused = false

  /** As the real one, it tells nothing without a quorum. */
  readonly #mayTell: () => boolean

  constructor(ports: { readonly mayTell: () => boolean }) {
    this.#mayTell = ports.mayTell
  }

  follow(follow: LogFollow): Promise<void> {
    if (this.#isRefused) return Promise.reject(broken('the log is not available'))
    return new Promise((resolve, reject) => {
      const leave = () => end()
      const end = (error?: Error) => {
        this.#followers.delete(follower)
        follow.signal.removeEventListener('abort', leave)
        if (error === undefined) resolve()
        else reject(error)
      }
      const follower = { follow, end }
      if (follow.signal.aborted) return resolve()
      follow.signal.addEventListener('abort', leave, { once: true })
      this.#followers.add(follower)
      follow.onOpen()
    })
  }

  /** A line of the channel `cluster`; `level` as the log prints it. */
  write(level: 'INF' | 'WRN', message: string): void {
    if (this.#mayTell()) this.say(`mon.a [${level}] ${message}`)
  }

  /** Exactly this, whatever it is. */
  say(line: string): void {
    for (const { follow } of this.#followers) follow.onLine(line)
  }

  /** Everybody who follows loses it. Refused, nobody can follow again. */
  breakOff({ isRefused = false }: { readonly isRefused?: boolean } = {}): void {
    this.#isRefused = isRefused
    for (const { end } of this.#followers) end(broken('the connection was lost'))
  }

  /** Nobody hears any more, and nobody is told so. */
  forget(): void {
    this.#followers.clear()
  }

  get followerCount(): number {
    return this.#followers.size
  }
}

function broken(why: string): Error {
  return new CofferdamError('CEPH_UNREACHABLE', `the cluster log: ${why}`)
}
