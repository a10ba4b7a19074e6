import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { mergePatch, type Trace, trace } from '../../shared/trace.ts'
import { changeMarks, keptAnnotation, parseMarks } from './domain/scale-down-marks.ts'

export const autoscalerTraces: readonly Trace[] = [
  trace({
    type: nodes,
    keys: [keptAnnotation],
    removal(node) {
      const annotations = changeMarks(parseMarks(node.metadata.annotations), false)
      const names = Object.keys(annotations)
      if (names.length === 0) return undefined
      return mergePatch(node, names.map((key) => `annotation ${key}`).join(', '), { metadata: { annotations } })
    },
  }),
]
