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
    onUnreadable: ({ view, users, error }) =>
      log.warn({ view, controllers: users, error: errorText(error) }, unreadableText(view, users)),
    onReadable: ({ view, users }) =>
      log.info({ view, controllers: users }, `${view} can be read again: ${needs(users)} it again`),
  }
}

function unreadableText(view: string, users: readonly string[]): string {
  const what = users.length === 0 ? 'what needs it' : users.join(', ')
  return `${view} cannot be read: ${what} does nothing that depends on it. Grant the right (deploy/) or install the kind; it is tried again, and not reported again before it can be read`
}

function needs(users: readonly string[]): string {
  return users.length === 0 ? 'what needs it uses' : `${users.join(', ')} ${users.length === 1 ? 'uses' : 'use'}`
}
