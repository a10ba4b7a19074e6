import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { expect, it } from 'vitest'
import { installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { openCephFixture } from '../../ceph-drain/testing/ceph-fixture.ts'

async function statusOf(api: KubeApi, name: string): Promise<string> {
  const { status } = await api.get(nodeDisruptions, { name })
  const why = (status?.blockedBy ?? []).map(({ object, reason }) => `${object} ${reason}`)
  return [status?.phase, ...new Set(why)].join(', ')
}

it('two nodes in two zones of one Ceph go one after the other, and the first holds its zone until all data is clean', async () => {
  const fixture = await openCephFixture()
  const { api, seconds, world } = fixture
  await installDefinitions(api)
  fixture.operate({ controllers: ['ceph-drain', 'node-disruption', 'disruption-ledger'] })
  await seconds(30)
  const told: Record<string, string> = {}
  for (const zone of ['x', 'y']) {
    await api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: `reboot-${zone}` },
      spec: { nodeName: `node-${zone}`, intent: 'Reboot', honourSkipDrain: true },
    })
  }
  const note = async (when: string) => {
    for (const zone of ['x', 'y']) told[`${when}: ${zone}`] = await statusOf(api, `reboot-${zone}`)
  }
  await seconds(30)
  await note('drained')
  world.kubelet.reboot('node-x', 60)
  await seconds(64)
  await note('back')
  for (let waited = 0; waited < 300 && !(await statusOf(api, 'reboot-x')).startsWith('Completed'); waited += 1) {
    await seconds(1)
  }
  await seconds(30)
  await note('clean')
  const waits = 'Waiting, storage/rook-ceph/rook-ceph StorageNeedsNode, storage/rook-ceph/rook-ceph HeldByRequest'
  expect(told).toEqual({
    'drained: x': 'Drained, node/node-x NodeMayGo',
    'drained: y': waits,
    'back: x': 'Recovering, storage/rook-ceph/rook-ceph StorageRecovering',
    'back: y': waits,
    'clean: x': 'Completed',
    'clean: y': 'Drained, node/node-y NodeMayGo',
  })
  await fixture.close()
})
