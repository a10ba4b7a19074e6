import { describe, expect, it } from 'vitest'
import { type HostnamedNode, hostnameOf, nodesByHostname } from './node-hostnames.ts'
import { known, type Observed, unknown } from './observed.ts'

const node = (name: string, hostname = name): HostnamedNode => ({ name, hostname })

describe('the node that a hostname names', () => {
  const rows: Record<string, { nodes: readonly HostnamedNode[]; hostname: string; then: Observed<HostnamedNode> }> = {
    'a node whose name is its hostname': {
      nodes: [node('worker-1'), node('worker-2')],
      hostname: 'worker-2',
      then: known(node('worker-2')),
    },
    'a node whose name is another: its cordon would not be seen under its hostname': {
      nodes: [node('ip-10-0-1-7.ec2.internal', 'ip-10-0-1-7'), node('ip-10-0-1-8.ec2.internal', 'ip-10-0-1-8')],
      hostname: 'ip-10-0-1-8',
      then: known(node('ip-10-0-1-8.ec2.internal', 'ip-10-0-1-8')),
    },
    'a node that has the name and another hostname: the pod would not be scheduled there': {
      nodes: [node('worker-1', 'rack-7')],
      hostname: 'worker-1',
      then: unknown('no node has the label kubernetes.io/hostname=worker-1'),
    },
    'two nodes with one hostname: whether the cordoned one is meant cannot be told': {
      nodes: [node('b', 'twin'), node('a', 'twin')],
      hostname: 'twin',
      then: unknown('nodes a and b have the same label kubernetes.io/hostname=twin'),
    },
    'three nodes with one hostname: two are named, the others counted': {
      nodes: [node('b', 'same'), node('a', 'same'), node('c', 'same')],
      hostname: 'same',
      then: unknown('nodes a and b and 1 more have the same label kubernetes.io/hostname=same'),
    },
    'no nodes at all': {
      nodes: [],
      hostname: 'worker-1',
      then: unknown('no node has the label kubernetes.io/hostname=worker-1'),
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { nodes, hostname, then }) => {
    expect(nodesByHostname(nodes)(hostname)).toEqual(then)
  })
})

it('a node without the label goes by its name', () => {
  expect(hostnameOf({ metadata: { name: 'worker-1' } })).toBe('worker-1')
  expect(hostnameOf({ metadata: { name: 'worker-1', labels: { 'kubernetes.io/hostname': 'w1' } } })).toBe('w1')
})
