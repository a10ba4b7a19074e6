import { longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { deleteExactly, type Stage } from '../actor.ts'
import { csiDeploymentNames } from './csi-deployments.ts'

/** What Longhorn does by itself: one budget each for what attaches and makes volumes, while any volume is in use. */
export function startOwnCsiBudgets({ stage, namespace }: { readonly stage: Stage; readonly namespace: string }): void {
  const volumes = stage.views.of(longhornVolumes)
  const kept = stage.views.of(deployments)
  const budgets = stage.views.of(podDisruptionBudgets)
  const queue = stage.queue({ needs: [volumes, kept, budgets], work: reconcile, concurrency: 1 })

  async function reconcile(name: string): Promise<void> {
    const deployment = kept.get(`${namespace}/${name}`)
    if (deployment === undefined) return
    const held = budgets.get(`${namespace}/${name}`)
    const isInUse = [...volumes.values()].some(({ status }) => status?.state !== 'detached')
    if (!isInUse && held !== undefined) await deleteExactly(stage, podDisruptionBudgets, held)
    if (!isInUse || held !== undefined) return
    const made = await stage.api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace },
      spec: { minAvailable: 1, selector: deployment.spec.selector },
    })
    budgets.record(made)
  }

  const lookAtBoth = () => {
    for (const name of csiDeploymentNames) queue.add(name)
  }
  stage.onStop(
    volumes.subscribe(({ before, after }) => {
      if (before?.status?.state !== after?.status?.state) lookAtBoth()
    }),
  )
  stage.onStop(
    kept.subscribe(({ key, before, after }) => {
      if (before === undefined || after === undefined) queue.add(key.slice(namespace.length + 1))
    }),
  )
}
