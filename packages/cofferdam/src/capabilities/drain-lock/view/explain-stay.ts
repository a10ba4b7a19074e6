import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { podName } from '../domain/plan-pods.ts'
import type { DisruptionSnapshot } from '../domain/snapshot.ts'
import { podPlanOf } from './plan-disruption.ts'

/** Whether a pod that asks to stay through a reboot may, and what becomes of it. */
export interface StayAnswer {
  readonly mayStay: boolean
  readonly says: string
  /** How long it outlives its node being away, in seconds; absent when for ever. */
  readonly toleratesSeconds?: number
  /** How long its kubelet lets pods end when the machine shuts down, where that is visible. */
  readonly shutdownGraceSeconds?: number
}

export type StayOf = (pod: Pod) => StayAnswer | undefined

/** Judges the pods of one node as a drain for a reboot would now. Undefined for a pod that does not ask to stay. */
export function stayAnswers(rehearsal: DisruptionSnapshot | undefined): StayOf {
  if (rehearsal === undefined) return () => undefined
  const plan = podPlanOf(rehearsal)
  const grace = rehearsal.node?.shutdownGraceSeconds
  return ({ metadata }) => {
    const facts = rehearsal.pods.find(({ uid }) => uid === metadata.uid)
    if (facts === undefined || !facts.wantsToStay || facts.kind !== 'ordinary' || facts.isLeaving) return undefined
    const mayStay = plan.stays.includes(facts)
    const warning = plan.warnings.find(({ object }) => object === podName(facts))
    const isForEver = facts.toleratesMs === Number.POSITIVE_INFINITY
    const seconds = Math.floor(facts.toleratesMs / 1000)
    return {
      mayStay,
      says: mayStay
        ? stayText({ tolerates: isForEver ? 'forever' : `for ${seconds} s`, grace })
        : leaveText(warning?.says),
      ...(isForEver ? {} : { toleratesSeconds: seconds }),
      ...(grace === undefined ? {} : { shutdownGraceSeconds: grace }),
    }
  }
}

function stayText({ tolerates, grace }: { readonly tolerates: string; readonly grace: number | undefined }): string {
  const shutdown =
    grace === undefined
      ? ''
      : grace > 0
        ? `; its kubelet ends it within ${grace} s when the machine shuts down, and its controller creates a new one`
        : '; its kubelet does not end it when the machine shuts down'
  return `it stays through a reboot with cofferdam drain, and tolerates its node being away ${tolerates}; plain kubectl drain evicts it${shutdown}`
}

function leaveText(says: string | undefined): string {
  const why = says?.replace(/^asks to stay but is evicted: /, '') ?? 'it may not'
  return `it asks to stay and would be evicted: ${why}`
}
