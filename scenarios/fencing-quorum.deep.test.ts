import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { FencingAnswer } from '@cofferdam/product/capabilities/fencing/view/fencing-answer.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from './testing/fencing-fixture.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

/** Quick health checks and quick machines: what is waited for is Ceph. */
const quick: FencingFixtureOptions = {
  storage: 4,
  monsOn: 'storage',
  remedy: 'reboot',
  notReadySeconds: 60,
  timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
}

async function openGuarded(options: FencingFixtureOptions): Promise<void> {
  fixture = await openFencingFixture({ ...quick, ...options })
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
}

const isOn = (node: string) => fixture.world.kubelet.isOn(node)

describe('two of three nodes with monitors lose power, and Ceph falls silent: fencing brings them back instead of waiting for Ceph for ever', () => {
  it.each(['budget', 'openshift', 'medik8s', 'medik8s-without-leases'] as const)(
    'under %s that reboots: one after the other, Ceph is clean again, and machines may go as before',
    async (remediator) => {
      await openGuarded({ remediator })
      fixture.kill('storage-1')
      fixture.kill('storage-2')
      await fixture.until('the first is back', () => isOn('storage-1') || isOn('storage-2'), 600)
      await fixture.until('both are back', () => isOn('storage-1') && isOn('storage-2'), 900)
      await fixture.until('one machine may go again', fixture.isOpen, 600)
      expect(fixture.oracle.taken).toEqual([])
      expect(fixture.labelled()).toHaveLength(4)
      expect((await fixture.toldAll()).join('\n')).toContain('QuorumLost Ceph has no quorum: 2 of 3 monitors (a, b)')
      expect(fixture.oracle.violations).toEqual([])
    },
  )

  it.each(['openshift', 'cluster-api'] as const)(
    'under %s that replaces machines: the second dead one stays until the first is replaced',
    async (remediator) => {
      fixture = await openFencingFixture({ ...quick, remedy: 'delete', remediator })
      await freeMonitors()
      fixture.operate()
      await fixture.until('one machine may go', fixture.isOpen, 60)
      const [first = '', second = ''] = await monitorNodes()
      fixture.kill(first)
      fixture.kill(second)
      const left = () => [first, second].filter((name) => fixture.machineNames().includes(name))
      await fixture.until('the first is replaced', () => left().length < 2, 600)
      expect(left()).toHaveLength(1)
      await fixture.until('both are replaced', () => left().length === 0, 1200)
      await fixture.until('one machine may go again', fixture.isOpen, 900)
      expect(fixture.oracle.taken).toEqual([])
      expect(fixture.oracle.violations).toEqual([])
    },
  )
})

it('while Ceph has no quorum explain names for every dead machine what ends it, and for those that are kept an override: "it opens when Ceph is clean" was all, and Ceph needed them', async () => {
  fixture = await openFencingFixture({ ...quick, remediator: 'openshift', notReadySeconds: 600 })
  await writeOperatorLease(fixture)
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  for (const node of ['storage-1', 'storage-2']) fixture.kill(node)
  await fixture.seconds(300)
  const answers = await Promise.all(
    ['storage-1', 'storage-2'].map(async (node) => {
      const { answer } = await askExplain(fixture, `node/${node}`)
      return (answer as { fencing?: FencingAnswer }).fencing
    }),
  )
  expect(answers.map((answer) => answer?.reason).sort()).toEqual(['FenceRestoresQuorum', 'QuorumLost'])
  const kept = answers.find((answer) => answer?.reason === 'QuorumLost')
  expect(kept?.explanation).toContain('To bring a monitor back, storage-')
  expect(kept?.wayOut).toContain('All others open when Ceph answers and is clean.')
  expect(kept?.wayOut).toContain('patch cephcluster rook-ceph')
  const override = { spec: { disruptionManagement: { manageMachineDisruptionBudgets: false } } }
  await fixture.api.patch(
    cephClusters,
    { namespace: 'rook-ceph', name: 'rook-ceph' },
    { type: 'merge', body: override },
  )
  await fixture.until('both are back', () => isOn('storage-1') && isOn('storage-2'), 600)
})

describe('Ceph is silent for another reason', () => {
  it('the way to it is cut while one node with a monitor is dead: the others are a quorum, so nothing is released', async () => {
    await openGuarded({})
    fixture.silenceCeph()
    fixture.kill('storage-1')
    await fixture.seconds(1500)
    expect(isOn('storage-1')).toBe(false)
    expect(fixture.labelled()).toHaveLength(4)
    expect((await fixture.toldAll()).join('\n')).not.toContain('QuorumLost')
    fixture.letCephAnswer()
    await fixture.until('it is rebooted', () => isOn('storage-1'), 300)
    expect(fixture.oracle.violations).toEqual([])
  })

  it('kubelets of two nodes with monitors complain and run on, and Ceph cannot be asked: nothing is released, since their OSDs run', async () => {
    await openGuarded({})
    fixture.silenceCeph()
    fixture.sicken('storage-1', 'storage-2')
    await fixture.seconds(1500)
    expect(fixture.oracle.taken).toEqual([])
    expect(fixture.labelled()).toHaveLength(4)
    fixture.letCephAnswer()
    await fixture.until('the first is rebooted', () => fixture.oracle.taken.length === 1, 300)
    expect(fixture.oracle.violations).toEqual([])
  })
})

/** Monitors on volumes that follow them to any storage node, as soon as the node that has them attached is gone. */
async function freeMonitors(): Promise<void> {
  const names = Array.from({ length: 8 }, (_, index) => `storage-${index + 1}`)
  const isStorage = { key: 'kubernetes.io/hostname', operator: 'In', values: names }
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [isStorage] }] },
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'rook-ceph-mon' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  }
  const tolerations = ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
  }))
  const body = { spec: { template: { spec: { nodeSelector: null, tolerations, affinity } } } }
  for (const { metadata } of (await fixture.api.list(deployments, { namespace: 'rook-ceph' })).items) {
    if (metadata.labels?.['app'] !== 'rook-ceph-mon') continue
    await fixture.api.patch(deployments, { namespace: 'rook-ceph', name: metadata.name }, { type: 'merge', body })
    await fixture.seconds(20)
  }
}

async function monitorNodes(): Promise<string[]> {
  const { items } = await fixture.api.list(pods, { namespace: 'rook-ceph', labelSelector: 'app=rook-ceph-mon' })
  return items.flatMap(({ spec }) => spec.nodeName ?? []).sort()
}
