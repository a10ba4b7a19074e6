import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import { suggestFence } from './suggest-machines.ts'

const machine = (name: string, node?: string): Machine => ({
  apiVersion: 'machine.openshift.io/v1beta1',
  kind: 'Machine',
  metadata: { namespace: 'openshift-machine-api', name },
  ...(node === undefined ? {} : { status: { nodeRef: { name: node } } }),
})
const pod = (app: string, nodeName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${app}-${nodeName}`, labels: { app } },
  spec: { nodeName, containers: [] },
})
const calledAs = 'cofferdam'

describe('a machine to switch off', () => {
  it('has OSDs, and is the last of them, so that it is none of those that other examples drain', () => {
    const machines = [machine('m1', 'node-1'), machine('m2', 'node-2'), machine('m3', 'node-3'), machine('m4')]
    const pods = [pod('rook-ceph-osd', 'node-1'), pod('rook-ceph-osd', 'node-2'), pod('web', 'node-3')]
    expect(suggestFence({ machines, pods, after: 30 }, { calledAs })).toEqual([
      {
        says: 'Switch node-2 off, as if its machine had died: when it has not been Ready for 30 s it is fenced, and no other machine with OSDs is until all data is clean again',
        lines: [
          'kubectl annotate node node-2 cofferdam.io/power=off',
          'cofferdam explain node/node-2',
          'kubectl -n openshift-machine-api get machines,mdb',
          'cofferdam status',
        ],
      },
    ])
  })

  it('is not there where no machine has OSDs', () => {
    expect(suggestFence({ machines: [machine('m1', 'node-1')], pods: [], after: 30 }, { calledAs })).toEqual([])
  })
})
