import type { LonghornNode, LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { planLonghornMigration } from './migration.ts'

const longhorn = { apiVersion: 'longhorn.io/v1beta2' }

function node(name: string, status: LonghornNode['status']): LonghornNode {
  return { ...longhorn, kind: 'Node', metadata: { name }, ...(status === undefined ? {} : { status }) }
}

function replica(name: string, before: boolean | undefined, after: boolean | undefined): LonghornReplica {
  return {
    ...longhorn,
    kind: 'Replica',
    metadata: { name },
    spec: after === undefined ? {} : { evictionRequested: after },
    status: before === undefined ? {} : { evictionRequested: before },
  }
}

describe('the migration of eviction requests', () => {
  const nodes = [node('n2', {}), node('n1', undefined), node('n3', { autoEvicting: true })]
  const replicas = [replica('r3', true, false), replica('r2', undefined, undefined), replica('r1', true, undefined)]

  it('carries over what the old fields say, and leaves alone what has the new ones', () => {
    expect(planLonghornMigration(nodes, replicas)).toEqual({
      nodes: ['n1', 'n2'],
      replicas: [
        { name: 'r1', isEvictionRequested: true },
        { name: 'r2', isEvictionRequested: false },
      ],
    })
  })

  it('that was cut off goes on where it stopped, and once done has nothing to do', () => {
    const half = planLonghornMigration(
      [node('n1', { autoEvicting: false }), node('n2', {})],
      [replica('r1', true, true)],
    )
    expect(half).toEqual({ nodes: ['n2'], replicas: [] })
    expect(planLonghornMigration([node('n1', { autoEvicting: false })], [replica('r1', true, true)])).toEqual({
      nodes: [],
      replicas: [],
    })
  })
})
