import { Gauge, type Registry } from 'prom-client'
import { type CephLabels, cephLabelNames, cephLabels } from '../../../shared/ceph-labels.ts'

/** One Ceph cluster as of the last reconcile. */
export interface CephFigures {
  /** `namespace/name` of the CephCluster. */
  readonly cluster: string
  /** One of the closed list of reasons. */
  readonly reason: string
  readonly openDomains: number
  /** Domains that may not be drained now. */
  readonly closedDomains: number
  readonly problems: number
  readonly ignoredPools: number
  readonly silentSeconds: number
  readonly recordRefusedSeconds: number
  /** Ceph's cluster log is followed. */
  readonly isLogFollowed: boolean
  /** Whose the budgets are: `observe`, `manage` or `contested`. */
  readonly budgets: string
  /** Who updates OSDs. */
  readonly updates: string
}

export function createCephMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: cephLabelNames, registers })
  const decision = new Gauge({
    name: 'cofferdam_ceph_decision',
    help: '1 for the reason that the last decision about a Ceph cluster gave.',
    labelNames: [...cephLabelNames, 'reason'] as const,
    registers,
  })
  const ownership = new Gauge({
    name: 'cofferdam_ceph_ownership_info',
    help: 'Always 1: what Cofferdam does with the budgets and the OSD updates of a Ceph cluster, in its labels.',
    labelNames: [...cephLabelNames, 'budgets', 'updates'] as const,
    registers,
  })
  const open = gauge('cofferdam_ceph_open_domains', 'Failure domains whose OSDs may go now.')
  const closed = gauge('cofferdam_ceph_closed_domains', 'Failure domains that may not be drained now.')
  const problems = gauge('cofferdam_ceph_problem_objects', 'Objects of a Ceph cluster that cannot be used as they are.')
  const ignored = gauge(
    'cofferdam_ceph_ignored_pools',
    'Pools that hold no drain and no update, by annotation cofferdam.io/ignore-pools.',
  )
  const silent = gauge(
    'cofferdam_ceph_silent_seconds',
    'How long Ceph had not answered at the last poll, 0 while it does.',
  )
  const refused = gauge(
    'cofferdam_ceph_record_refused_seconds',
    'How long the state ConfigMap of a Ceph cluster could not be written at the last reconcile, 0 while it can; nothing is released meanwhile.',
  )
  const followed = gauge(
    'cofferdam_ceph_log_followed',
    "1 while Ceph's cluster log is followed, so that Ceph is asked as soon as an OSD fails; 0 while Ceph is only polled.",
  )
  const shownReason = new Map<string, string>()
  const shownOwnership = new Map<string, CephLabels & { budgets: string; updates: string }>()

  return {
    show({ cluster, reason, ...figures }: CephFigures) {
      const shown = shownReason.get(cluster)
      if (shown !== undefined && shown !== reason) decision.remove({ ...cephLabels(cluster), reason: shown })
      shownReason.set(cluster, reason)
      decision.set({ ...cephLabels(cluster), reason }, 1)
      const { budgets, updates } = figures
      const labels = cephLabels(cluster)
      const owned = shownOwnership.get(cluster)
      if (owned !== undefined && (owned.budgets !== budgets || owned.updates !== updates)) ownership.remove(owned)
      shownOwnership.set(cluster, { ...labels, budgets, updates })
      ownership.set({ ...labels, budgets, updates }, 1)
      open.set(labels, figures.openDomains)
      closed.set(labels, figures.closedDomains)
      problems.set(labels, figures.problems)
      ignored.set(labels, figures.ignoredPools)
      silent.set(labels, figures.silentSeconds)
      refused.set(labels, figures.recordRefusedSeconds)
      followed.set(labels, figures.isLogFollowed ? 1 : 0)
    },
    /** The cluster has gone, and its figures with it. Counts stay: a counter that vanishes looks like a restart. */
    forget(cluster: string) {
      const shown = shownReason.get(cluster)
      if (shown === undefined) return
      shownReason.delete(cluster)
      decision.remove({ ...cephLabels(cluster), reason: shown })
      const owned = shownOwnership.get(cluster)
      if (owned !== undefined) ownership.remove(owned)
      shownOwnership.delete(cluster)
      for (const each of [open, closed, problems, silent, refused, followed, ignored]) each.remove(cephLabels(cluster))
    },
  }
}
