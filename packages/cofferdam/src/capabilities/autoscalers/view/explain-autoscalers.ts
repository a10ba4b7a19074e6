import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { listText } from '../../../shared/list-text.ts'
import { forcedEndText, keepingRequests } from '../domain/decide.ts'
import type { ClaimView } from '../domain/parse-claim.ts'
import { keptAnnotation, missingMarks, ownMarks } from '../domain/scale-down-marks.ts'
import type { KeepSnapshot } from '../domain/snapshot.ts'

/** What autoscalers may do with one node. */
export interface AutoscalerAnswer {
  readonly node: string
  /** Requests for whose time they are to leave the node alone, as `nodedisruption/NAME`. */
  readonly keptFor: readonly string[]
  /** Annotations of Cofferdam by which they do. */
  readonly marks: readonly string[]
  /** Annotations that would keep one of them and are not `"true"`. Only while there is a request. */
  readonly missing: readonly string[]
  readonly karpenter?: KarpenterAnswer
}

/** How Karpenter ends the node. */
export interface KarpenterAnswer {
  readonly claim: string
  readonly pool: string
  readonly isLeaving: boolean
  /** By when pods that are left are deleted, budgets or not. */
  readonly podsDeletedBy?: string
  readonly gracePeriod?: string
  /** When it is removed for its age. */
  readonly expires?: string
}

/** Undefined where there is nothing to say: no request, no mark of ours, no claim of Karpenter. */
export function answerAutoscalers(seen: readonly KeepSnapshot[], nodeName: string): AutoscalerAnswer | undefined {
  const snapshot = seen.find(({ node }) => node.name === nodeName)
  return snapshot === undefined ? undefined : answerOf(snapshot)
}

/** The nodes that autoscalers are kept from, and those whose pods are deleted at a set time. Undefined where there are none. */
export function summarizeAutoscalers(seen: readonly KeepSnapshot[]): readonly AutoscalerAnswer[] | undefined {
  const answers = seen
    .flatMap((snapshot) => answerOf(snapshot) ?? [])
    .filter(
      ({ keptFor, marks, karpenter }) => keptFor.length + marks.length > 0 || karpenter?.podsDeletedBy !== undefined,
    )
  return answers.length === 0 ? undefined : answers
}

function answerOf({ node, requests, claim }: KeepSnapshot): AutoscalerAnswer | undefined {
  const keptFor = keepingRequests({ node, requests }).map(({ metadata }) => `nodedisruption/${metadata.name}`)
  const isNoted = node.marks[keptAnnotation] !== undefined
  if (keptFor.length === 0 && !isNoted && claim === undefined) return undefined
  return {
    node: node.name,
    keptFor,
    marks: ownMarks(node.marks),
    missing: keptFor.length === 0 ? [] : missingMarks(node.marks),
    ...(claim === undefined ? {} : { karpenter: karpenterAnswer(claim) }),
  }
}

function karpenterAnswer({ name, pool, isLeaving, endsMs, gracePeriod, expiresMs }: ClaimView): KarpenterAnswer {
  return {
    claim: name,
    pool,
    isLeaving,
    ...(endsMs === undefined ? {} : { podsDeletedBy: rfc3339(endsMs) }),
    ...(gracePeriod === undefined ? {} : { gracePeriod }),
    ...(expiresMs === undefined ? {} : { expires: rfc3339(expiresMs) }),
  }
}

export function autoscalerLines({ node, keptFor, marks, missing, karpenter }: AutoscalerAnswer): string[] {
  const isKept = marks.length > 0 && keptFor.length > 0
  return [
    ...(isKept ? [`kept from autoscalers for ${listText(keptFor)} by ${listText(marks)}`] : []),
    ...missing.map((mark) => `${mark} is not "true": its autoscaler may remove the node during ${listText(keptFor)}`),
    ...(keptFor.length === 0 && marks.length > 0 ? [`${listText(marks)} of an earlier request will be removed`] : []),
    ...(karpenter === undefined ? [] : karpenterLines(node, karpenter)),
  ]
}

function karpenterLines(node: string, answer: KarpenterAnswer): string[] {
  const { claim, pool, isLeaving, podsDeletedBy, gracePeriod, expires } = answer
  if (podsDeletedBy !== undefined) {
    return [forcedEndText(node, { name: claim, endsMs: Date.parse(podsDeletedBy) }) ?? '']
  }
  if (isLeaving) return [`Karpenter removes the node (NodeClaim ${claim}), within the budgets of its pods`]
  const from = pool === '' ? `NodeClaim ${claim}` : `NodePool ${pool}`
  return [
    ...(gracePeriod === undefined
      ? []
      : [
          `when Karpenter removes the node, pods are deleted after ${gracePeriod}, whatever their budgets say (terminationGracePeriod of ${from})`,
        ]),
    ...(expires === undefined
      ? []
      : [
          `Karpenter removes the node at ${expires} (expireAfter of ${from}), whatever annotations and budgets of the NodePool say`,
        ]),
  ]
}
