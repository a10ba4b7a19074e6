import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Capability } from '@cofferdam/product/capabilities/capability.ts'
import { shown } from '@cofferdam/product/capabilities/shown.ts'
import { trace, withoutKeys } from '@cofferdam/product/shared/trace.ts'
import { Counter } from 'prom-client'
import { createNightLight, nightLightLabel, nightLightRights } from './controller.ts'

interface ReadPorts {
  readonly informers: Informers & { settled(): Promise<void> }
}

interface Ports {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: { nodes(): WatchView<unknown> }
}

/** What a newcomer writes: a folder and this value. */
export const nightLight = {
  name: 'night-light',
  summary: 'Labels every node, to show how a capability is added.',
  controllers: [{ name: 'night-light', rights: nightLightRights }],
  traces: [
    trace({
      type: nodes,
      keys: [nightLightLabel],
      removal: (node) => withoutKeys(node, { labels: [nightLightLabel] }),
    }),
  ],
  shows: [
    shown({
      field: 'nightLight',
      title: 'NightLight',
      async read({ informers }: ReadPorts) {
        const view = informers.open('nodes/night-light', { type: nodes, project: ({ metadata }) => metadata })
        await informers.settled()
        return [...view.list()].map(({ name, labels }) => ({ node: name, isOn: labels?.[nightLightLabel] === 'on' }))
      },
      summarize: (seen) => seen,
      lines: (seen) => [[`${seen.filter(({ isOn }) => isOn).length} of ${seen.length} nodes are lit`]],
      node: {
        answer: (seen, nodeName) => seen.find(({ node }) => node === nodeName),
        lines: ({ isOn }) => [isOn ? 'lit' : 'dark'],
      },
    }),
  ],
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
} as const satisfies Capability<Ports, ReadPorts>
