import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { openLine } from '../../../../../../scenarios/testing/cut-line.ts'
import { heldKeys } from '../../../ledger/store/testing/ledger-stage.ts'
import { type DisruptionStage, openDisruptionStage } from '../testing/disruption-stage.ts'

/** Somebody else's drain: asks for one database pod after the other to go, from nodes that are not ours. */
async function evictGreedily({ api }: DisruptionStage, spared: string): Promise<void> {
  const { items } = await api.list(pods, { labelSelector: 'app=db' })
  for (const { metadata, spec } of items) {
    if (spec.nodeName === spared) continue
    await evictPod(api, { namespace: 'default', name: metadata.name }).catch((error: unknown) => {
      if (!hasReason(error, 'TooManyRequests')) throw error
    })
  }
}

/** Database pods that serve: ready, not on their way out, and their node is up. */
async function serving({ api, world }: DisruptionStage): Promise<number> {
  const { items } = await api.list(pods, { labelSelector: 'app=db' })
  return items.filter(
    (pod) =>
      conditionOf(pod, 'Ready')?.status === 'True' &&
      pod.metadata.deletionTimestamp === undefined &&
      world.kubelet.isOn(pod.spec.nodeName ?? ''),
  ).length
}

/** The whole way of a reboot, beside a greedy drain; the first process is cut off after so many writes, and another takes over. */
async function tell(writes: number) {
  const stage = await openDisruptionStage()
  await stage.addStaying('db')
  await stage.addLeaving('web', { replicas: 3, maxUnavailable: 1 })
  const before = await stage.budgets()
  const line = openLine()
  line.cutAfter(writes)
  stage.operate({ api: line.api(stage.api) })
  await stage.seconds(2)
  let fewest = 3
  const node = await stage.nodeOf('db-0')
  await stage.request('reboot-a', { nodeName: node })
  let hasRebooted = false
  let hasTakenOver = false
  for (let second = 0; second < 600 && (await stage.phaseOf('reboot-a')) !== 'Completed'; second += 1) {
    await stage.seconds(1)
    if (second % 7 === 3) await evictGreedily(stage, node)
    fewest = Math.min(fewest, await serving(stage))
    if (line.isCut && !hasTakenOver) {
      hasTakenOver = true
      await stage.stopOperators()
      stage.operate()
    }
    if (!hasRebooted && (await stage.phaseOf('reboot-a')) === 'Drained') {
      hasRebooted = true
      stage.world.kubelet.reboot(node, 60)
    }
  }
  if (line.isCut && !hasTakenOver) {
    await stage.stopOperators()
    stage.operate()
  }
  await stage.seconds(30)
  const { status, metadata } = await stage.disruption('reboot-a')
  const outcome = {
    phase: status?.phase,
    finalizers: metadata.finalizers,
    skipped: status?.skippedPods?.map(({ name }) => name),
    isCordoned: await stage.isCordoned(node),
    budgets: (await stage.budgets()).join(' | ') === before.join(' | '),
    held: await heldKeys(stage.api),
    fewest,
  }
  await stage.close()
  return { outcome, wasCut: line.isCut }
}

const whole = {
  phase: 'Completed',
  finalizers: undefined,
  skipped: ['db-0'],
  isCordoned: false,
  budgets: true,
  held: [],
  fewest: 2,
}

describe('a process that dies', () => {
  it('after any of its writes is followed by another that ends the reboot, and two of three replicas serve all the time', async () => {
    const differing: unknown[] = []
    for (let writes = 0; ; writes += 1) {
      const { outcome, wasCut } = await tell(writes)
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
      if (!wasCut) {
        expect(writes).toBeGreaterThan(15)
        break
      }
    }
    expect(differing).toEqual([])
  }, 240_000)
})
