import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'

interface OneKeyOptions {
  readonly name: string
  /** Everything that a pass reads. */
  readonly views: readonly Pick<WatchView<unknown>, 'subscribe' | 'whenSynced'>[]
  readonly pass: Controller['reconcile']
}

const all = 'all'

/** A controller whose one key stands for everything it reads: however much of it changes at once is one more pass. */
export function oneKeyController({ name, views, pass }: OneKeyOptions): Controller {
  return {
    name,
    async start(enqueue, signal) {
      for (const view of views) {
        const end = view.subscribe(() => enqueue(all))
        signal.addEventListener('abort', end, { once: true })
      }
      await Promise.all(views.map((view) => view.whenSynced(signal)))
      enqueue(all)
    },
    reconcile: pass,
  }
}
