import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'

/** Before which step a Machine that is being deleted waits. */
export type DeletionStep = 'drain' | 'terminate'

/** Cluster API has annotations. */
const annotationHooks: Record<DeletionStep, string> = {
  drain: 'pre-drain.delete.hook.machine.cluster.x-k8s.io',
  terminate: 'pre-terminate.delete.hook.machine.cluster.x-k8s.io',
}

/** Who keeps a Machine that is being deleted from this step: OpenShift has hooks in the spec, Cluster API has annotations. */
export function deletionHooks({ metadata, spec }: Machine, before: DeletionStep): string[] {
  const { preDrain = [], preTerminate = [] } = spec?.lifecycleHooks ?? {}
  const hook = annotationHooks[before]
  const annotated = Object.keys(metadata.annotations ?? {}).filter((key) => key === hook || key.startsWith(`${hook}/`))
  return (before === 'drain' ? preDrain : preTerminate).map(({ name }) => name).concat(annotated.sort())
}
