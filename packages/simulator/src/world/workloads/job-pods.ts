import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { jobs } from '@cofferdam/kubernetes/api/resources.ts'
import { buildPod } from './pod-control.ts'

/** On every pod of a job until the job has counted it. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
const indexName = 'batch.kubernetes.io/job-completion-index'

export function buildJobPod(job: Job, index: number | undefined): Pod {
  const pod = buildPod({ owner: job, type: jobs, template: job.spec.template })
  const finalizers = [...(pod.metadata.finalizers ?? []), trackingFinalizer]
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } }
  const { name: jobName } = job.metadata
  const metadata: ObjectMeta = {
    ...pod.metadata,
    generateName: `${jobName}-${index}-`,
    finalizers,
    labels: { ...pod.metadata.labels, [indexName]: String(index) },
    annotations: { ...pod.metadata.annotations, [indexName]: String(index) },
  }
  const env = { name: 'JOB_COMPLETION_INDEX', value: String(index) }
  const containers = pod.spec.containers.map((container) => ({
    ...container,
    env: [...(container.env ?? []), env],
  }))
  return { ...pod, metadata, spec: { ...pod.spec, hostname: `${jobName}-${index}`, containers } }
}

export function completionIndexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexName]
  return text === undefined ? undefined : Number(text)
}

/** `1,3-5` as the numbers it stands for. */
export function parseIndexes(text: string | undefined): number[] {
  if (text === undefined || text === '') return []
  return text.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number) as [number, number?]
    return Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
  })
}

export function indexesText(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const index of sorted) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else ranges.push([index, index])
  }
  return ranges
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join(',')
}
