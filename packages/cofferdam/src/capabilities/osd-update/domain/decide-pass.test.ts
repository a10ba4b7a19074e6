import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { decideUpdatePass } from './decide-pass.ts'
import { exampleCluster } from './testing/example-cluster.ts'
import { passSnapshot, wordsOf } from './testing/pass-fixture.ts'
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

it('a CephCluster from before the update, of an API server that has fallen behind, ends and turns back nothing, and is named', () => {
  const { seen } = passSnapshot()
  const { steps, recheckAfterSeconds } = decideUpdatePass(
    passSnapshot({
      seen: {
        isOutdated: true,
        cluster: { ...seen.cluster, objectGeneration: 1 },
        record: { ...seen.record, noout: [0], writtenFor: { uid: 'uid-1', generation: 2 } },
      },
    }),
  )
  const [report] = steps.flatMap((step) => (step.do === 'report' && step.report === 'decision' ? [step.decision] : []))
  expect([wordsOf(steps), recheckAfterSeconds, report?.reason, report?.explanation]).toEqual([
    ['report decision'],
    5,
    'SafetyUnknown',
    'CephCluster rook-ceph was read in generation 1, and ConfigMap cofferdam-osd-update-rook-ceph is of generation 2: nothing starts or ends until the API server has caught up',
  ])
})
