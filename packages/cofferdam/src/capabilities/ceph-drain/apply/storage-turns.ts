import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { narrowTurn, type StorageTurn, type TurnInForce } from '../domain/storage-turn.ts'

/**
 * What ceph-drain and ceph-static-budgets of one process have to agree on: on which nodes mons and mgrs have to stay, and
 * which of them may go now. Keys are CephClusters.
 *
 * Guarantees: of those who work on the budgets of one cluster, one at a time does.
 */
export class StorageTurns {
  readonly #turns = new Map<string, StorageTurn>()
  readonly #loose = new Map<string, readonly string[]>()
  readonly #working = new Map<string, Promise<void>>()
  readonly #followers = { turn: new Set<(key: string) => void>(), loose: new Set<(key: string) => void>() }

  inForce(key: string): TurnInForce {
    return { turn: this.#turns.get(key), looseNodes: this.#loose.get(key) }
  }

  /** To be called before budgets of OSDs are written: until they are, what both turns allow is allowed. */
  narrow(key: string, next: StorageTurn): void {
    this.publish(key, narrowTurn(this.#turns.get(key), next))
  }

  /** To be called when the budgets of the same decision stand. */
  publish(key: string, turn: StorageTurn): void {
    const before = this.#turns.get(key)
    this.#turns.set(key, turn)
    if (!isSameJson(before, turn)) this.#notify('turn', key)
  }

  publishLoose(key: string, nodes: readonly string[]): void {
    const before = this.#loose.get(key)
    this.#loose.set(key, nodes)
    if (!isSameJson(before, nodes)) this.#notify('loose', key)
  }

  /** Notifies with the key of every cluster of which this has changed, until the signal. */
  follow(what: 'turn' | 'loose', notify: (key: string) => void, signal: AbortSignal): void {
    this.#followers[what].add(notify)
    signal.addEventListener('abort', () => this.#followers[what].delete(notify), { once: true })
  }

  /** Waits until nobody else works on the budgets of the cluster; the returned function lets the next one in. */
  async enter(key: string): Promise<() => void> {
    const before = this.#working.get(key) ?? Promise.resolve()
    let end = () => {}
    const mine = new Promise<void>((resolve) => {
      end = resolve
    })
    const working = before.then(() => mine)
    this.#working.set(key, working)
    await before
    return () => {
      end()
      if (this.#working.get(key) === working) this.#working.delete(key)
    }
  }

  forget(key: string): void {
    this.#turns.delete(key)
    this.#loose.delete(key)
  }

  #notify(what: 'turn' | 'loose', key: string): void {
    for (const notify of this.#followers[what]) notify(key)
  }
}
