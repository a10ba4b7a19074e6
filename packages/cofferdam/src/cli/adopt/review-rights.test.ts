import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cephDrainPermissions } from '../../capabilities/ceph-drain/controller/controller.ts'
import { longhornDrainPermissions } from '../../capabilities/longhorn-drain/controller/controller.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { installOperator } from '../demo/install-operator.ts'
import { reviewRights } from './review-rights.ts'

let scenario: ReturnType<typeof openScenario>
beforeEach(async () => {
  scenario = openScenario(1)
  await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'rook-ceph' } })
  await installOperator(scenario.server, { ceph: ['rook-ceph'] })
})
afterEach(() => scenario.stop())

const review = (
  namespace: string,
  account: { namespace: string; name: string } = operatorAccount,
  rights = cephDrainPermissions,
) =>
  reviewRights({
    api: scenario.api,
    signal: new AbortController().signal,
    account,
    namespace,
    rights,
  })

it('an operator with deploy/ceph applied has all it needs there', async () => {
  expect(await review('rook-ceph')).toEqual({ known: true, value: [] })
})

it('where deploy/ceph is not applied the missing rights are named, and those of the base are not', async () => {
  const answer = await review('other-ceph')
  expect(answer).toMatchObject({
    known: true,
    value: expect.arrayContaining(['update poddisruptionbudgets.policy', 'get configmaps rook-ceph-pdbstatemap']),
  })
  expect(answer.known && answer.value.filter((right) => /nodes|events/.test(right))).toEqual([])
})

it.each(['longhorn-system', 'storage'])(
  'an operator with the rights of deploy/longhorn in %s has all it needs there and nowhere else; without them they are named',
  async (place) => {
    const ofLonghorn = (where = place) => review(where, operatorAccount, longhornDrainPermissions)
    const before = await ofLonghorn()
    expect(before).toMatchObject({ known: true, value: expect.arrayContaining(['patch nodes.longhorn.io']) })
    const other = openScenario(1)
    await other.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place } })
    await installOperator(other.server, { longhorn: [place] })
    scenario.stop()
    scenario = other
    expect(await ofLonghorn()).toEqual({ known: true, value: [] })
    expect(await ofLonghorn('shop')).toMatchObject({
      known: true,
      value: expect.arrayContaining(['patch nodes.longhorn.io']),
    })
  },
)

it('another account has nothing', async () => {
  const answer = await review('rook-ceph', { namespace: 'default', name: 'default' })
  expect(answer.known && answer.value.length).toBeGreaterThan(10)
})

it('who may not ask for the rights of others gets no answer, which is no no', async () => {
  const refused = () => Promise.reject(new ApiError('Forbidden', 'subjectaccessreviews is forbidden'))
  const answer = await reviewRights({
    api: { create: refused },
    signal: new AbortController().signal,
    account: operatorAccount,
    namespace: 'rook-ceph',
    rights: cephDrainPermissions,
  })
  expect(answer).toEqual({ known: false, why: 'subjectaccessreviews is forbidden' })
})
