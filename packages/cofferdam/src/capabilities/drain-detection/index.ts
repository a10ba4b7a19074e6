import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Capability } from '../capability.ts'
import { createDrainDetection, drainDetectionRights } from './controller.ts'
import type { DrainViews } from './observe.ts'
import { drainDetectionTraces } from './traces.ts'

interface Ports {
  readonly api: Pick<KubeApi, 'patch' | 'list'>
  readonly clock: Clock
  readonly events: EventRecorder<Reason>
  readonly views: { readonly [Name in keyof DrainViews]: () => DrainViews[Name] }
}

export const drainDetection = {
  name: 'drain-detection',
  summary: 'Reports on each Node, as conditions, whether it is being drained and whether it is drained.',
  controllers: [{ name: 'drain-detection', rights: drainDetectionRights }],
  traces: drainDetectionTraces,
  install:
    () =>
    ({ api, clock, events, views }) => ({
      controllers: {
        'drain-detection': () =>
          createDrainDetection({
            api,
            clock,
            events: events.scoped(),
            views: { nodes: views.nodes(), pods: views.pods(), disruptions: views.disruptions() },
          }),
      },
    }),
} as const satisfies Capability<Ports>
