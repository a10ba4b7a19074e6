import {
  longhornNamespace,
  longhornNodes,
  longhornSettings,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import {
  manageAnnotation,
  restoresAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { askedAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/guidance-marks.ts'
import { drainPolicyLabel, drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { explainText, statusText } from './testing/commands.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { isHold, nodeOfBudget } from './testing/longhorn-oracle.ts'
import { expectNothingBroken, mib, pair, single } from './testing/longhorn-rows.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const slowly = { rebuildBytesPerSecond: mib }
const precious = { [drainPolicyLabel]: 'block-for-eviction' }
const settingKey = { namespace: longhornNamespace, name: drainPolicySetting }

const explained = (what: string) => explainText(fixture.api, fixture.clock, what)

/** Cofferdam's budget of the node, with its name and uid. */
function holdOn(node: string) {
  return [...fixture.views.of(podDisruptionBudgets).values()].find(
    (budget) => isHold(budget) && nodeOfBudget(budget) === node,
  )?.metadata
}

/** The only copy is on node-1, which the setting lets go; held by Cofferdam alone. */
async function openHeld(): Promise<void> {
  fixture = await openLonghornFixture(
    { volumes: [single], timings: slowly },
    { policy: 'always-allow', annotations: { [wantedPolicyAnnotation]: 'block-if-contains-last-replica' } },
  )
  fixture.operate({ isGuard: true })
  await fixture.use('solo', 'node-2')
  await fixture.seconds(10)
}

/** A copy on node-1 leaves by its disk, for the sake of its own policy. */
async function openAsked(): Promise<void> {
  fixture = await openLonghornFixture(
    { volumes: [{ ...pair, labels: precious }], timings: slowly },
    { policy: 'block-if-contains-last-replica' },
  )
  fixture.operate({ isGuard: true })
  await fixture.use('db', 'node-2')
  await fixture.seconds(10)
  await fixture.cordon('node-1')
  await fixture.until('its disk is asked for', () => fixture.askedDisks().length === 1, 30)
}

describe('what another client undoes', () => {
  it('a budget of Cofferdam that is deleted while it holds the only copy is made again at once, and that is an alarm in an event, in explain and in status', async () => {
    await openHeld()
    const before = holdOn('node-1')
    await fixture.api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: before?.name ?? '' })
    await fixture.until('it is there again', () => holdOn('node-1') !== undefined, 5)
    expect(holdOn('node-1')?.uid).not.toBe(before?.uid)
    await fixture.seconds(2)
    expect(await fixture.told('node-1')).toContain('WriteReverted')
    const says = `udget ${before?.name} of node node-1 was deleted by another client`
    expect((await fixture.notes('node-1')).join(' ')).toContain(says)
    expect(await explained('node/node-1')).toContain(says)
    expect(await statusText(fixture.api, fixture.clock)).toContain(says)
    expectNothingBroken(fixture, 'solo')
  })

  it('a budget of Cofferdam that is made to hold nothing is corrected', async () => {
    await openHeld()
    const name = holdOn('node-1')?.name ?? ''
    const key = { namespace: longhornNamespace, name }
    await fixture.api.patch(podDisruptionBudgets, key, { type: 'merge', body: { spec: { minAvailable: 0 } } })
    await fixture.until(
      'it holds again',
      () => fixture.views.of(podDisruptionBudgets).get(`${longhornNamespace}/${name}`)?.spec.minAvailable === 1,
      5,
    )
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect(drain.isOver()).toBe(false)
    expectNothingBroken(fixture, 'solo')
  })

  it('a request for a disk that is withdrawn is an alarm with the name of who did it, and is not made again in this drain; the node stays held', async () => {
    await openAsked()
    const key = { namespace: longhornNamespace, name: 'node-1' }
    const body = { spec: { disks: { 'default-disk': { evictionRequested: false } } } }
    await fixture.api.patch(longhornNodes, key, { type: 'merge', body }, { fieldManager: 'rival' })
    const drain = fixture.drain('node-1')
    await fixture.seconds(120)
    expect([fixture.askedDisks(), drain.isOver(), fixture.held().includes('node-1')]).toEqual([[], false, true])
    expect(await fixture.told('node-1')).toContain('WriteReverted')
    const says = 'he eviction of disk default-disk on node node-1 was withdrawn by "rival"'
    expect((await fixture.notes('node-1')).join(' ')).toContain(says)
    expect(await explained('node/node-1')).toContain(says)
    drain.giveUp()
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    await fixture.cordon('node-1')
    await fixture.until('the next drain asks again', () => fixture.askedDisks().length === 1, 30)
    expectNothingBroken(fixture, 'db')
  })

  it('what Cofferdam itself takes back is no alarm, whatever is drained and uncordoned', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single, { ...pair, labels: precious }] },
      { policy: 'always-allow', annotations: { [wantedPolicyAnnotation]: 'block-for-eviction' } },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('solo', 'node-2')
    for (const node of ['node-1', 'node-3']) {
      await fixture.cordon(node)
      await fixture.seconds(60)
      await fixture.cordon(node, false)
      await fixture.seconds(20)
    }
    expect(await fixture.told()).not.toContain('WriteReverted')
    expectNothingBroken(fixture, 'solo', 'db')
  })
})

describe('who is in charge changes', () => {
  it('from hold to observe in the midst of a drain: budgets, requests and the policy are taken back, and nothing more is written', async () => {
    await openAsked()
    await fixture.annotate({ [wantedPolicyAnnotation]: 'block-for-eviction-if-contains-last-replica' })
    await fixture.until('it is in force', () => fixture.policyInForce() !== 'block-if-contains-last-replica', 30)
    await fixture.annotate({ [manageAnnotation]: 'observe' })
    await fixture.seconds(10)
    expect([fixture.held(), fixture.askedDisks(), fixture.policyInForce()]).toEqual([
      [],
      [],
      'block-if-contains-last-replica',
    ])
    const setting = await fixture.api.get(longhornSettings, settingKey)
    const node = await fixture.api.get(longhornNodes, { namespace: longhornNamespace, name: 'node-1' })
    expect(setting.metadata.annotations?.[restoresAnnotation]).toBeUndefined()
    expect(node.metadata.annotations?.[askedAnnotation]).toBeUndefined()
    expect(node.spec?.disks?.['default-disk']).toMatchObject({ allowScheduling: true, evictionRequested: false })
    const told = await fixture.told()
    await fixture.seconds(60)
    expect(await fixture.told()).toEqual(told)
    expect(told).not.toContain('WriteReverted')
    expect(fixture.oracle.violations).toEqual([])
  })

  it('the annotation still says owner: it counts as hold, and what to write instead is said', async () => {
    await openHeld()
    await fixture.annotate({ [manageAnnotation]: 'owner' })
    await fixture.seconds(5)
    expect(fixture.held()).toEqual(['node-1'])
    const says = 'owner is now called hold; set cofferdam.io/manage=hold'
    expect((await fixture.notes(drainPolicySetting)).join(' ')).toContain(says)
    expect(await statusText(fixture.api, fixture.clock)).toContain(says)
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect(drain.isOver()).toBe(false)
    expectNothingBroken(fixture, 'solo')
  })

  it('the setting is deleted: budgets of Cofferdam go on holding, and Longhorn is not asked for anything', async () => {
    await openHeld()
    await fixture.api.delete(longhornSettings, settingKey)
    await fixture.seconds(5)
    const drain = fixture.drain('node-1')
    await fixture.seconds(120)
    expect([drain.isOver(), fixture.held(), fixture.askedDisks()]).toEqual([false, ['node-1'], []])
    expect(await fixture.told('node-1')).toContain('DrainPolicyUnknown')
    expectNothingBroken(fixture, 'solo')
  })

  it('tickets of an earlier version are withdrawn, those of others stay', async () => {
    await openHeld()
    const key = { namespace: longhornNamespace, name: 'solo' }
    const ticket = (id: string) => ({ id, type: 'volume-eviction-controller', nodeID: 'node-2', parameters: {} })
    const attachmentTickets = {
      'cofferdam-eviction-solo': ticket('cofferdam-eviction-solo'),
      'cofferdam-eviction-other': ticket('cofferdam-eviction-other'),
    }
    await fixture.api.patch(longhornVolumeAttachments, key, { type: 'merge', body: { spec: { attachmentTickets } } })
    await fixture.seconds(5)
    const { spec } = await fixture.api.get(longhornVolumeAttachments, key)
    const left = Object.keys(spec?.attachmentTickets ?? {})
    expect(left).not.toContain('cofferdam-eviction-solo')
    expect(left).toEqual(expect.arrayContaining(['cofferdam-eviction-other']))
    expect(left).toHaveLength(2)
    expectNothingBroken(fixture, 'solo')
  })
})
