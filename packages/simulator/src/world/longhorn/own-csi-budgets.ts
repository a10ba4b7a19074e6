import { longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'
import { csiDeploymentNames } from './csi-deployments.ts'

/** What Longhorn does by itself: one budget each for what attaches and makes volumes, while any volume is in use. */
export function startOwnCsiBudgets({
  tools,
  namespace,
}: {
  readonly tools: ActorTools
  readonly namespace: string
}): void {
  const volumes = tools.views.of(longhornVolumes)
  const kept = tools.views.of(deployments)
  const budgets = tools.views.of(podDisruptionBudgets)
  const queue = tools.queue({ needs: [volumes, kept, budgets], work: reconcile, concurrency: 1 })

  async function reconcile(name: string): Promise<void> {
    const deployment = kept.get(`${namespace}/${name}`)
    if (deployment === undefined) return
    const held = budgets.get(`${namespace}/${name}`)
    const isInUse = [...volumes.values()].some(({ status }) => status?.state !== 'detached')
    if (!isInUse && held !== undefined) await deleteExactly(tools, podDisruptionBudgets, held)
    if (!isInUse || held !== undefined) return
    const made = await tools.api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace },
      spec: { minAvailable: 1, selector: deployment.spec.selector },
    })
    budgets.record(made)
  }

  const enqueueBoth = () => {
    for (const name of csiDeploymentNames) queue.add(name)
  }
  tools.onStop(
    volumes.subscribe(({ before, after }) => {
      if (before?.status?.state !== after?.status?.state) enqueueBoth()
    }),
  )
  tools.onStop(
    kept.subscribe(({ key, before, after }) => {
      if (before === undefined || after === undefined) queue.add(key.slice(namespace.length + 1))
    }),
  )
}
