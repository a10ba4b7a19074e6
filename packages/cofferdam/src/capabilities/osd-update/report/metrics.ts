import { Counter, Gauge, type Registry } from 'prom-client'
import { cephLabelNames, cephLabels } from '../../../shared/ceph-labels.ts'
import type { DisagreeingSource, OsdGrowthFigures, OsdUpdateFigures } from '../domain/update-figures.ts'

const osdStates = ['done', 'running', 'waiting', 'blocked', 'failed'] as const
const placeStates = ['awaited', 'failed', 'unusable'] as const

/** What becomes of updates of OSDs, and of new ones. */
export function createOsdUpdateMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = cephLabelNames
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers })
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers })
  const osds = new Gauge({
    name: 'cofferdam_osd_update_osds',
    help: 'OSDs of a Ceph cluster by how far their update is.',
    labelNames: [...cephLabelNames, 'state'] as const,
    registers,
  })
  const roundsLeft = gauge('cofferdam_osd_update_rounds_left', 'Rounds until every OSD is updated, as planned last.')
  const lowerBound = gauge('cofferdam_osd_update_rounds_lower_bound', 'The fewest rounds that any plan could have.')
  const secondsLeft = gauge(
    'cofferdam_osd_update_remaining_seconds',
    'Time until every OSD is updated, at the pace so far; absent while it is not known.',
  )
  const frozen = gauge('cofferdam_osd_update_frozen', '1 while an OSD that did not come back stops the update.')
  const checksOff = gauge(
    'cofferdam_osd_update_checks_off',
    '1 while skipUpgradeChecks or continueUpgradeAfterChecksEvenIfNotHealthy of the CephCluster overrides the checks.',
  )
  const overrides = counter(
    'cofferdam_osd_update_overrides_total',
    'OSDs that were updated although the checks refused it, because a setting of the CephCluster said so.',
  )
  const updated = counter('cofferdam_osd_update_updated_total', 'OSDs that were updated and came back.')
  const freezes = counter(
    'cofferdam_osd_update_freezes_total',
    'Times that an OSD did not come back and stopped the update.',
  )
  const disagreements = new Counter({
    name: 'cofferdam_osd_update_disagreements_total',
    help: 'Times that a batch was dropped because one of its two checks refused it, by check.',
    labelNames: [...cephLabelNames, 'source'] as const,
    registers,
  })
  const places = new Gauge({
    name: 'cofferdam_osd_growth_places',
    help: 'Nodes and volume claims that OSDs are wanted on and that are not settled, by state.',
    labelNames: [...cephLabelNames, 'state'] as const,
    registers,
  })
  const created = counter('cofferdam_osd_growth_osds_created_total', 'OSDs that were added to a Ceph cluster.')

  return {
    show({ cluster, ...figures }: OsdUpdateFigures) {
      for (const state of osdStates) osds.set({ ...cephLabels(cluster), state }, figures[state])
      roundsLeft.set(cephLabels(cluster), figures.roundsLeft)
      lowerBound.set(cephLabels(cluster), figures.lowerBound)
      if (figures.secondsLeft === undefined) secondsLeft.remove(cephLabels(cluster))
      else secondsLeft.set(cephLabels(cluster), figures.secondsLeft)
      frozen.set(cephLabels(cluster), figures.isFrozen ? 1 : 0)
      checksOff.set(cephLabels(cluster), figures.areChecksOff ? 1 : 0)
    },
    countUpdated: (cluster: string, count: number) => updated.inc(cephLabels(cluster), count),
    countOverride: (cluster: string) => overrides.inc(cephLabels(cluster)),
    countFreeze: (cluster: string) => freezes.inc(cephLabels(cluster)),
    countDisagreement: (cluster: string, source: DisagreeingSource) =>
      disagreements.inc({ ...cephLabels(cluster), source }),
    /** The cluster has gone, and its figures with it. Counts stay: a counter that vanishes looks like a restart. */
    forget(cluster: string) {
      for (const state of osdStates) osds.remove({ ...cephLabels(cluster), state })
      for (const each of [roundsLeft, lowerBound, secondsLeft, frozen, checksOff]) each.remove(cephLabels(cluster))
    },
    showGrowth({ cluster, ...figures }: OsdGrowthFigures) {
      for (const state of placeStates) places.set({ ...cephLabels(cluster), state }, figures[state])
    },
    countCreated: (cluster: string, count: number) => created.inc(cephLabels(cluster), count),
    forgetGrowth(cluster: string) {
      for (const state of placeStates) places.remove({ ...cephLabels(cluster), state })
    },
  }
}
