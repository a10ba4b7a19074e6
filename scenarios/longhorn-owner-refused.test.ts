import {
  longhornNamespace,
  longhornReplicas,
  longhornVolumeAttachments,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { daemonSets, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { drainPolicyLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { buildManagerDaemonSet } from '@cofferdam/simulator/world/longhorn/manager-daemon-set.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { explainText, statusText } from './testing/commands.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const mib = 1024 ** 2
const solo = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25, sizeBytes: 256 * mib }
const timings = { rebuildBytesPerSecond: mib }
const refused = 'a Longhorn manager is there (DaemonSet longhorn-manager) and handles drains itself'

/** How often a flag of a replica changed since, and which budgets carry our label. */
function watchFlags(): () => number {
  let flips = 0
  const end = fixture.views.of(longhornReplicas).subscribe(({ before, after }) => {
    const [was, is] = [before?.spec?.evictionRequested ?? false, after?.spec?.evictionRequested ?? false]
    if (before !== undefined && after !== undefined && was !== is) flips += 1
  })
  return () => {
    end()
    return flips
  }
}

const ownBudgets = () =>
  [...fixture.views.of(podDisruptionBudgets).values()]
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam')
    .map(({ metadata }) => metadata.name)

const explained = (what: string) => explainText(fixture.api, fixture.clock, what)

describe('mode owner beside a Longhorn that handles drains itself', () => {
  it('is refused: no flag is set that Longhorn cancels, no budget made that it deletes while the only copy is on the node, and all are told', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    fixture = await openLonghornFixture(
      { volumes: [{ ...solo, labels }], timings, ownDrainHandling: true },
      { policy: 'block-if-contains-last-replica' },
    )
    fixture.operate()
    await fixture.use('solo', 'node-2')
    await fixture.seconds(10)
    const flips = watchFlags()
    await fixture.cordon('node-1')
    await fixture.seconds(60)
    expect([flips(), ownBudgets(), fixture.guarded()]).toEqual([0, [], ['node-1', 'node-2', 'node-3']])
    expect(fixture.placesOf('solo')).toEqual(['node-1'])
    expect(await fixture.told('node-drain-policy')).toEqual(['OwnerRefused'])
    const [note = ''] = await fixture.notes('node-drain-policy')
    expect(note).toContain(`Mode owner is refused: ${refused}`)
    expect(note).toContain('Set cofferdam.io/manage=guide')
    expect(await explained('node/node-1')).toContain(
      `Longhorn decides (observe), policy block-if-contains-last-replica; mode owner is refused: ${refused}`,
    )
    expect(await statusText(fixture.api, fixture.clock)).toContain(`mode owner is refused: ${refused}`)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('that is installed in the midst of a move: the attachment for the move is taken back, budgets stay, and nothing more is written', async () => {
    fixture = await openLonghornFixture({ volumes: [solo], timings, attachForEviction: 'nobody' })
    fixture.operate()
    await fixture.seconds(30)
    await fixture.cordon('node-1')
    const tickets = () =>
      Object.keys(
        fixture.views.of(longhornVolumeAttachments).get(`${longhornNamespace}/solo`)?.spec?.attachmentTickets ?? {},
      )
    await fixture.until('it is attached for its move', () => tickets().length === 1, 60)
    const before = ownBudgets().filter((name) => !name.startsWith('csi-'))
    expect(before).toHaveLength(3)

    await fixture.api.create(daemonSets, buildManagerDaemonSet(longhornNamespace))
    await fixture.until('its pods run', () => managerPods() === 3, 60)
    await fixture.seconds(10)
    const flips = watchFlags()
    await fixture.cordon('node-1', false)
    await fixture.cordon('node-2')
    await fixture.seconds(60)
    expect([tickets(), flips()]).toEqual([[], 0])
    expect(ownBudgets()).toEqual(expect.arrayContaining(before))
    expect(await fixture.told('node-drain-policy')).toEqual(['OwnerRefused'])

    await fixture.api.delete(daemonSets, { namespace: longhornNamespace, name: 'longhorn-manager' })
    await fixture.until('its pods are gone', () => managerPods() === 0, 60)
    await fixture.cordon('node-2', false)
    await fixture.cordon('node-1')
    await fixture.until('the operator moves it again', () => fixture.flags().length === 1, 60)
  })
})

const managerPods = () =>
  [...fixture.views.of(pods).values()].filter(({ metadata }) => metadata.labels?.['app'] === 'longhorn-manager').length

describe('what is written in mode owner and undone by somebody else', () => {
  it('is an alarm with the name of who did it, in an event, in explain and in status, and is written again', async () => {
    fixture = await openLonghornFixture({ volumes: [solo], timings })
    fixture.operate()
    await fixture.use('solo', 'node-2')
    await fixture.seconds(10)
    await fixture.cordon('node-1')
    await fixture.until('it is asked to leave', () => fixture.flags().length === 1, 30)
    const replica = fixture.replicaOn('solo', 'node-1')
    const key = { namespace: longhornNamespace, name: replica }
    const body = { spec: { evictionRequested: false } }
    await fixture.api.patch(longhornReplicas, key, { type: 'merge', body }, { fieldManager: 'rival' })
    await fixture.until('it is asked again', () => fixture.flags().length === 1, 30)
    expect(await fixture.told(replica)).toContain('WriteReverted')
    const says = `the eviction of replica ${replica} was cancelled by "rival"`
    expect((await fixture.notes(replica)).join(' ')).toContain(says)
    expect(await explained('node/node-1')).toContain(says)
    expect(await statusText(fixture.api, fixture.clock)).toContain(says)
  })

  it('a budget that is deleted while it holds the only copy is made again, and that it was deleted is an alarm', async () => {
    fixture = await openLonghornFixture({ volumes: [solo], timings }, { policy: 'block-if-contains-last-replica' })
    fixture.operate()
    await fixture.use('solo', 'node-2')
    await fixture.cordon('node-1')
    await fixture.seconds(10)
    const manager = [...fixture.views.of(podDisruptionBudgets).values()].find(
      ({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] === 'node-1',
    )
    fixture.oracle.excuse('solo')
    await fixture.api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: manager?.metadata.name ?? '' })
    await fixture.until('it is there again', () => fixture.guarded().includes('node-1'), 30)
    expect(await fixture.told('node-1')).toContain('WriteReverted')
    const says = `budget ${manager?.metadata.name} of node node-1 was deleted by another client`
    expect((await fixture.notes('node-1')).join(' ')).toContain(says)
    expect(await explained('node/node-1')).toContain(says)
  })

  it('what the operator itself takes back is no alarm, whatever is drained and uncordoned', async () => {
    fixture = await openLonghornFixture({ volumes: [solo] })
    fixture.operate()
    await fixture.use('solo', 'node-2')
    for (const node of ['node-1', 'node-3']) {
      await fixture.cordon(node)
      await fixture.seconds(60)
      await fixture.cordon(node, false)
      await fixture.seconds(20)
    }
    expect(await fixture.told()).not.toContain('WriteReverted')
  })
})
