import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'

const annotationHooks = [
  'pre-drain.delete.hook.machine.cluster.x-k8s.io',
  'pre-terminate.delete.hook.machine.cluster.x-k8s.io',
]

/** Who keeps a Machine that is being deleted from going: OpenShift has hooks in the spec, Cluster API has annotations. */
export function deletionHooks({ metadata, spec }: Machine): string[] {
  const { preDrain = [], preTerminate = [] } = spec?.lifecycleHooks ?? {}
  const annotated = Object.keys(metadata.annotations ?? {}).filter((key) =>
    annotationHooks.some((hook) => key === hook || key.startsWith(`${hook}/`)),
  )
  return [...preDrain, ...preTerminate].map(({ name }) => name).concat(annotated.sort())
}
