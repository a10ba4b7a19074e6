import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { type HandedPlace, handedAnnotation, parseHandedPlaces } from './handed-places.ts'
import { type KuredFlags, parseKuredFlags } from './kured-flags.ts'
import { type KuredLock, parseKuredLock } from './kured-lock.ts'

/** On kured's DaemonSet, `true`: its administrator wants Cofferdam to hold the lock. */
export const manageLockAnnotation = 'cofferdam.io/manage-lock'
/** kured's own on a Node, with `--annotate-nodes`: it wants to reboot it. */
export const rebootWantedAnnotation = 'weave.works/kured-reboot-in-progress'

export interface KuredSnapshot {
  readonly now: string
  /** Undefined: there is none. */
  readonly daemonSet: Observed<KuredDaemonSet | undefined>
  readonly nodes: readonly KuredNode[]
  readonly requests: Observed<readonly NodeDisruption[]>
}

export interface KuredDaemonSet {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly isOptedIn: boolean
  readonly flags: Observed<KuredFlags>
  readonly lock: Observed<KuredLock>
  readonly handed: readonly HandedPlace[]
}

export interface KuredNode {
  readonly name: string
  readonly uid: string
  readonly bootID: string
  readonly isReady: boolean
  /** As drain detection says on the node; undefined where it says nothing. */
  readonly isDrained?: boolean
  /** As kured wrote it; undefined: it does not want to reboot the node. */
  readonly wantedSince?: string
}

export function parseKuredDaemonSet({ metadata, spec }: DaemonSet): KuredDaemonSet {
  const { namespace = '', name, uid = '', resourceVersion = '', annotations = {} } = metadata
  const flags = parseKuredFlags({ spec })
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isOptedIn: annotations[manageLockAnnotation] === 'true',
    flags,
    lock: flags.known ? parseKuredLock(annotations[flags.value.lockAnnotation]) : known({ form: 'none', places: [] }),
    handed: parseHandedPlaces(annotations[handedAnnotation]),
  }
}

export function parseKuredNode(node: Node): KuredNode {
  const { name, uid = '', annotations = {} } = node.metadata
  const wantedSince = annotations[rebootWantedAnnotation]
  const drained = conditionOf(node, 'Drained')?.status
  return {
    name,
    uid,
    bootID: node.status?.nodeInfo?.bootID ?? '',
    isReady: conditionOf(node, 'Ready')?.status === 'True',
    ...(drained === undefined ? {} : { isDrained: drained === 'True' }),
    ...(wantedSince === undefined ? {} : { wantedSince }),
  }
}
