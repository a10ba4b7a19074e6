import { Counter, type Registry } from 'prom-client'
import { cephLabelNames, cephLabels } from '../shared/ceph-labels.ts'

/** What a question to Ceph was about, and whether it was answered. */
export interface CephQuestion {
  readonly cluster: string
  readonly question: 'status' | 'map' | 'ok-to-stop' | 'ok-to-upgrade' | 'noout' | 'quorum'
  readonly result: 'answered' | 'silent'
}

export type CephCounts = ReturnType<typeof createCephCounts>

/** What is counted of Ceph clusters, whichever capability asked or wrote. */
export function createCephCounts(registry: Registry) {
  const registers = [registry]
  const questions = new Counter({
    name: 'cofferdam_ceph_questions_total',
    help: 'Requests to Ceph, by what they asked and whether they were answered.',
    labelNames: [...cephLabelNames, 'question', 'result'] as const,
    registers,
  })
  const disagreements = new Counter({
    name: 'cofferdam_ceph_disagreements_total',
    help: "Times that Cofferdam's calculation and Ceph's ok-to-stop check differed.",
    labelNames: cephLabelNames,
    registers,
  })
  const refusals = new Counter({
    name: 'cofferdam_ceph_refused_writes_total',
    help: 'Writes for a Ceph cluster that the Kubernetes API refused because a permission is missing.',
    labelNames: cephLabelNames,
    registers,
  })
  return {
    countQuestion: ({ cluster, ...question }: CephQuestion) => questions.inc({ ...cephLabels(cluster), ...question }),
    countDisagreement: (cluster: string) => disagreements.inc(cephLabels(cluster)),
    countRefusedWrite: (cluster: string) => refusals.inc(cephLabels(cluster)),
  }
}
