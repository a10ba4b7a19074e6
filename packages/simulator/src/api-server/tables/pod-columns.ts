import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'
import { labelsText } from './labels-text.ts'
import { type FullPod, type PodSummary, restartsText, summarizePod } from './pod-summary.ts'

const summaries = new WeakMap<FullPod, PodSummary>()

// Three columns need the same summary, and a watch shows the same pod to many.
function summaryOf(pod: FullPod): PodSummary {
  const known = summaries.get(pod)
  if (known) return known
  const summary = summarizePod(pod)
  summaries.set(pod, summary)
  return summary
}

export const podColumns: readonly TableColumn[] = [
  nameColumn,
  column<FullPod>('Ready', (pod) => summaryOf(pod).ready),
  column<FullPod>('Status', (pod) => summaryOf(pod).status),
  column<FullPod>('Restarts', (pod, nowMs) => restartsText(summaryOf(pod), nowMs)),
  ageColumn,
  wideColumn<FullPod>('IP', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || '<none>'),
  wideColumn<FullPod>('Node', ({ spec }) => spec.nodeName || '<none>'),
  wideColumn<FullPod>('Nominated Node', ({ status }) => status?.nominatedNodeName || '<none>'),
  wideColumn<FullPod>('Readiness Gates', readinessGates),
]

function readinessGates({ spec, status }: FullPod): string {
  const gates = spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(
    ({ conditionType }) => status?.conditions?.find(({ type }) => type === conditionType)?.status === 'True',
  )
  return `${open.length}/${gates.length}`
}

/** Names and images of the containers in a template, for whatever carries one. */
export function templateColumns<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  build: (name: string, cell: (object: T) => string) => TableColumn = wideColumn,
): readonly TableColumn[] {
  const containers = (object: T) => templateOf(object)?.spec.containers ?? []
  return [
    build('Containers', (object) =>
      containers(object)
        .map(({ name }) => name)
        .join(','),
    ),
    build('Images', (object) =>
      containers(object)
        .map(({ image }) => image ?? '')
        .join(','),
    ),
  ]
}

interface PodTemplate extends KubeObject {
  readonly template?: PodTemplateSpec
}

export const podTemplateColumns: readonly TableColumn[] = [
  nameColumn,
  ...templateColumns<PodTemplate>(({ template }) => template, column),
  column<PodTemplate>('Pod Labels', ({ template }) => labelsText(template?.metadata?.labels)),
]
