import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ContainerRuntime, RunningContainer } from './container-runtime.ts'

/** One start of what stands behind a pod, up to its end. */
export interface PodContainer {
  readonly node: string
  readonly uid: string
  readonly startedAt: number
  readonly isReady: boolean
  /** Why it could not be brought up, in words. */
  readonly fault: string | undefined
  /** Nothing of it runs any more: it ended, and if somebody asked it to stop, that is through as well. */
  readonly isGone: boolean
  readonly exitCode: number
}

interface Tracked extends PodContainer {
  readonly place: string
  readonly running: RunningContainer
  isReady: boolean
  fault: string | undefined
  isGone: boolean
  exitCode: number
  hasEnded: boolean
  isStopping: boolean
}

/** As a container runtime says when a container could not be started at all. */
const startError = 128

/**
 * What really runs behind the pods of all machines.
 *
 * Guarantees: on one machine, two pods of one name never run at the same time, nor does one pod twice. Whatever a
 * container does, or fails to do, ends as a state that the next sync of the pod sees; nothing is thrown or rejected.
 */
export class PodContainers {
  readonly #runtime: ContainerRuntime
  readonly #clock: Clock
  readonly #wake: (key: string) => void
  readonly #onFailure: (key: string, error: unknown) => void
  readonly #byPlace = new Map<string, Tracked>()

  constructor(ports: {
    runtime: ContainerRuntime
    clock: Clock
    /** Called when the container of this pod is in another state now. */
    wake: (key: string) => void
    onFailure: (key: string, error: unknown) => void
  }) {
    this.#runtime = ports.runtime
    this.#clock = ports.clock
    this.#wake = ports.wake
    this.#onFailure = ports.onFailure
  }

  /** `occupied`: what ran there before is not gone yet, and wakes the pod when it is. Undefined: nothing stands behind it. */
  start(key: string, pod: Pod, node: string): PodContainer | 'occupied' | undefined {
    const place = `${node} ${key}`
    if (this.#byPlace.has(place)) return 'occupied'
    const uid = pod.metadata.uid as string
    const startedAt = this.#clock.now()
    let running: RunningContainer | undefined
    try {
      running = this.#runtime.start(pod)
    } catch (error) {
      return { node, uid, startedAt, isReady: false, fault: textOf(error), isGone: true, exitCode: startError }
    }
    if (running === undefined) return undefined
    const tracked: Tracked = {
      place,
      node,
      uid,
      startedAt,
      running,
      isReady: false,
      fault: undefined,
      isGone: false,
      exitCode: 0,
      hasEnded: false,
      isStopping: false,
    }
    this.#byPlace.set(place, tracked)
    this.#follow(key, tracked)
    return tracked
  }

  #follow(key: string, tracked: Tracked): void {
    const end = (exitCode: number) => {
      tracked.hasEnded = true
      tracked.exitCode = exitCode
      this.#settle(key, tracked)
    }
    void tracked.running.ended.then(end, (error: unknown) => {
      tracked.fault ??= textOf(error)
      end(startError)
    })
    const fail = (error: unknown) => {
      if (tracked.isStopping || tracked.isGone) return
      tracked.fault ??= textOf(error)
      this.#kill(tracked)
    }
    void tracked.running.ready.then(() => {
      tracked.isReady = true
      this.#wake(key)
    }, fail)
  }

  /** Asks it to end. Whoever asked is woken when it has. */
  stop(key: string, container: PodContainer, graceSeconds: number): void {
    const tracked = this.#find(container)
    if (tracked === undefined || tracked.isStopping) return
    tracked.isStopping = true
    const settle = () => {
      tracked.isStopping = false
      tracked.hasEnded = true
      this.#settle(key, tracked)
    }
    const fail = (error: unknown) => {
      this.#onFailure(key, error)
      tracked.isStopping = false
      this.#kill(tracked)
      this.#settle(key, tracked)
    }
    void attempt(() => tracked.running.stop(graceSeconds)).then(settle, fail)
  }

  /** At once, without being asked. It may take a while until it is gone. */
  kill(container: PodContainer | undefined): void {
    const tracked = container === undefined ? undefined : this.#find(container)
    if (tracked !== undefined) this.#kill(tracked)
  }

  /** Everything on this machine, or what of it is chosen by the uid of its pod. */
  killOn(node: string, isChosen: (uid: string) => boolean = () => true): void {
    for (const tracked of this.#byPlace.values()) {
      if (tracked.node === node && isChosen(tracked.uid)) this.#kill(tracked)
    }
  }

  #kill(tracked: Tracked): void {
    if (tracked.hasEnded) return
    try {
      tracked.running.kill()
    } catch (error) {
      this.#onFailure(tracked.place, error)
    }
  }

  #settle(key: string, tracked: Tracked): void {
    if (!tracked.hasEnded || tracked.isStopping || tracked.isGone) return
    tracked.isGone = true
    this.#byPlace.delete(tracked.place)
    this.#wake(key)
  }

  #find(container: PodContainer): Tracked | undefined {
    const tracked = container as Tracked
    return this.#byPlace.get(tracked.place) === tracked ? tracked : undefined
  }
}

/** A call that may throw as well as reject, as one that only rejects. */
async function attempt(call: () => Promise<void>): Promise<void> {
  await call()
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
