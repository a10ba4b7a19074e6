import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { completePodStatus, podStatusErrors } from './pod-status.ts'

const before: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default' },
  spec: { nodeName: 'machine-1', containers: [] },
  status: { phase: 'Running', qosClass: 'Burstable' },
}
const waiting: Pod = { ...before, spec: { containers: [] } }
const written = (status: object, previous = before): Pod => ({
  ...previous,
  status: { qosClass: 'Burstable', ...status },
})

describe('the status that a kubelet writes', () => {
  const faults: Readonly<Record<string, readonly [Pod, readonly string[]]>> = {
    'is taken with an address of each family': [written({ podIPs: [{ ip: '10.9.0.1' }, { ip: 'fd00::1' }] }), []],
    'is refused with an address that is none: the service of the pod would send its callers nowhere': [
      written({ podIPs: [{ ip: 'not an address' }] }),
      ['status.podIPs[0]'],
    ],
    'is refused with two addresses of one family': [
      written({ podIPs: [{ ip: '10.9.0.1' }, { ip: '10.9.0.2' }] }),
      ['status.podIPs'],
    ],
    'is refused where the first address of the host is not its address': [
      written({ hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] }),
      ['status.hostIPs[0].ip'],
    ],
    'is refused with another quality of service than the pod was made with': [
      written({ qosClass: 'Guaranteed' }),
      ['status.qosClass'],
    ],
    'is refused with a condition whose type no selector could name': [
      written({ conditions: [{ type: 'not a type', status: 'True' }] }),
      ['status.conditions[0].Type'],
    ],
    'is refused with a generation that never was': [written({ observedGeneration: -1 }), ['status.observedGeneration']],
    'is refused where a pod that has its node is promised another': [
      written({ nominatedNodeName: 'machine-9' }),
      ['status.nominatedNodeName'],
    ],
    'is taken where a pod without a node is promised one': [written({ nominatedNodeName: 'machine-9' }, waiting), []],
  }
  it.each(Object.entries(faults))('%s', (_, [next, fields]) => {
    expect(podStatusErrors(next, before).map(({ field }) => field)).toEqual(fields)
  })

  const completed: Readonly<Record<string, readonly [object, object]>> = {
    'has its one address also as the first of all': [
      { podIP: '10.9.0.1' },
      { podIP: '10.9.0.1', podIPs: [{ ip: '10.9.0.1' }] },
    ],
    'has the first of all also as its one address': [
      { podIPs: [{ ip: '10.9.0.1' }] },
      { podIP: '10.9.0.1', podIPs: [{ ip: '10.9.0.1' }] },
    ],
    'forgets all addresses where the one address changes: a reader of the others would call a pod that is gone': [
      { podIP: '10.9.0.2', podIPs: [{ ip: '10.9.0.1' }] },
      { podIP: '10.9.0.2', podIPs: [{ ip: '10.9.0.2' }] },
    ],
    'has a last state of each container, if an empty one: who applies the list without it would own another one, and no conflict were seen':
      [
        { containerStatuses: [{ name: 'main', state: { running: {} } }] },
        { containerStatuses: [{ name: 'main', state: { running: {} }, lastState: {} }] },
      ],
    'keeps its quality of service where it says nothing of it': [{ qosClass: undefined }, {}],
    'keeps which generation was seen, of the pod and of each condition: who waits for it would wait again': [
      { phase: 'Failed', observedGeneration: 0, conditions: [{ type: 'Ready', status: 'False' }] },
      {
        phase: 'Failed',
        observedGeneration: 7,
        conditions: [{ type: 'Ready', status: 'False', observedGeneration: 6 }],
      },
    ],
  }
  it.each(Object.entries(completed))('%s', (_, [status, rest]) => {
    const seen = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 6 }], observedGeneration: 7 }
    expect(completePodStatus(written(status), written(seen)).status).toEqual({
      qosClass: 'Burstable',
      observedGeneration: 7,
      ...rest,
    })
  })
})
