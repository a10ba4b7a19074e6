import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { exampleCluster } from './testing/example-cluster.ts'
import { PassModel } from './testing/pass-model.ts'

const random = seededRandom(1)
const pools = [{ size: 3, minSize: 2, pgCount: 4 }]
const map = exampleCluster({ hosts: 3, osdsPerHost: 1, pools }, () => random.next())

/** Nobody dies, nothing fails; with 0.5 Ceph says yes, with 0.9 it does not answer whether OSDs may stop. */
function open(chance: 0.5 | 0.9): PassModel {
  return new PassModel(map, () => chance, {})
}

it('a start is held, agreed by Ceph and on record, in this order, before the Deployment is written; one record write is enough', () => {
  const model = open(0.5)
  model.pass()
  expect([model.performed, model.starts]).toEqual([
    [
      'ask map',
      'hold acquire',
      'ask trial',
      'ask ok-to-stop',
      'write record',
      'write flags',
      'write deployments',
      'hold keep',
      'report decision',
    ],
    1,
  ])
})

it('after a refusal Ceph is asked before the storage is held: others would have to wait for an update that cannot start', () => {
  const model = open(0.9)
  model.pass()
  const first = model.performed.splice(0)
  model.pass()
  expect([first, model.performed]).toEqual([
    ['ask map', 'hold acquire', 'ask trial', 'ask ok-to-stop', 'write record', 'hold release', 'report decision'],
    ['ask map', 'ask ok-to-stop', 'hold release', 'report decision'],
  ])
})
