import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Capability } from '@cofferdam/product/capabilities/capability.ts'
import { Counter } from 'prom-client'
import { createNightLight, nightLightRights } from './controller.ts'

interface Ports {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: { nodes(): WatchView<unknown> }
}

/** What a newcomer writes: a folder and this value. */
export const nightLight = {
  name: 'night-light',
  summary: 'Labels every node, to show how a capability is added.',
  controllers: [{ name: 'night-light', rights: nightLightRights }],
  install(registry) {
    const labelled = new Counter({
      name: 'cofferdam_night_light_labels_total',
      help: 'Labels that were written.',
      registers: [registry],
    })
    return ({ api, views }) => ({
      controllers: {
        'night-light': () => createNightLight({ api, nodes: views.nodes(), onLabelled: () => labelled.inc() }),
      },
    })
  },
} as const satisfies Capability<Ports>
