import { describe, expect, it } from 'vitest'
import { openDisruptionStage } from './testing/disruption-stage.ts'
import { heldKeys } from './testing/ledger-stage.ts'

describe('a request to reboot a node', () => {
  it('drains it around the pod that stays, waits for the reboot, and gives everything back', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    await stage.addLeaving('web', { replicas: 2, maxUnavailable: 1 })
    stage.operate()
    await stage.seconds(2)
    const before = await stage.budgets()
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node, reason: 'kernel' })
    await stage.until('reboot-a', 'Drained')
    expect(await stage.podsOn(node)).toEqual(['db-0'])
    expect(await stage.isCordoned(node)).toBe(true)
    expect(await stage.budgets()).toEqual([
      'db (1): 0 of 2 without db-0 held by nodedisruption/reboot-a',
      'web (1): 1 of 2',
    ])
    stage.world.kubelet.reboot(node, 90)
    await stage.until('reboot-a', 'Completed')
    await stage.seconds(5)
    expect(await stage.isCordoned(node)).toBe(false)
    expect(await stage.budgets()).toEqual(before)
    expect(await heldKeys(stage.api)).toEqual([])
    const { status, metadata } = await stage.disruption('reboot-a')
    expect(metadata.finalizers).toBeUndefined()
    expect(status).toMatchObject({
      phase: 'Completed',
      skippedPods: [{ name: 'db-0' }],
      lockedBudgets: [{ name: 'db' }],
      cordonedBy: 'nodedisruption/reboot-a, lifted',
    })
    await stage.close()
  })
})
