import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { Capability } from '../capability.ts'
import type { NodeApi } from '../change-node.ts'
import { shown } from '../shown.ts'
import { autoscalersRights, createAutoscalers } from './controller.ts'
import { isMarked } from './domain/snapshot.ts'
import type { KeepViews } from './observe.ts'
import { type AutoscalerReadPorts, readAutoscalers } from './read-autoscalers.ts'
import { autoscalerTraces } from './traces.ts'
import { answerAutoscalers, autoscalerLines, summarizeAutoscalers } from './view/explain-autoscalers.ts'

interface Ports {
  readonly api: NodeApi
  readonly events: EventRecorder<Reason>
  readonly views: { readonly [Name in keyof KeepViews]: () => KeepViews[Name] }
}

export const autoscalers = {
  name: 'autoscalers',
  summary: 'Keeps cluster-autoscaler and Karpenter from nodes that are drained for a reboot.',
  controllers: [{ name: 'autoscalers', rights: autoscalersRights }],
  traces: autoscalerTraces,
  shows: [
    shown({
      field: 'autoscalers',
      title: 'Autoscalers',
      read: (ports: AutoscalerReadPorts) => readAutoscalers(ports),
      summarize: summarizeAutoscalers,
      lines: (answers) => [
        answers.flatMap((each) => autoscalerLines(each).map((line) => `node ${each.node}: ${line}`)),
      ],
      node: { answer: answerAutoscalers, lines: autoscalerLines },
    }),
  ],
  install:
    () =>
    ({ api, events, views }) => ({
      controllers: {
        autoscalers: () =>
          createAutoscalers({
            api,
            events: events.scoped(),
            views: { nodes: views.nodes(), disruptions: views.disruptions(), claims: views.claims() },
          }),
      },
      answers: { scaleDownKeeper: () => ({ isKept: isMarked }) },
    }),
} as const satisfies Capability<Ports, AutoscalerReadPorts>
