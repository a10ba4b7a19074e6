import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Permission } from '@cofferdam/product/shared/permission.ts'

export const nightLightRights: readonly Permission[] = [
  { group: '', resource: 'nodes', verbs: ['list', 'watch', 'patch'] },
]

export const nightLightLabel = 'example.com/night-light'

/** Labels every node. Keys are names of nodes. */
export function createNightLight({ api, nodes: view, onLabelled }: NightLightPorts): Controller {
  return {
    name: 'night-light',

    async start(enqueue, signal) {
      signal.addEventListener(
        'abort',
        view.subscribe(({ key }) => enqueue(key)),
        { once: true },
      )
      await view.whenSynced(signal)
    },

    async reconcile(name, signal) {
      const body = { metadata: { labels: { [nightLightLabel]: 'on' } } }
      await api.patch(nodes, { name }, { type: 'merge', body }, { signal })
      onLabelled()
      return undefined
    },
  }
}

interface NightLightPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly nodes: WatchView<unknown>
  readonly onLabelled: () => void
}
