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
    'cofferdam_osd_update_updated_total{cluster="rook-ceph/ceph"} 4',
    'cofferdam_osd_update_overrides_total{cluster="rook-ceph/ceph"} 1',
    'cofferdam_osd_update_freezes_total{cluster="rook-ceph/ceph"} 1',
    'cofferdam_osd_update_disagreements_total{cluster="rook-ceph/ceph",source="ceph"} 1',
    'cofferdam_osd_growth_osds_created_total{cluster="rook-ceph/ceph"} 3',
  ]
  expect((await linesOf(registry)).sort()).toEqual(
    [
      'cofferdam_osd_update_osds{cluster="rook-ceph/ceph",state="done"} 4',
      'cofferdam_osd_update_osds{cluster="rook-ceph/ceph",state="running"} 2',
      'cofferdam_osd_update_osds{cluster="rook-ceph/ceph",state="waiting"} 5',
      'cofferdam_osd_update_osds{cluster="rook-ceph/ceph",state="blocked"} 1',
      'cofferdam_osd_update_osds{cluster="rook-ceph/ceph",state="failed"} 0',
      'cofferdam_osd_update_rounds_left{cluster="rook-ceph/ceph"} 3',
      'cofferdam_osd_update_rounds_lower_bound{cluster="rook-ceph/ceph"} 2',
      'cofferdam_osd_update_left_seconds{cluster="rook-ceph/ceph"} 120',
      'cofferdam_osd_update_frozen_bool{cluster="rook-ceph/ceph"} 0',
      'cofferdam_osd_update_checks_off_bool{cluster="rook-ceph/ceph"} 1',
      'cofferdam_osd_growth_places{cluster="rook-ceph/ceph",state="awaited"} 2',
      'cofferdam_osd_growth_places{cluster="rook-ceph/ceph",state="failed"} 1',
      'cofferdam_osd_growth_places{cluster="rook-ceph/ceph",state="unusable"} 0',
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
  const told = (await linesOf(registry)).filter((line) => /left_seconds|frozen_bool/.test(line))
  expect(told).toEqual(['cofferdam_osd_update_frozen_bool{cluster="rook-ceph/ceph"} 1'])
})
