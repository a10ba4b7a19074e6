import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { events } from '@cofferdam/kubernetes/api/resources.ts'
import type { Reason } from '../shared/reasons.ts'
import { buildEvent } from './events.ts'
import { errorText } from './log.ts'
import type { ViewPorts } from './shared-views.ts'

/** Writes Events. Never throws: news is not worth a failed reconcile. */
export function eventTeller({ api, clock, random, log }: ViewPorts) {
  return async (
    about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void> => {
    const { namespace, name } = about.metadata
    const object = `${about.kind.toLowerCase()}/${namespace === undefined ? '' : `${namespace}/`}${name}`
    log[news.type === 'Warning' ? 'warn' : 'info']({ object, reason: news.reason }, news.note)
    try {
      await api.create(events, buildEvent({ about, ...news }, { clock, random }))
    } catch (error) {
      log.warn({ object, reason: news.reason, error: errorText(error) }, 'an event could not be written')
    }
  }
}
