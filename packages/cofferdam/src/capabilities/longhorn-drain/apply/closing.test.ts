import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { openGuidedLonghorn } from '../testing/longhorn-guided.ts'

const volumes = [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }]
const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }]

it('without the right to cordon nodes the missing right is reported, and that Longhorn does not see the taint', async () => {
  const fixture = await openGuidedLonghorn({ volumes }, {})
  const { api, eventsAbout, seconds, told } = fixture
  const stop = fixture.operate(
    changedApi(api, {
      patch(type, key, patch, options) {
        const isNode = type.plural === 'nodes' && type.group === ''
        if (isNode) throw new ApiError('Forbidden', 'nodes "node-1" is forbidden: cannot patch resource "nodes"')
        return api.patch(type, key, patch, options)
      },
    }),
  )
  await api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { taints } } })
  await seconds(120)
  expect((await api.get(nodes, { name: 'node-1' })).spec?.unschedulable).toBeUndefined()
  expect((await told('node-drain-policy')).filter((reason) => reason === 'RightsMissing')).toHaveLength(1)
  expect((await eventsAbout('node-drain-policy')).join()).toContain('cannot patch resource "nodes"')
  expect(await told('node-1')).toEqual(['TaintNotSeen'])
  await stop()
  fixture.stop()
})
