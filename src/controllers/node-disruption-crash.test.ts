import { describe, expect, it } from 'vitest'
import { openLine } from '../../scenarios/testing/cut-line.ts'
import { podDisruptionBudgets } from '../api/resources.ts'
import { type DisruptionStage, openDisruptionStage } from './testing/disruption-stage.ts'
import { heldKeys } from './testing/ledger-stage.ts'

/** Watches every commit of the budget: pods that are up and those that a lock or an eviction took must never be too few. */
function watchBudget(stage: DisruptionStage) {
  const faults: string[] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of stage.api.watch(podDisruptionBudgets, { signal: stop.signal })) {
      if (event.type === 'BOOKMARK') continue
      const { metadata, status } = event.object
      if ((status?.disruptionsAllowed ?? 0) < 0) faults.push(`${metadata.name} allows less than nothing`)
    }
  })()
  return {
    faults,
    async stop() {
      stop.abort()
      await watching
    },
  }
}

/** The whole way of a reboot; the first process is cut off after so many writes, and another takes over. */
async function tell(writes: number) {
  const stage = await openDisruptionStage()
  await stage.addStaying('db')
  await stage.addLeaving('web', { replicas: 3, maxUnavailable: 1 })
  const before = await stage.budgets()
  const line = openLine()
  line.cutAfter(writes)
  stage.operate({ api: line.api(stage.api) })
  await stage.seconds(2)
  const watched = watchBudget(stage)
  const node = await stage.nodeOf('db-0')
  await stage.request('reboot-a', { nodeName: node })
  let hasRebooted = false
  let hasTakenOver = false
  for (let second = 0; second < 600 && (await stage.phaseOf('reboot-a')) !== 'Completed'; second += 1) {
    await stage.seconds(1)
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
  await watched.stop()
  const { status, metadata } = await stage.disruption('reboot-a')
  const outcome = {
    phase: status?.phase,
    finalizers: metadata.finalizers,
    skipped: status?.skippedPods?.map(({ name }) => name),
    isCordoned: await stage.isCordoned(node),
    budgets: (await stage.budgets()).join(' | ') === before.join(' | '),
    held: await heldKeys(stage.api),
    faults: watched.faults,
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
  faults: [],
}

describe('a process that dies', () => {
  it('after any of its writes is followed by another that ends the reboot as if nothing had happened', async () => {
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
