import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/** A process that may stand still for a while, as on a machine that is suspended: it does not know that time has passed. */
export interface Freezable {
  readonly clock: Clock
  api(api: KubeApi): KubeApi
  readonly isFrozen: boolean
  /** So many more writes are answered; the next one is carried out, and its answer waits. Who leads is not counted. */
  freezeAfter(writes: number): void
  /** Answers that have come meanwhile are read first, timers ring late after that. */
  thaw(): void
}

export function createFreezable(clock: Clock): Freezable {
  let isFrozen = false
  let writesLeft = Number.POSITIVE_INFINITY
  let waiting: (() => void)[] = []
  let late: (() => void)[] = []

  const whenThawed = () => (isFrozen ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined)
  const answered = async <T>(call: () => Promise<T>): Promise<T> => {
    await whenThawed()
    try {
      return await call()
    } finally {
      await whenThawed()
    }
  }
  const written = <T>({ plural }: Pick<ResourceType, 'plural'>, call: () => Promise<T>): Promise<T> =>
    answered(() => {
      if (plural === 'leases') return call()
      if (writesLeft <= 0) isFrozen = true
      writesLeft -= 1
      return call()
    })

  return {
    get isFrozen() {
      return isFrozen
    },
    freezeAfter(writes) {
      writesLeft = writes
    },
    thaw() {
      isFrozen = false
      writesLeft = Number.POSITIVE_INFINITY
      for (const resolve of waiting) resolve()
      waiting = []
      // Everything that can go on without a timer has gone on by then.
      clock.after(0, () => {
        for (const callback of late) callback()
        late = []
      })
    },
    clock: {
      now: () => clock.now(),
      after: (delayMs, callback) => {
        let isCancelled = false
        const ring = () => {
          if (!isCancelled) callback()
        }
        const cancel = clock.after(delayMs, () => {
          if (isFrozen) late.push(ring)
          else ring()
        })
        return () => {
          isCancelled = true
          cancel()
        }
      },
    },
    api: (api) => ({
      get: (...args) => answered(() => api.get(...args)),
      list: (...args) => answered(() => api.list(...args)),
      async *watch(type, query) {
        for await (const event of api.watch(type, query)) {
          await whenThawed()
          yield event
        }
      },
      create: (...args) => written(args[0], () => api.create(...args)),
      createSubresource: (...args) => written(args[0], () => api.createSubresource(...args)),
      update: (...args) => written(args[0], () => api.update(...args)),
      patch: (...args) => written(args[0], () => api.patch(...args)),
      delete: (...args) => written(args[0], () => api.delete(...args)),
      deleteCollection: (...args) => written(args[0], () => api.deleteCollection(...args)),
    }),
  }
}
