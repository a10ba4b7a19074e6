import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createLonghornMetrics } from './metrics.ts'

it('a node that has come back loses its figures, and what was counted stays', async () => {
  const registry = new Registry()
  const metrics = createLonghornMetrics(registry)
  metrics.countBudget('delete')
  metrics.countReverted('disk')
  metrics.show({ nodes: [{ node: 'n1', isHeld: true, bytesLeft: 7 }], problems: 2 })
  metrics.show({ nodes: [{ node: 'n2', isHeld: false, bytesLeft: 0 }], problems: 1 })
  const text = await registry.metrics()
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'cofferdam_longhorn_node_held{longhorn_node="n2"} 0',
    'cofferdam_longhorn_remaining_bytes{longhorn_node="n2"} 0',
    'cofferdam_longhorn_problems 1',
    'cofferdam_longhorn_budgets_total{verb="delete"} 1',
    'cofferdam_longhorn_reverted_total{object="disk"} 1',
  ])
})
