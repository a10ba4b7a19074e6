import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchInformersPorts } from '@cofferdam/kubernetes/informers/watch-informers.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { errorText } from './log.ts'

export interface ViewPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export function informerPorts({ api, clock, random, log }: ViewPorts): WatchInformersPorts {
  return {
    api,
    clock,
    random,
    onError: (error) => log.warn({ error: errorText(error) }, 'a watch was interrupted and is restarted'),
  }
}
