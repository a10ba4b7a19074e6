import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { wantedPolicyAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { explainText, statusText } from './testing/commands.ts'
import { type FollowedLonghorn, followLonghorn } from './testing/longhorn-agreement.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { expectNothingBroken, mib, pair, single } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
let followed: FollowedLonghorn | undefined
afterEach(async () => {
  await followed?.stop()
  followed = undefined
  await fixture.close()
})

const roleBindings = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}
const namespace = 'storage'
const all = 'block-for-eviction'
const last = 'block-if-contains-last-replica'
const slowly = { rebuildBytesPerSecond: 8 * mib }

const open = () =>
  openLonghornFixture(
    { namespace, volumes: [single, pair], timings: slowly },
    { policy: last, annotations: { [wantedPolicyAnnotation]: all } },
  )

const holds = () =>
  [...fixture.views.of(podDisruptionBudgets).values()]
    .filter(({ metadata }) => metadata.name.startsWith('cofferdam-hold-'))
    .map(({ metadata }) => metadata.namespace)

describe('Longhorn in a namespace that is not longhorn-system', () => {
  it('is held before the cordon, moves and is let go as anywhere: the drain ends by itself, and all is as before then', async () => {
    fixture = await open()
    await writeOperatorLease(fixture)
    fixture.operate({ isGuard: true })
    followed = followLonghorn(fixture, true)
    await fixture.use('db', 'node-2')
    await fixture.use('solo', 'node-3')
    await fixture.seconds(5)
    expect([fixture.held(), [...new Set(holds())]]).toEqual([['node-1', 'node-2'], [namespace]])
    const drain = fixture.drain('node-1')
    await fixture.seconds(5)
    expect([drain.isOver(), fixture.policyInForce()]).toEqual([false, all])
    expect((await followed.compare()).disagreements).toEqual([])
    await fixture.until('the drain is over', drain.isOver, 180)
    await drain.ended
    expect([fixture.placesOf('solo'), fixture.placesOf('db')].flat()).not.toContain('node-1')
    await fixture.cordon('node-1', false)
    await fixture.until('it is as before', () => fixture.policyInForce() === last, 30)
    await fixture.until('db is healthy', () => fixture.robustnessOf('db') === 'healthy', 120)
    expectNothingBroken(fixture, 'solo', 'db')
  })

  it('is named in every command that explain gives: one for longhorn-system would change nothing', async () => {
    fixture = await open()
    await writeOperatorLease(fixture)
    fixture.operate({ isGuard: true })
    await fixture.use('solo', 'node-3')
    await fixture.seconds(5)
    fixture.drain('node-1')
    await fixture.seconds(5)
    const said = await explainText(fixture.api, fixture.clock, 'node/node-1')
    expect(said).toContain(`kubectl -n ${namespace} label volumes.longhorn.io`)
    expect(said).not.toContain('longhorn-system')
    expect(await statusText(fixture.api, fixture.clock)).toContain('node-1')
  })

  it('without the rights of deploy/longhorn there: nothing is written, and the missing right is named on the setting', async () => {
    fixture = await open()
    await fixture.api.deleteCollection(roleBindings, { namespace })
    fixture.operate({ isGuard: true })
    await fixture.seconds(10)
    expect(holds()).toEqual([])
    const notes = await fixture.notes(drainPolicySetting)
    expect(notes.some((note) => note.includes('poddisruptionbudgets') && note.includes(`"${namespace}"`))).toBe(true)
    expect(fixture.oracle.violations).toEqual([])
  })
})
