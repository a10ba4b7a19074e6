import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createOsdUpdateMetrics } from './metrics.ts'

const figures = {
  cluster: 'rook-ceph/ceph',
  done: 4,
  running: 2,
  waiting: 5,
  blocked: 1,
  failed: 0,
  roundsLeft: 3,
  lowerBound: 2,
  secondsLeft: 120,
  isFrozen: false,
  areChecksOff: true,
}

async function linesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

it('an update is told in figures, which go with their cluster; what was counted stays', async () => {
  const registry = new Registry()
  const metrics = createOsdUpdateMetrics(registry)
  metrics.show(figures)
  metrics.countUpdated('rook-ceph/ceph', 4)
  metrics.countFreeze('rook-ceph/ceph')
  metrics.countOverride('rook-ceph/ceph')
  metrics.countDisagreement('rook-ceph/ceph', 'ceph')
  metrics.showGrowth({ cluster: 'rook-ceph/ceph', awaited: 2, failed: 1, unusable: 0 })
  metrics.countCreated('rook-ceph/ceph', 3)
  const counts = [
    'cofferdam_osd_update_updated_total{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 4',
    'cofferdam_osd_update_overrides_total{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 1',
    'cofferdam_osd_update_freezes_total{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 1',
    'cofferdam_osd_update_disagreements_total{ceph_namespace="rook-ceph",ceph_cluster="ceph",source="ceph"} 1',
    'cofferdam_osd_growth_osds_created_total{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 3',
  ]
  expect((await linesOf(registry)).sort()).toEqual(
    [
      'cofferdam_osd_update_osds{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="done"} 4',
      'cofferdam_osd_update_osds{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="running"} 2',
      'cofferdam_osd_update_osds{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="waiting"} 5',
      'cofferdam_osd_update_osds{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="blocked"} 1',
      'cofferdam_osd_update_osds{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="failed"} 0',
      'cofferdam_osd_update_rounds_left{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 3',
      'cofferdam_osd_update_rounds_lower_bound{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 2',
      'cofferdam_osd_update_remaining_seconds{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 120',
      'cofferdam_osd_update_frozen{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 0',
      'cofferdam_osd_update_checks_off{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 1',
      'cofferdam_osd_growth_places{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="awaited"} 2',
      'cofferdam_osd_growth_places{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="failed"} 1',
      'cofferdam_osd_growth_places{ceph_namespace="rook-ceph",ceph_cluster="ceph",state="unusable"} 0',
      ...counts,
    ].sort(),
  )
  metrics.forget('rook-ceph/ceph')
  metrics.forgetGrowth('rook-ceph/ceph')
  expect((await linesOf(registry)).sort()).toEqual(counts.sort())
})

it('an estimate that nobody can give any more is withdrawn, not left standing', async () => {
  const registry = new Registry()
  const metrics = createOsdUpdateMetrics(registry)
  metrics.show(figures)
  metrics.show({ ...figures, secondsLeft: undefined, isFrozen: true })
  const told = (await linesOf(registry)).filter((line) => /remaining_seconds|frozen/.test(line))
  expect(told).toEqual(['cofferdam_osd_update_frozen{ceph_namespace="rook-ceph",ceph_cluster="ceph"} 1'])
})
